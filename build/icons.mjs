// Draws the icons of the tray, the window and the packages from one flame.
//   node build/icons.mjs
// Needs the page's npm packages and Chromium (build/test installs both) and, for
// Windows' .ico files, nothing more: they hold PNGs. The results are committed.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "frontend/package.json"))("playwright-core");

const out = "M17 2.5c1.2 4.6-.6 7-2.7 9.5C11.9 14.8 8.6 17.7 8.6 22.6a8 8 0 0 0 7.7 7.4 8 8 0 0 0 7.9-8.3c0-3.2-1.4-5.3-2.7-6.9-.3 2.1-1.2 3.5-2.7 4.1C20 12.8 19.2 6.5 17 2.5z";
const inner = "M16.5 30a4.2 4.2 0 0 0 4-4.3c0-2.7-2-3.9-3.3-6.2-.8 2.7-4.7 3.4-4.7 6.5 0 2.3 1.7 4 4 4z";

// Each state differs by shape: what is at the lower right, cut out of the flame.
const badges = {
  ready: () => "",
  working: (c) => [20, 25.5, 31].map((x) => `<circle cx="${x - 2.5}" cy="27" r="2.1" fill="${c.work}"/>`).join(""),
  "needs-you": (c) => `<circle cx="24.5" cy="24.5" r="6" fill="${c.needs}"/>`,
  paused: (c) => `<rect x="19.5" y="18.5" width="4" height="12" rx="1.2" fill="${c.pause}"/><rect x="26" y="18.5" width="4" height="12" rx="1.2" fill="${c.pause}"/>`,
  problem: (c) => `<path d="M24.5 17l7 13h-14z" fill="${c.bad}"/><path d="M24.5 21.6v4" stroke="${c.on}" stroke-width="1.7" stroke-linecap="round"/><circle cx="24.5" cy="28" r=".95" fill="${c.on}"/>`,
};
const holes = {
  ready: "",
  working: '<rect x="13.5" y="23" width="18.5" height="8" rx="4"/>',
  "needs-you": '<circle cx="24.5" cy="24.5" r="8"/>',
  paused: '<rect x="17.5" y="16.5" width="14.5" height="15.5" rx="2.5"/>',
  problem: '<path d="M24.5 13l10 19h-20z"/>',
};
const colour = { flame: "#e0662b", inner: "#ffd9a0", work: "#e0662b", needs: "#3b82f6", pause: "#8a8178", bad: "#d83a2e", on: "#fff" };
const mono = { flame: "#000", inner: "", work: "#000", needs: "#000", pause: "#000", bad: "#000", on: "#fff" };

function svg(state, c, size) {
  const grey = state === "paused" && c === colour ? { flame: "#b9aca0", inner: "#e4dbd0" } : c;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="${size}" height="${size}"><defs><mask id="m"><rect width="32" height="32" fill="#fff"/><g fill="#000">${holes[state]}</g></mask></defs><g mask="url(#m)"><path d="${out}" fill="${grey.flame}"/>${grey.inner ? `<path d="${inner}" fill="${grey.inner}"/>` : ""}</g>${badges[state](c)}</svg>`;
}

const app = (size) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="${size}" height="${size}"><rect x="4" y="4" width="56" height="56" rx="14" fill="#fff8ee"/><rect x="4.5" y="4.5" width="55" height="55" rx="13.5" fill="none" stroke="#e6ddd0"/><g transform="translate(10.5 8) scale(1.34)"><path d="${out}" fill="#e0662b"/><path d="${inner}" fill="#ffd9a0"/></g></svg>`;

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(Boolean);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
async function png(markup, size) {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${markup}`);
  return page.screenshot({ omitBackground: true, clip: { x: 0, y: 0, width: size, height: size } });
}

/** ico holds PNGs, which Windows reads since Vista. */
function ico(images) {
  const head = Buffer.alloc(6 + 16 * images.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(images.length, 4);
  let at = head.length;
  images.forEach(({ size, data }, i) => {
    const e = 6 + 16 * i;
    head.writeUInt8(size >= 256 ? 0 : size, e);
    head.writeUInt8(size >= 256 ? 0 : size, e + 1);
    head.writeUInt16LE(1, e + 4);
    head.writeUInt16LE(32, e + 6);
    head.writeUInt32LE(data.length, e + 8);
    head.writeUInt32LE(at, e + 12);
    at += data.length;
  });
  return Buffer.concat([head, ...images.map((i) => i.data)]);
}

const tray = join(root, "app/tray/icons");
mkdirSync(tray, { recursive: true });
for (const state of Object.keys(badges)) {
  writeFileSync(join(tray, `${state}.png`), await png(svg(state, colour, 44), 44));
  writeFileSync(join(tray, `${state}-template.png`), await png(svg(state, mono, 44), 44));
  const sizes = [];
  for (const size of [16, 24, 32, 48]) sizes.push({ size, data: await png(svg(state, colour, size), size) });
  writeFileSync(join(tray, `${state}.ico`), ico(sizes));
}
const icons = join(root, "build/icons");
mkdirSync(icons, { recursive: true });
writeFileSync(join(icons, "hearth.svg"), app(256));
const sizes = [];
for (const size of [16, 24, 32, 48, 64, 128, 256, 512]) {
  const data = await png(app(size), size);
  if ([48, 128, 256, 512].includes(size)) writeFileSync(join(icons, `hearth-${size}.png`), data);
  if (size <= 256) sizes.push({ size, data });
}
writeFileSync(join(icons, "hearth.ico"), ico(sizes));
// The phone's system cuts its own shape out of a whole square.
const square = (size) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="${size}" height="${size}"><rect width="64" height="64" fill="#fff8ee"/><g transform="translate(14.5 13) scale(1.1)"><path d="${out}" fill="#e0662b"/><path d="${inner}" fill="#ffd9a0"/></g></svg>`;
const phone = join(root, "frontend/phone/public");
for (const size of [192, 512]) writeFileSync(join(phone, `icon-${size}.png`), await png(square(size), size));
await browser.close();
