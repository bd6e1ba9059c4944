// Messages that are edited and answered again, their versions, and the list of chats.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { answered, axe, imeKey, pick, ready, say, until } from "./harness.mjs";

const shots = process.env.HEARTH_SHOTS;
async function shot(page, name, menu = false) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  if (menu) return void (await page.screenshot({ path: `${shots}/${name}.png` })); // another size closes it
  for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360]]) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(250);
    await page.screenshot({ path: `${shots}/${name}-${scheme}-${width}.png` });
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 1280, height: 800 });
}

const fresh = async (open, o) => {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return page;
};

const bubbles = (page) => page.$$eval(".bubble", (all) => all.map((e) => e.textContent));
const shown = (page, words) => until(page, (want) => [...document.querySelectorAll(".bubble")].some((b) => b.textContent === want), words);
const version = (page) => page.textContent(".versions");

async function edit(page, words, other) {
  const box = page.locator("article", { hasText: words }).first();
  await box.hover();
  await box.locator("[aria-label='Edit message']").click();
  await page.fill("textarea[aria-label='Other words for this message']", other);
}

const menu = async (page, title) => {
  const line = page.locator("nav .line", { hasText: title }).first();
  await line.hover();
  await line.locator(".dots").click();
  await page.waitForSelector("[role=menu]");
};

export const cases = [
  {
    name: "a message is edited in place, answered again, and both versions are reached",
    async run(w, open) {
      const page = await fresh(open);
      for (const m of ["first apple", "second pear"]) {
        await say(page, m);
        await answered(page, m);
      }
      await edit(page, "first apple", "first cherry");
      await shot(page, "editing");
      // An input method's own keys neither send nor close it.
      const field = "textarea[aria-label='Other words for this message']";
      await imeKey(page, field, "Enter");
      await imeKey(page, field, "Escape");
      assert.equal(await page.inputValue(field), "first cherry");
      const focused = (name) => until(page, (n) => document.activeElement.ariaLabel === n, name);
      await page.keyboard.press("Escape");
      await focused("Edit message");
      await page.keyboard.press("Enter");
      await page.fill(field, "first cherry");
      await page.keyboard.press("Enter");
      await shown(page, "first cherry");
      await focused("Message");
      await answered(page, "first cherry");
      assert.deepEqual(await bubbles(page), ["first cherry"]);
      assert.match(await version(page), /2\/2/);
      await page.click("[aria-label='Version before']");
      await shown(page, "second pear");
      assert.deepEqual(await bubbles(page), ["first apple", "second pear"]);
      assert.match(await version(page), /1\/2/);
      await shot(page, "versions");
      await page.reload();
      await shown(page, "second pear");
      assert.match(await version(page), /1\/2/);
      await page.click("[aria-label='Next version']");
      await shown(page, "first cherry");
      assert.deepEqual(await axe(page), []);
    },
  },
  {
    name: "an answer is made again by another model, and its versions stand at the answer",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "echo");
      await say(page, "again please");
      await answered(page, "again please");
      await page.locator(".row.text").last().hover();
      await page.click(".row.text [aria-label='Answer again']");
      await shot(page, "again-menu", true);
      await page.click("[role=menu] [role=menuitem]:has-text('rich')");
      await until(page, () => document.querySelector(".row.text .versions")?.textContent.includes("2/2"));
      await until(page, () => document.querySelector(".row.text .model")?.textContent.includes("rich"));
      await page.click(".row.text [aria-label='Version before']");
      await until(page, () => document.querySelector(".row.text .model")?.textContent.includes("echo"));
    },
  },
  {
    name: "a chat branches off into a new one and the old one stays",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "one of two");
      await answered(page, "one of two");
      const before = page.url();
      await page.locator(".row.text").last().hover();
      await page.click(".row.text [aria-label='Answer again']");
      await page.click("[role=menu] [role=menuitem]:has-text('Branch into a new chat')");
      await until(page, (old) => location.href !== old, before);
      await shown(page, "one of two");
      await say(page, "only here");
      await answered(page, "only here");
      await page.goto(before);
      await shown(page, "one of two");
      assert.deepEqual(await bubbles(page), ["one of two"]);
    },
  },
  {
    name: "while an answer is made nothing is edited",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "slow");
      await say(page, "slowly now");
      await answered(page, "slowly now", "answering");
      await page.hover("article");
      assert.equal(await page.isDisabled("article [aria-label='Edit message']"), true);
      await page.keyboard.press("Escape");
      await answered(page, "slowly now", "aborted");
      await until(page, () => !document.querySelector("article [aria-label='Edit message']").disabled);
    },
  },
  {
    name: "a chat of the list is renamed, moved, archived, saved and deleted with undo from its menu",
    async run(w, open) {
      const page = await fresh(open);
      for (const m of ["menu chat one", "menu chat two"]) {
        await page.keyboard.press("Control+Shift+O");
        await until(page, () => document.querySelector(".welcome"));
        await say(page, m);
        await answered(page, m);
      }
      assert.equal(await page.textContent("nav h2 bdi"), "Today");
      await menu(page, "menu chat one");
      await shot(page, "chat-menu", true);
      await page.click("[role=menu] [role=menuitem]:has-text('Move to a folder')");
      await page.fill("dialog input", "Garden");
      await page.keyboard.press("Enter");
      await until(page, () => [...document.querySelectorAll("nav h2 bdi")].some((h) => h.textContent === "Garden"));
      await shot(page, "folders");
      const saved = page.waitForEvent("download");
      await menu(page, "menu chat one");
      await page.click("[role=menu] [role=menuitem]:has-text('Save as Markdown')");
      const file = await saved;
      assert.equal(file.suggestedFilename(), "menu chat one.md");
      assert.match(readFileSync(await file.path(), "utf8"), /^# menu chat one\n\n## You, [^\n]+\n\nmenu chat one\n\n## Hearth/);
      await menu(page, "menu chat one");
      await page.click("[role=menu] [role=menuitem]:has-text('Rename')");
      await page.fill("dialog input", "Roses");
      await page.keyboard.press("Enter");
      await until(page, () => [...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Roses"));
      await menu(page, "Roses");
      await page.click("[role=menu] [role=menuitem]:has-text('Archive')");
      await until(page, () => ![...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Roses"));
      await page.click("nav h2 button:has-text('Archived')");
      await until(page, () => [...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Roses"));
      await menu(page, "Roses");
      await page.click("[role=menu] [role=menuitem]:has-text('Take out of the archive')");
      await until(page, () => [...document.querySelectorAll("nav h2 bdi")].some((h) => h.textContent === "Garden"));
      await menu(page, "Roses");
      await page.click("[role=menu] [role=menuitem]:has-text('Delete')");
      await until(page, () => ![...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Roses"));
      await page.click(".toast:has-text('is deleted') button");
      await until(page, () => [...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Roses"));
      assert.equal(await page.textContent("h1"), "menu chat two");
      // The chat that was open is open again, also out of the archive.
      await page.click("nav .item:has-text('Roses')");
      await answered(page, "menu chat one");
      for (const [does, did] of [["Delete", "is deleted"], ["Archive", "archive"]]) {
        await menu(page, "Roses");
        await page.click(`[role=menu] [role=menuitem]:has-text('${does}')`);
        await until(page, () => document.querySelector("h1").textContent !== "Roses");
        await page.locator(`.toast:has-text('${did}') button`).last().click(); // an older one may still stand there
        await until(page, () => document.querySelector("h1").textContent === "Roses");
        await answered(page, "menu chat one");
      }
      await page.reload();
      await until(page, () => [...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Roses"));
    },
  },
];
