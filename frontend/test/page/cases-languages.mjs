// Other languages on small screens: nothing hangs over the edge, no button is cut,
// and from right to left everything is as whole as from left to right.
import assert from "node:assert/strict";
import { World, answered, axe, pick, ready, say, shows, until } from "./harness.mjs";
import { hearth, phone, reachable, say as write, scan, talks } from "./phone.mjs";

// Those with the longest words, the widest letters, and one from right to left.
const small = ["de-DE", "ru-RU", "fr-FR", "hi-IN", "ja-JP", "ar-EG"];

/** overhangs lists what does not fit: a page that scrolls sideways, buttons that are cut or stand outside. */
const overhangs = (page) =>
  page.evaluate(() => {
    const out = [];
    const wide = document.documentElement;
    if (wide.scrollWidth > innerWidth) out.push(`the page is ${wide.scrollWidth} px wide`);
    const named = (e) => `${e.tagName.toLowerCase()}.${e.className} “${(e.innerText || e.getAttribute("aria-label") || "").slice(0, 60)}”`;
    const scrolls = (e) => {
      for (let p = e.parentElement; p; p = p.parentElement) {
        const s = getComputedStyle(p);
        if (/auto|scroll/.test(s.overflowX) && p.scrollWidth > p.clientWidth) return p.matches("pre, table, .scroll, [role=tablist]") || p.closest("pre, .scroll, [role=tablist]");
      }
      return false;
    };
    for (const e of document.querySelectorAll("dialog[open], dialog[open] .pane, main, nav, section, form, .card, [role=menu], [role=dialog]")) {
      const s = getComputedStyle(e);
      if (e.checkVisibility() && e.clientWidth > 0 && /auto|scroll|hidden/.test(s.overflowX) && s.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1)
        out.push(`${e.tagName.toLowerCase()}.${e.className} scrolls sideways: ${e.scrollWidth} of ${e.clientWidth}`);
    }
    for (const e of document.querySelectorAll("button, a.button, summary, label, select, [role=tab], [role=menuitem]")) {
      if (!e.checkVisibility({ visibilityProperty: true }) || e.closest("[inert], .sr") || e.matches(".sr") || scrolls(e)) continue;
      const r = e.getBoundingClientRect();
      if (r.width < 2 || r.bottom < 0 || r.top > innerHeight) continue;
      if (r.left < -1 || r.right > innerWidth + 1) out.push(`${named(e)} stands outside: ${Math.round(r.left)} to ${Math.round(r.right)}`);
      const s = getComputedStyle(e);
      if (e.tagName !== "SELECT" && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && s.display !== "inline" && !/ellipsis/.test(s.textOverflow) && !e.querySelector(".sr")) out.push(`${named(e)} is cut: ${e.scrollWidth} of ${e.clientWidth}`);
    }
    return [...new Set(out)];
  });

async function fits(page, where) {
  let over = await overhangs(page);
  for (let tries = 0; over.length > 0 && tries < 50; tries++) { // what slides in is there in the end
    await page.waitForTimeout(100);
    over = await overhangs(page);
  }
  assert.deepEqual({ where, over }, { where, over: [] });
}

/** screens walks through the main ones of the page and calls look at each. */
async function screens(page, look) {
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  await look("welcome");
  await say(page, "hello");
  await answered(page, "hello");
  await look("chat");
  await page.keyboard.press("Control+b");
  await until(page, () => document.querySelector("nav") || document.querySelector("aside"));
  await look("chats");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+/");
  await page.waitForSelector("dialog[open]");
  await look("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+F");
  await page.waitForSelector("dialog[open] [role=combobox]");
  await look("search");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await page.waitForSelector("dialog[open] nav");
  await look("settings");
  const panes = await page.$$eval("dialog[open] nav li button", (all) => all.length);
  for (let i = 0; i < panes; i++) {
    if (await page.isVisible("dialog[open] section > .back")) await page.click("dialog[open] section > .back");
    await page.click(`dialog[open] nav li button >> nth=${i}`);
    await until(page, () => document.querySelector("dialog[open] section > h2")?.innerText);
    await look(`settings, part ${i + 1}`);
  }
  await page.keyboard.press("Escape");
}

