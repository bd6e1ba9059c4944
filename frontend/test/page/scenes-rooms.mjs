// Scenes of answers, files, chats and what the assistant does. Nothing in them is found by
// its words, so that each can be played in every language.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answered, pick, root, say, until } from "./harness.mjs";

const ask = async (page, model, text) => {
  await pick(page, model);
  await say(page, text);
  await answered(page, text);
};
const calls = (...list) => JSON.stringify(list.map(([name, args]) => ({ name, args })));
const top = (page) => page.evaluate(() => document.querySelector("[role=log]").scrollTo(0, 0));
const end = (page) => until(page, () => document.querySelector(".row.text .meta"));
const artifact = async (page, name) => {
  await ask(page, "answers", name);
  await end(page);
  await page.locator("button.open").last().click();
  await until(page, () => document.querySelector(".pane iframe, .pane .md"));
};
const drawn = (page, n) => until(page, (k) => [...document.querySelectorAll("img.drawn")].filter((e) => e.naturalWidth > 0).length >= k, n, 60_000);
const chats = async (page) => {
  if (!(await page.$("nav"))) await page.keyboard.press("Control+b");
  await page.waitForSelector("nav .item");
  await page.waitForTimeout(400);
};
/** dots opens the menu of the chat in the list that stands first, or the header's. */
const dots = async (page) => {
  await chats(page);
  const line = page.locator("nav .line").first();
  await line.hover();
  await line.locator(".dots").click();
  await page.waitForSelector("[role=menu]");
};
const item = async (page, n) => {
  await dots(page);
  await page.click(`[role=menu] [role=menuitem] >> nth=${n}`);
};
const attach = async (page) => {
  const file = (name, mimeType) => ({ name, mimeType, buffer: readFileSync(join(root, "gateway/document/testdata", name)) });
  await page.setInputFiles('form input[type="file"]', [file("report.pdf", "application/pdf"), { ...file("book.xlsx", ""), name: "Sales of the whole year with a name that is long.xlsx" }, file("locked.pdf", "application/pdf")]);
  await until(page, () => document.querySelectorAll("form .chip .state").length === 3);
};

