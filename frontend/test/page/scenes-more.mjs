// What a chat can do beyond words: what answers draw, files, versions, lists, requests, notes.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chips, file } from "./cases-files.mjs";
import { answered, pick, say, until } from "./harness.mjs";
import { hearth } from "./phone.mjs";

const done = (page) =>
  until(page, () => [...document.querySelectorAll(".row.text .md")].at(-1)?.innerText && document.querySelector(".row.text .meta"));
const call = (name, args) => JSON.stringify([{ name, args }]);
const top = (page) => page.evaluate(() => document.querySelector("[role=log]").scrollTo(0, 0));
const shown = (name) => async (page) => {
  await pick(page, "answers");
  await say(page, name);
  await done(page);
};
const side = async (page) => {
  if (!(await page.$("nav .item"))) await page.keyboard.press("Control+b");
  await page.waitForSelector("nav .item");
  await page.waitForTimeout(400);
};
const rowMenu = async (page, title) => {
  await side(page);
  const line = page.locator("nav .line", { hasText: title }).first();
  await line.hover();
  await line.locator(".dots").click();
  await page.waitForSelector("[role=menu]");
};
const press = (page, words) => page.click(`[role=menu] [role=menuitem]:has-text("${words}")`);

async function edit(page, t) {
  const box = page.locator("article", { hasText: "first apple" }).first();
  await box.hover();
  await box.locator(`[aria-label="${t("Edit message")}"]`).click();
}

async function asked(page, name, args) {
  await pick(page, "hands");
  await say(page, call(name, args));
}

/** more has the scenes of one conversation, as chat of scenes-chat.mjs has. */
export const more = {
  async formulas(page) {
    await shown("formulas")(page);
    await until(page, () => document.querySelectorAll(".md .katex").length >= 7);
    await top(page);
  },
  async diagram(page) {
    await shown("diagram")(page);
    await until(page, () => document.querySelectorAll("img.drawn").length === 2, null, 60_000);
    await top(page);
  },
  async undrawn(page) {
    await shown("broken")(page);
    await until(page, () => document.querySelectorAll(".undrawn").length === 2, null, 60_000);
    await top(page);
  },
  async notes(page) {
    await shown("notes")(page);
    await until(page, () => document.querySelector(".remote button") && document.querySelector(".sort"));
    await top(page);
  },
  async artifact(page) {
    await shown("page1")(page);
    await shown("page2")(page);
    await page.locator("button.open").last().click();
    await until(page, () => document.querySelector(".pane iframe"));
    await page.waitForTimeout(500);
  },
  async files(page) {
    await page.setInputFiles('form input[type="file"]', [
      file("report.pdf"),
      file("book.xlsx", "Sales of the whole year and a name that is much longer than there is room for.xlsx"),
      file("locked.pdf"),
      file("scanned.pdf"),
    ]);
    await chips(page, 4);
    await until(page, () => ![...document.querySelectorAll("form .chip .state")].some((e) => /…$/.test(e.innerText)));
    await page.fill("#composer", "what is in these?");
  },
  async filed(page) {
    await page.reload();
    await page.waitForSelector('form input[type="file"]', { state: "attached" });
    await more.files(page);
    await page.press("#composer", "Enter");
    await until(page, () => document.querySelectorAll(".row.user .chip").length === 4);
    await done(page);
    await top(page);
  },
  async editing(page, { t }) {
    for (const m of ["first apple", "second pear"]) {
      await say(page, m);
      await answered(page, m);
    }
    await edit(page, t);
  },
  async versions(page, x) {
    await more.editing(page, x);
    await page.fill(`textarea[aria-label="${x.t("Other words for this message")}"]`, "first cherry");
    await page.keyboard.press("Enter");
    await answered(page, "first cherry");
    await until(page, () => document.querySelector(".versions"));
  },
  async again(page, { t }) {
    await say(page, "again please");
    await answered(page, "again please");
    await page.locator(".row.text").last().hover();
    await page.click(`.row.text [aria-label="${t("Answer again")}"]`);
  },
  async row(page) {
    await say(page, "menu chat one");
    await answered(page, "menu chat one");
    await rowMenu(page, "menu chat one");
  },
  async folder(page, { t }) {
    await say(page, "menu chat two");
    await answered(page, "menu chat two");
    await rowMenu(page, "menu chat two");
    await press(page, t("Move to a folder…"));
    await page.fill("dialog input", "Garden");
  },
  async folders(page, x) {
    await more.folder(page, x);
    await page.keyboard.press("Enter");
    await side(page);
    await until(page, () => [...document.querySelectorAll("nav h2 bdi")].some((h) => h.textContent === "Garden"));
  },
  async deleted(page, { t }) {
    await say(page, "a chat to delete");
    await answered(page, "a chat to delete");
    await rowMenu(page, "a chat to delete");
    await press(page, t("Delete"));
    await until(page, () => document.querySelector(".toast button"));
  },
  async here(page) {
    await say(page, "Where do quokkas live?");
    await answered(page, "Where do quokkas live?");
    await page.keyboard.press("Control+f");
    await page.locator("dialog [role=combobox]").pressSequentially("quokka");
    await until(page, () => document.querySelector("dialog mark"));
  },
  async prompts(page) {
    await page.fill("#composer", "");
    await page.locator("#composer").pressSequentially("/week");
    await until(page, () => document.querySelector("#suggest"));
  },
  async prompt(page) {
    await more.prompts(page);
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open] textarea");
  },
  async effort(page) {
    await say(page, "hello");
    await answered(page, "hello");
    await page.click(".ring");
  },
  async diff(page, { w }) {
    mkdirSync(join(w.home, "Hearth"), { recursive: true });
    writeFileSync(join(w.home, "Hearth/shopping.md"), "bread\nmilk\n");
    await asked(page, "edit", { path: "shopping.md", edits: [{ oldText: "milk", newText: "oat milk\nbutter" }] });
    await until(page, () => document.querySelector(".cards summary"));
    await done(page);
    await page.click(".cards summary");
    await until(page, () => document.querySelector(".lines .add"));
  },
  async undo(page, x) {
    await more.diff(page, x);
    await page.click(`button:has-text("${x.t("Undo changes")}")`);
    await page.waitForSelector("dialog[open]");
    await page.waitForTimeout(400);
  },
  async pause(page) {
    if (!(await page.$("nav .own"))) await page.keyboard.press("Control+b");
    await page.click("nav .own button[aria-pressed]");
    await page.waitForSelector("dialog[open]");
  },
  async paused(page, { w }) {
    hearth(w, "pause");
    await until(page, () => document.querySelector(".paused"));
  },
  async reminder(page, { w }) {
    hearth(w, "resume");
    hearth(w, "cron", "add", "--at", "1s", "--remind", "Look at the oven");
    await page.waitForSelector("main .card.due");
  },
  async promise(page, { w }) {
    await say(page, "ok. I will look at the build tomorrow at nine");
    await until(page, () => [...document.querySelectorAll("main .card")].some((c) => /look at the build/.test(c.innerText)));
    for (const j of JSON.parse(hearth(w, "cron", "list", "--all", "--json")).jobs) hearth(w, "cron", "remove", j.id);
  },
};
