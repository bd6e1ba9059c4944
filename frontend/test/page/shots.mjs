// Takes pictures of every screen, for people to look at, in both themes, two widths, from
// right to left, and with long words:
//   node test/page/shots.mjs [folder] [scene,scene…|pane-*] [dress,dress…]
// A scene that does not come about is kept as BROKEN-…. Prints the folder.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { World, ready, until } from "./harness.mjs";
import { address } from "./phone.mjs";
import { chat } from "./scenes-chat.mjs";
import { begun, others } from "./scenes-fresh.mjs";
import { more } from "./scenes-more.mjs";
import { asks, login, prepare, shoot } from "./scenes-panes.mjs";
import { phones } from "./scenes-phone.mjs";
import { translator } from "./scenes-words.mjs";
import { answers } from "./texts-answers.mjs";
import { longCode, rich } from "./texts.mjs";

const [folder = mkdtempSync(join(tmpdir(), "hearth-shots-")), some, dressed] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const asked = some ? some.split(",") : [];
const wanted = (name) => asked.length === 0 || asked.some((a) => (a.endsWith("*") ? name.startsWith(a.slice(0, -1)) : a === name));

const dresses = {
  "light-1280": { scheme: "light", width: 1280, height: 800, locale: "en-GB" },
  "dark-1280": { scheme: "dark", width: 1280, height: 800, locale: "en-GB" },
  "light-360": { scheme: "light", width: 360, height: 740, locale: "en-GB" },
  "dark-360": { scheme: "dark", width: 360, height: 740, locale: "en-GB" },
  "ar-light-360": { scheme: "light", width: 360, height: 740, locale: "ar-EG" },
  "ar-dark-1280": { scheme: "dark", width: 1280, height: 800, locale: "ar-EG" },
  "de-light-360": { scheme: "light", width: 360, height: 740, locale: "de-DE" },
};

const models = {
  hands: (q, all) => (all.at(-1).role === "tool" ? { text: "Done." } : { tools: JSON.parse(q) }),
  answers: (q) => ({ text: answers[q] ?? "Nothing to show." }),
  rich: () => ({ text: rich }),
  code: () => ({ text: longCode }),
  slow: () => ({ pieces: rich.match(/[^]{1,12}/g), gap: 400 }),
};
const w = await World.start({ models });
const scenes = { ...chat, ...more };
const starts = ["first", "first-held", "first-key", "keys-place", "keys-passphrase", "away", "vault-locked", "vault-unlock"];
const short = (e) => e.message.split("\n").slice(0, 4).join(" ");

/** keeper takes a picture of what an act leads to, if it is wanted. */
const keeper = (dress) => async (page, scene, act) => {
  if (!wanted(scene)) return void (await act?.().catch(() => {}));
  let broken = "";
  page.setDefaultTimeout(8000);
  try {
    await act?.();
  } catch (e) {
    broken = "BROKEN-";
    console.log(`${scene} ${dress}: ${short(e)}`);
  }
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${broken}${scene}-${dress}.png`) });
};

async function conversations(dress, x, keep) {
  const page = await w.open(dress);
  await ready(page);
  for (const [scene, play] of Object.entries(scenes)) {
    if (!wanted(scene)) continue;
    await page.keyboard.press("Control+Shift+O");
    await until(page, () => document.querySelector(".welcome"));
    await page.fill("#composer", "");
    await keep(page, scene, () => play(page, x));
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    if (await page.$("dialog[open], .pane iframe")) (await page.reload(), await ready(page));
  }
  if (page.trouble.length > 0) console.log(page.trouble);
  await page.context().close();
}

try {
  prepare(w);
  for (const [name, dress] of Object.entries(dresses)) {
    if (dressed && !dressed.split(",").includes(name)) continue;
    const x = { w, t: translator(dress.locale) };
    const keep = keeper(name);
    const rooms = [
      [Object.keys(scenes), () => conversations(dress, x, keep)],
      [null, () => shoot(w, dress, x, keep, wanted)],
      [["mcp-login"], () => login(w, dress, x, keep)],
      [["asked-qr"], () => asks(w, dress, keep)],
      [["networks", "ask", "undelivered", "locked"], () => others(w, dress, keep)],
      [starts, () => begun(w, dress, x, keep)],
      [null, async () => dress.width < 720 && address() !== "" && phones(w, dress, x, keep, wanted)],
    ];
    for (const [names, go] of rooms) {
      if (names === null || names.some(wanted)) await go().catch((e) => console.log(`${name}: ${short(e)}`));
    }
    console.log(`${name} is done`);
  }
  console.log(folder);
} finally {
  w.botapi?.stop();
  await w.stop();
}