export const cases = [
  ...small.map((locale) => ({
    name: `languages: ${locale} fits a screen of 320 pixels`,
    async run(w, open) {
      const page = await open({ width: 320, height: 640, locale });
      await ready(page);
      await screens(page, (where) => fits(page, where));
      const stranger = await open({ width: 320, height: 640, locale, link: w.url });
      await until(stranger, () => document.querySelector("#code"));
      await fits(stranger, "locked");
    },
  })),
  {
    name: "languages: the phone's page fits 320 pixels, and is whole from right to left",
    async run(w, open) {
      await reachable(w);
      for (const locale of ["de-DE", "ru-RU", "ar-EG"]) {
        const gate = scan(w);
        const page = await open(await phone(w, gate.pin, { width: 320, locale }));
        await page.goto(new URL("/phone/", gate.phoneUrls[0]).href);
        await until(page, () => document.querySelector(".card")?.dataset.at === "unpaired");
        await fits(page, "unpaired");
        if (locale === "ar-EG") assert.deepEqual(await axe(page), []);
        await page.goto("about:blank"); // the code is read when the page begins
        await page.goto(gate.phoneUrls[0]);
        await talks(page);
        await fits(page, "empty");
        await write(page, "hello");
        await answered(page, "hello");
        await fits(page, "chat");
        await page.click("header button >> nth=-1");
        await until(page, () => document.querySelector("dialog[open], [role=dialog]"));
        await fits(page, "this phone");
        if (locale === "ar-EG") {
          assert.equal(await page.evaluate(() => document.documentElement.dir), "rtl");
          assert.deepEqual(await axe(page), []);
        }
      }
    },
  },
  {
    name: "languages: from right to left paths keep their slash, names are cut at their end, keys keep their order",
    async run(w, open) {
      const page = await open({ width: 360, height: 740, locale: "ar-EG" });
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      await pick(page, "hands");
      await say(page, JSON.stringify([{ name: "exec", args: { command: "cat /etc/hosts | sh && echo a long line of words" } }]));
      await page.waitForSelector(".ask details summary");
      // "/bin/bash" that reads as "bin/bash/" would be another place.
      const facts = await page.$$eval(".ask li", (all) => all.map((e) => [e.textContent, getComputedStyle(e.querySelector("bdi") ?? e).unicodeBidi]));
      assert.ok(facts.length > 0 && facts.every(([, bidi]) => bidi === "isolate"), facts.join("\n"));
      const title = await page.$eval("header h1", (e) => [getComputedStyle(e).direction, getComputedStyle(e).textOverflow, e.scrollWidth > e.clientWidth]);
      assert.deepEqual(title, ["ltr", "ellipsis", true]);
      await page.click(".ask .button:not(.primary) >> nth=0");
      await until(page, () => !document.querySelector(".ask details")); // “Why?” of an answer has the class too
      await page.keyboard.press("Control+/");
      await until(page, () => document.querySelector("dialog[open] dd"));
      assert.ok(await page.$$eval("dialog dd", (all) => all.every((e) => getComputedStyle(e).direction === "ltr")));
      // What is longer than the screen scrolls under the buttons of its dialog.
      await page.setViewportSize({ width: 360, height: 400 });
      const [foot, end] = await page.$eval("dialog[open] .actions button", (e) => [e.getBoundingClientRect().bottom, e.closest("dialog").getBoundingClientRect().bottom]);
      assert.ok(foot <= end, `${foot} of ${end}`);
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 360, height: 740 });
      await page.keyboard.press("Control+,");
      await page.click("dialog nav [data-pane=health]");
      await shows(page, "dialog [data-part=updates] [dir=auto]", /[\u0600-\u06ff]/);
    },
  },
  {
    name: "languages: what a slash command answers is said in German, its list too",
    async run(w, open) {
      const page = await open({ width: 1280, height: 800, locale: "de-DE" });
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      await say(page, "/status");
      await shows(page, ".reply li", /^Modell: /);
      const lines = await page.$$eval(".reply li", (all) => all.map((e) => e.innerText));
      for (const line of [/^Kontext: /, /^Sitzung: .*Nachrichten 0$/, /^Warteschlange: /, /^Läuft seit /]) assert.ok(lines.some((l) => line.test(l)), lines.join("\n"));
      await say(page, "/think none");
      await until(page, () => [...document.querySelectorAll(".reply")].at(-1).innerText.startsWith("Die Stufe für /think kann off, "));
      await say(page, "hello");
      await shows(page, ".row.text .md", /hello/);
      await say(page, "/why");
      await until(page, () => [...document.querySelectorAll(".reply")].at(-1).innerText.includes("Was entschieden hat:"));
      const why = await page.$$eval(".reply", (all) => all.at(-1).innerText);
      for (const line of [/^Zustand: Beantwortet$/m, /^Modell: script\/echo$/m, /^Kennung der Nachricht: /m, /^Modell: script\/echo antwortet/m, /^Beendet: nach .* beantwortet/m])
        assert.match(why, line);
    },
  },
  {
    name: "languages: that a job failed is said in German, in the page that is open",
    world: "guide",
    async run(w, open) {
      const f = await World.fresh(w);
      try {
        const page = await f.open({ locale: "de-DE" });
        open.pages.push(page);
        await ready(page);
        hearth(f, "cron", "add", "--at", "1s", "--name", "Broken", "--command", "/no/such/program");
        await shows(page, ".row.text .label", /^Zeitpläne$/);
        await shows(page, ".row.text .md", /^Die Aufgabe „Broken“ ist fehlgeschlagen: Der Befehl endete mit Code 127\. Seine Ausgabe endete mit: .*no\/such/);
      } finally {
        await f.stop();
      }
    },
  },
  {
    name: "languages: what goes wrong, and what the doctor finds, is said in German",
    async run(w, open) {
      const page = await open({ width: 1280, height: 800, locale: "de-DE" });
      await ready(page);
      await page.keyboard.press("Control+,");
      await page.click("dialog nav [data-pane=health]");
      await page.click("dialog section button:has-text('Alles überprüfen')");
      await until(page, () => document.querySelectorAll("dialog section [role=status] .about").length > 3);
      const found = await page.$$eval("dialog section [role=status] .about", (all) => all.map((e) => e.firstChild.textContent.trim()));
      const [english, german] = await page.evaluate(async () => {
        const get = async (l) => Object.entries(await (await fetch(`/words/${l}/errors.json`)).json());
        return [await get("en"), Object.fromEntries(await get("de"))];
      });
      const whole = english.filter(([, text]) => !text.includes("{"));
      assert.deepEqual(whole.filter(([, text]) => found.includes(text)).map(([, text]) => text), [], "said in English");
      assert.ok(whole.some(([key]) => found.includes(german[key])), `nothing German in ${found.join(" | ")}`);
    },
  },
];