export const scenes = {
  async formulas(page) {
    await ask(page, "answers", "formulas");
    await until(page, () => document.querySelector(".md .katex-display"));
    await top(page);
  },
  async diagram(page) {
    await ask(page, "answers", "diagram");
    await drawn(page, 2);
    await top(page);
  },
  async chart(page) {
    await ask(page, "answers", "chart");
    await drawn(page, 1);
  },
  async undrawn(page) {
    await ask(page, "answers", "broken");
    await until(page, () => document.querySelectorAll(".undrawn").length === 2, null, 60_000);
  },
  async notes(page) {
    await ask(page, "answers", "notes");
    await until(page, () => document.querySelector(".sort"));
    await top(page);
  },
  async hebrew(page) {
    await ask(page, "answers", "hebrew");
    await drawn(page, 1);
    await top(page);
  },
  artifact: (page) => artifact(page, "page1"),
  async source(page) {
    await artifact(page, "page1");
    await page.click(".pane [role=tab] >> nth=-1").catch(() => page.click(".pane button >> nth=1"));
  },
  async files(page) {
    await attach(page);
    await page.fill("#composer", "What is in these?");
  },
  async filesent(page) {
    await attach(page);
    await say(page, "What is in these?");
    await answered(page, "What is in these?");
    await top(page);
  },
  async editing(page) {
    await ask(page, "echo", "Plan a week in May");
    await page.locator("article").last().hover();
    await page.locator("article .act-mini").last().click();
    await page.waitForSelector("article textarea, form textarea:focus");
  },
  async versions(page) {
    await ask(page, "echo", "Plan a week in May");
    await page.locator("article").last().hover();
    await page.locator("article .act-mini").last().click();
    await page.fill("article textarea", "Plan a week in June");
    await page.keyboard.press("Enter");
    await until(page, () => [...document.querySelectorAll("article[data-state=answered] .bubble")].some((b) => b.textContent === "Plan a week in June"));
    await until(page, () => document.querySelector(".versions"));
  },
  async again(page) {
    await ask(page, "echo", "Plan a week in May");
    await page.locator(".row.text").last().hover();
    await page.click(".row.text .act-mini[aria-haspopup=menu]");
    await page.waitForSelector("[role=menu]");
  },
  rowmenu: dots,
  async renaming(page) {
    await item(page, 0);
    await page.waitForSelector("dialog input");
  },
  async folder(page) {
    await item(page, 2);
    await page.waitForSelector("dialog input");
    await page.fill("dialog input", "Garden");
  },
  async folders(page) {
    await item(page, 2);
    await page.fill("dialog input", "Garden");
    await page.keyboard.press("Enter");
    await until(page, () => !document.querySelector("dialog[open]"));
    await chats(page);
  },
  async archived(page) {
    await ask(page, "echo", "Old plans for a garden");
    await item(page, 3);
    await until(page, () => document.querySelector(".toast"));
    await chats(page);
    await page.click("nav h2 button >> nth=-1");
  },
  async deleted(page) {
    await ask(page, "echo", "To be thrown away");
    await item(page, -1);
    await until(page, () => document.querySelector(".toast, dialog[open]"));
  },
  async find(page) {
    await ask(page, "echo", "The lighthouse stands in the north");
    await page.keyboard.press("Control+f");
    await page.locator("dialog [role=combobox]").pressSequentially("lighthouse");
    await until(page, () => document.querySelector("dialog mark"));
  },
  async prompts(page) {
    await page.fill("#composer", "/week");
    await until(page, () => document.querySelector("#suggest"));
  },
  async fields(page) {
    await page.fill("#composer", "/week");
    await until(page, () => document.querySelector("#suggest"));
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog textarea");
  },
  async assistants(page) {
    await page.click(".right [aria-haspopup=menu] >> nth=0");
    await page.waitForSelector("[role=menu]");
  },
  async effort(page) {
    await ask(page, "echo", "hello");
    await page.click("form .ring");
    await page.waitForSelector("form [role=menu]");
  },
  async thought(page) {
    await ask(page, "thinker", "Why is the sky blue?");
    await end(page);
    await page.click(".row details summary >> nth=0");
  },
  async steps(page) {
    await ask(page, "hands", calls(["session_status", {}], ["sessions_list", {}], ["session_status", {}]));
    await end(page);
    await page.click("details.steps summary");
  },
  async diff(page, w) {
    mkdirSync(join(w.home, "Hearth"), { recursive: true });
    writeFileSync(join(w.home, "Hearth/shopping.md"), "bread\nmilk\n");
    const text = calls(["edit", { path: "shopping.md", edits: [{ oldText: "milk", newText: "oat milk\nbutter" }] }]);
    await ask(page, "hands", text);
    await end(page);
    await page.click(".cards summary");
    await until(page, () => document.querySelector(".lines .add"));
  },
  async undo(page, w) {
    await scenes.diff(page, w);
    await page.click(".row.text .meta .ask >> nth=1");
    await page.waitForSelector("dialog[open] li, dialog[open] .primary");
  },
  async choicesofyes(page) {
    await pick(page, "hands");
    await say(page, calls(["exec", { command: "mkdir -p ~/Hearth/photos/2026 && ls ~/Hearth/photos" }]));
    await page.click(".ask [aria-haspopup=menu]");
    await page.waitForSelector("[role=menu]");
  },
  async pause(page) {
    await chats(page);
    await page.click("nav .own button[aria-pressed]");
    await page.waitForSelector("dialog[open] fieldset");
  },
  async paused(page) {
    await scenes.pause(page);
    await page.click("dialog .primary");
    await until(page, () => document.querySelector(".paused"));
  },
};

/** menus close when the window gets another size, so these are played for each. */
export const anew = new Set(["menu", "models", "again", "rowmenu", "assistants", "effort", "choicesofyes", "side", "folders", "archived", "pause", "paused", "deleted", "commands", "choices", "prompts", "networks"]);

/** after takes out what a scene set up. */
export const after = {
  async paused(page) {
    await page.click(".paused button");
  },
};
