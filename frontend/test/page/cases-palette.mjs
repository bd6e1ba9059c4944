// One field for everything, requests in plain words, and errors that carry what
// repairs them.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { answered, axe, pick, ready, say, until } from "./harness.mjs";

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

const noAxe = async (page) => assert.deepEqual(await axe(page), []);
const call = (command) => JSON.stringify([{ name: "exec", args: { command } }]);

/** palette opens it and waits for its list. */
async function palette(page) {
  await page.keyboard.press("Control+k");
  await until(page, () => document.activeElement?.getAttribute("role") === "combobox");
}
const marked = (page, want) =>
  until(page, (want) => new RegExp(want).test(document.querySelector("[role=option][aria-selected=true] .name")?.textContent ?? ""), want);
const shut = (page) => until(page, () => !document.querySelector("dialog[open]"));

export const cases = [
  {
    name: "who closes a dialog by Escape goes on writing where they were",
    async run(_w, open) {
      const page = await open();
      await ready(page);
      await page.keyboard.type("one ");
      for (const keys of ["Control+k", "Control+,", "Control+/"]) {
        await page.keyboard.press(keys);
        await page.waitForSelector("dialog[open]");
        await page.keyboard.press("Escape");
        await until(page, () => !document.querySelector("dialog[open]") && document.activeElement.id === "composer");
        await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
        await page.keyboard.type("more ");
      }
      await until(page, () => document.querySelector("#composer").value === "one more more more ");
      await page.fill("#composer", "");
    },
  },
  {
    name: "a request says in plain words what it is, once what runs, and how under Details",
    async run(w, open) {
      for (const [locale, sentence, details] of [["en-US", /^Hearth wants to list ~\/Hearth$/, "Details"], ["de-DE", /^Hearth möchte den Inhalt von ~\/Hearth auflisten$/, "Einzelheiten"]]) {
        const page = await open({ ...wide, locale });
        await ready(page);
        mkdirSync(join(w.home, "Hearth"), { recursive: true });
        await page.keyboard.press("Control+Shift+O");
        await pick(page, "hands");
        await say(page, call("ls -la"));
        await until(page, () => document.querySelector(".ask .title"));
        const title = (await page.textContent(".ask .title")).replace(/[\u2068\u2069]/g, "").trim();
        assert.match(title, sentence);
        await until(page, () => /ls -la/.test(document.querySelector(".ask")?.innerText ?? "")); // no text while rows are measured
        assert.equal((await page.innerText(".ask")).match(/ls -la/g).length, 1, "the command stands there once");
        await page.click(`.ask summary >> text=${details}`);
        assert.match(await page.innerText(".ask details ul"), /ls -la/);
        await noAxe(page);
        await page.click(".ask .act .button >> nth=1");
        await until(page, () => !document.querySelector(".ask .act"));
      }
    },
  },
  {
    name: "a chain of commands is never said to be its first one",
    async run(w, open) {
      const page = await open(wide);
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await pick(page, "hands");
      await say(page, call("ls\u202e; rm -rf gone"));
      await until(page, () => document.querySelector(".ask .title"));
      assert.doesNotMatch(await page.innerText(".ask .title"), /list/);
      await until(page, () => document.querySelector(".ask pre")?.innerText);
      assert.match(await page.innerText(".ask pre"), /ls\\u\{202e\}; rm -rf gone/);
      await page.click(".ask .act .button >> nth=1");
      await until(page, () => !document.querySelector(".ask .act"));
    },
  },
  {
    name: "the palette finds chats, messages, commands and settings by the keyboard alone, the last used first",
    async run(w, open) {
      const page = await open(wide);
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await say(page, "Where do pangolins live?");
      await answered(page, "Where do pangolins live?");
      await palette(page);
      await noAxe(page);
      await page.keyboard.type("pangolins");
      await until(page, () => [...document.querySelectorAll("[role=listbox] .group")].some((g) => g.textContent === "Messages"));
      await page.keyboard.press("Escape");
      await shut(page);
      await palette(page);
      await page.keyboard.type("keyboard short");
      await marked(page, "Keyboard shortcuts");
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector("dialog dl"));
      await page.keyboard.press("Escape");
      await shut(page);
      await palette(page);
      await marked(page, "Keyboard shortcuts"); // used last
      await page.keyboard.type("models & keys");
      await marked(page, "Models");
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector("dialog[open] nav"));
    },
  },
  {
    name: "Settings and Pause have their names in the side bar, and the palette works at 360 px",
    async run(w, open) {
      const page = await open(narrow);
      await ready(page);
      await page.click("[aria-label='Show chats']");
      assert.match(await page.innerText("nav .own"), /Settings\s+Pause/);
      await page.click("nav .find");
      await until(page, () => document.activeElement?.getAttribute("role") === "combobox");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "it is wider than the screen");
      await noAxe(page);
      await page.goBack();
      await shut(page);
    },
  },
  {
    name: "Back closes the palette and Settings, and the chat behind them stays",
    async run(_w, open) {
      const page = await open(narrow);
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await say(page, "Where do axolotls live?");
      await answered(page, "Where do axolotls live?");
      const at = await page.evaluate(() => location.hash);
      for (const keys of ["Control+k", "Control+,"]) {
        await page.keyboard.press(keys);
        await page.waitForSelector("dialog[open]");
        await page.goBack();
        await shut(page);
        assert.equal(await page.evaluate(() => location.hash), at);
        assert.match(await page.innerText("main"), /Where do axolotls live/);
      }
      await page.keyboard.press("Control+k");
      await page.waitForSelector("dialog[open]");
      await page.keyboard.press("Escape");
      await shut(page);
      await page.goBack(); // one press leads to the chat before
      await until(page, (at) => location.hash !== at, at);
    },
  },
  {
    name: "an answer that failed for want of a key has a button that leads to the keys",
    async run(w, open) {
      const page = await open(wide);
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await pick(page, "fault-401");
      await say(page, "What is the capital of Peru?");
      await answered(page, "What is the capital of Peru?", "failed");
      await page.click(".card.failed .act .primary >> text=Add a key");
      await until(page, () => document.querySelector("dialog[open] nav"));
    },
  },
];
