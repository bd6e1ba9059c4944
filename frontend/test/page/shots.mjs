// Takes pictures of every screen in all dresses, for people to look at: light and dark,
// 1280 and 360 pixels, Arabic, German. Prints the folder.
//   node test/page/shots.mjs [folder] [scene,scene] [en,ar,de]
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { networked } from "./cases-pipeline.mjs";
import { World, ready, say, until } from "./harness.mjs";
import { hearth, phone, reachable, scan, talks } from "./phone.mjs";
import * as chat from "./scenes-chat.mjs";
import * as phones from "./scenes-phone.mjs";
import * as rooms from "./scenes-rooms.mjs";
import * as settings from "./scenes-settings.mjs";
import { answers } from "./texts-answers.mjs";
import { longCode, rich } from "./texts.mjs";

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "hearth-shots-"));
mkdirSync(folder, { recursive: true });
const only = process.argv[3] ? new Set(process.argv[3].split(",")) : null;
const tongues = process.argv[4]?.split(",") ?? ["en", "ar", "de"];
const wanted = (name) => only === null || only.has(name);

const locales = { en: "en-GB", ar: "ar-EG", de: "de-DE" };
const sizes = { 1280: 800, 360: 740 };
/** dresses are in which themes and widths a language is looked at. */
const dresses = { en: [["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360]], ar: [["dark", 1280], ["light", 360]], de: [["light", 360]] };
const hands = (q, all) => (all.at(-1).role === "tool" ? { text: "Done." } : q.startsWith("[{") ? { tools: JSON.parse(q) } : { text: "Nothing to do." });
const models = {
  hands,
  rich: () => ({ text: rich }),
  code: () => ({ text: longCode }),
  slow: () => ({ pieces: rich.match(/[^]{1,12}/g), gap: 400 }),
  answers: (q, all) => (q.startsWith("[{") ? hands(q, all) : { text: answers[q] ?? "Nothing to show." }),
  thinker: () => ({ thought: "The person asks about **light**.\n\nShort waves are scattered more than long ones.", text: "Air scatters blue light more than red." }),
};

const still = (page) => page.waitForTimeout(250);
async function shoot(page, name, tongue, scheme, width) {
  await still(page);
  await page.screenshot({ path: join(folder, `${name}-${tongue}-${scheme}-${width}.png`) });
}

/** dressed takes a picture in every theme and width of those. */
async function dressed(page, name, tongue, list) {
  for (const [scheme, width] of list) {
    if (page.viewportSize().width !== width) await page.setViewportSize({ width, height: sizes[width] });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await shoot(page, name, tongue, scheme, width);
  }
}

async function attempt(name, page, play) {
  try {
    await play();
  } catch (e) {
    await page.screenshot({ path: join(folder, `BROKEN-${name}.png`) }).catch(() => undefined);
    console.log(`${name}: ${e.message.split("\n").slice(0, 4).join(" | ")}`, page.trouble);
  }
}

async function played(page, name, play, tongue, list) {
  for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  await page.setViewportSize({ width: list[0][1], height: sizes[list[0][1]] });
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  await page.fill("#composer", "");
  await attempt(name, page, () => play(page, w));
  await dressed(page, name, tongue, list);
  await rooms.after[name]?.(page);
}

/** settled puts away the card of the next steps, which has scenes of its own. */
async function settled() {
  const page = await w.open();
  await ready(page);
  await say(page, "hello");
  await page.click(".next .head .icon-button");
  await page.context().close();
}

async function wide(tongue) {
  const locale = locales[tongue];
  const list = dresses[tongue];
  const begin = async (more) => {
    const page = await w.open({ locale, ...more });
    page.setDefaultTimeout(9_000);
    await ready(page);
    return page;
  };
  const all = { ...chat.scenes, ...rooms.scenes, ...settings.scenes };
  const names = Object.keys(all).filter(wanted);
  if (names.length > 0) {
    const page = await begin();
    for (const name of names)
      for (const part of rooms.anew.has(name) ? list.map((d) => [d]) : [list]) {
        await attempt(name, page, () => played(page, name, all[name], tongue, part));
      }
    if (page.trouble.length > 0) console.log(tongue, page.trouble);
    await page.context().close();
  }
  if (wanted("networks"))
    for (const [scheme, width] of list) {
      const known = await begin({ width, scheme, before: networked });
      await attempt("networks", known, async () => {
        if (!(await known.$("nav"))) await known.keyboard.press("Control+b");
        await until(known, () => document.querySelector(".undelivered"));
        await shoot(known, "networks", tongue, scheme, width);
        await known.click(".undelivered");
        await until(known, () => document.querySelector("dialog li"));
        await shoot(known, "undelivered", tongue, scheme, width);
      });
      await known.context().close();
    }
  if (wanted("locked")) {
    const stranger = await w.open({ locale, link: w.url });
    await until(stranger, () => document.querySelector("#code"));
    await dressed(stranger, "locked", tongue, list);
    await stranger.context().close();
  }
  for (const name of Object.keys(settings.own).filter(wanted)) {
    const look = async (n, page, play) => {
      page.setDefaultTimeout(9_000);
      await attempt(n, page, play);
      await dressed(page, n, tongue, list);
    };
    await settings.fresh(w, name, { locale }, look).catch((e) => console.log(`${name}: ${e.message}`));
  }
}

/** narrow is the page for phones. */
async function narrow(tongue) {
  const names = Object.keys(phones.scenes).filter(wanted);
  if (names.length === 0) return;
  hearth(w, "config", "set", "agents.defaults.model", "own/answers");
  await reachable(w);
  const schemes = { en: ["light", "dark"], ar: ["light", "dark"], de: ["light"] }[tongue];
  const qr = scan(w);
  const page = await phone(w, qr.pin, { locale: locales[tongue] });
  page.setDefaultTimeout(9_000);
  await page.goto(qr.phoneUrls[0]);
  await talks(page);
  for (const name of names) {
    await attempt(name, page, () => phones.scenes[name](page));
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await shoot(page, name, tongue, scheme, 360);
    }
    await page.reload();
    await talks(page);
  }
  await page.context().close();
  hearth(w, "config", "set", "agents.defaults.model", "script/echo");
}

const w = await World.start({ models });
try {
  settings.prepare(w);
  await settled();
  for (const tongue of tongues) {
    await wide(tongue);
    await narrow(tongue);
  }
  console.log(folder);
} finally {
  await w.stop();
}
