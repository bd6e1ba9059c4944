// What a person wrote is not lost when what it was for goes, and what is said is
// readable: in their language, in a narrow window, from right to left, on paper.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { answered, axe, pick, ready, say, shows, until, watch } from "./harness.mjs";

const field = (path) => `.field[data-path="${path}"]`;
const composed = (page, want) => until(page, (t) => document.querySelector("#composer")?.value === t, want);

async function begin(open, model, o) {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  if (model) await pick(page, model);
  return page;
}

async function beside(open, page) {
  const other = await open();
  await ready(other);
  await other.goto(page.url());
  return other;
}

async function pane(page, id) {
  await page.keyboard.press("Control+,");
  await page.waitForSelector("dialog nav li");
  await page.click(`dialog nav [data-pane=${id}]`);
}

const closed = (page) => until(page, () => !document.querySelector("dialog[open]"));

export const cases = [
  {
    name: "what a setting cannot be is said in the person's language, and without a place in the file",
    async run(w, open) {
      const before = readFileSync(w.config, "utf8");
      const page = await open({ locale: "de-DE" });
      await ready(page);
      await pane(page, "general");
      const put = async (path, text) => {
        await page.fill(`${field(path)} input`, text);
        await page.press(`${field(path)} input`, "Enter");
      };
      await put("hearth.desktop.quietHours.start", "25:99");
      await shows(page, `${field("hearth.desktop.quietHours.start")} [role=alert]`, /^die Einstellungen wurden nicht gespeichert: schreib eine Uhrzeit wie "08:00", höchstens "24:00"$/);
      // A zone that nobody knows is not written.
      await put("agents.defaults.userTimezone", "Mars/Olympus");
      await shows(page, `${field("agents.defaults.userTimezone")} [role=alert]`, /gespeichert: diese Zeitzone ist hier nicht bekannt; schreib eine wie Europe\/Vienna$/);
      assert.equal(readFileSync(w.config, "utf8"), before);
      await put("agents.defaults.userTimezone", "UTC");
      await shows(page, `${field("agents.defaults.userTimezone")} .state`, /Gespeichert/);
      writeFileSync(w.config, before);
    },
  },
  {
    name: "a search for what is no word says so in the person's language",
    async run(w, open) {
      const page = await open({ locale: "de-DE" });
      await ready(page);
      await page.keyboard.press("Control+Shift+F");
      await page.fill("dialog input", "*");
      await shows(page, "dialog[open]", /Darin stehen keine Wörter; gib eines ein/);
      assert.doesNotMatch(await page.innerText("dialog[open]"), /sessions\.search/);
    },
  },
  {
    name: "what a waiting message was changed to is kept in the composer when the message is taken back elsewhere",
    async run(w, open) {
      const page = await begin(open, "slow");
      await say(page, "first");
      await answered(page, "first", "answering");
      await say(page, "second");
      await page.click("section[aria-label='Waiting messages'] .edit");
      await page.keyboard.type("second, at length");
      const other = await beside(open, page);
      await other.click("section[aria-label='Waiting messages'] .cancel");
      await composed(page, "second, at length");
      // And below what stands there.
      await page.fill("#composer", "a draft");
      await other.fill("#composer", "third");
      await other.press("#composer", "Enter");
      await page.click("section[aria-label='Waiting messages'] .edit");
      await page.keyboard.type("third, at length");
      await other.click("section[aria-label='Waiting messages'] .cancel");
      await composed(page, "a draft\n\nthird, at length");
      await page.fill("#composer", "");
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "other words for a message are kept in the composer when the message is changed elsewhere",
    async run(w, open) {
      const page = await begin(open, "echo");
      await say(page, "as it was");
      await answered(page, "as it was");
      const other = await beside(open, page);
      await answered(other, "as it was");
      const edit = async (p, words) => {
        await p.hover("article");
        await p.click("article [aria-label='Edit message']");
        await p.fill("textarea[aria-label='Other words for this message']", words);
      };
      await edit(page, "my long words");
      await edit(other, "other words");
      await other.keyboard.press("Enter");
      await answered(other, "other words");
      await composed(page, "my long words");
    },
  },
  {
    name: "what was being written in a chat that another tab deletes stands in the chat that is shown then",
    async run(w, open) {
      const page = await begin(open, "echo");
      await say(page, "to be deleted");
      await answered(page, "to be deleted");
      const other = await beside(open, page);
      await answered(other, "to be deleted");
      await page.fill("#composer", "half a thought");
      await other.click("header [aria-label='Chat menu']");
      await other.click("[role=menuitem]:has-text('Delete')");
      await until(page, () => ![...document.querySelectorAll("[role=log] .bubble")].some((e) => e.textContent === "to be deleted"));
      await composed(page, "half a thought");
      await page.fill("#composer", "");
    },
  },
  {
    name: "a chat that another tab deletes says so where one writes, and what is written begins a new one there",
    async run(w, open) {
      const page = await begin(open, "echo");
      await say(page, "deleted elsewhere");
      await answered(page, "deleted elsewhere");
      // A tab of the same browser, which keeps drafts in the same place.
      const tab = await page.context().newPage();
      watch(tab, w.url);
      await open(tab);
      await tab.goto(page.url());
      await answered(tab, "deleted elsewhere");
      const [url, words] = [page.url(), "half a thought\nof two lines"];
      await page.fill("#composer", words);
      await page.setInputFiles('form input[type="file"]', { name: "fern.txt", mimeType: "text/plain", buffer: Buffer.from("fern") });
      await tab.click("header [aria-label='Chat menu']");
      await tab.click("[role=menuitem]:has-text('Delete')");
      await until(page, () => /^This chat was deleted elsewhere/.test(document.querySelector("main p[role=status] span")?.textContent));
      assert.equal(await tab.$("main p[role=status] span"), null, "who deleted it knows");
      assert.equal(await page.textContent("h1"), "New chat");
      assert.deepEqual(await axe(page), []);
      // Nothing was taken from the person, and the words go into no other chat.
      assert.equal(page.url(), url);
      assert.equal(await page.inputValue("#composer"), words);
      assert.equal(await page.textContent("form .chip .name"), "fern.txt");
      await page.reload();
      await ready(page);
      await composed(page, words);
      await say(page, "a new beginning");
      await answered(page, "a new beginning");
      assert.equal(await page.textContent("h1"), "a new beginning");
      assert.deepEqual(await page.$$eval("[role=log] .bubble", (all) => all.map((e) => e.textContent)), ["a new beginning"]);
    },
  },
  {
    name: "Escape loses no prompt, no schedule and no file of the memory that was being written",
    async run(w, open) {
      const page = await open();
      await ready(page);
      const escape = async () => {
        await page.keyboard.press("Escape");
        await closed(page);
      };
      const prompt = "dialog .pane form textarea";
      await pane(page, "chat");
      await page.click("dialog .pane .button:text-is('Add a prompt')");
      await page.fill(prompt, "a prompt that took ten minutes");
      await escape();
      await pane(page, "chat");
      await until(page, (s) => document.querySelector(s)?.value === "a prompt that took ten minutes", prompt);
      await page.click("dialog .pane form .button:text-is('Cancel')");
      await escape();
      await pane(page, "chat");
      await page.waitForSelector("dialog .pane .button:text-is('Add a prompt')");
      await escape();

      const job = "dialog .pane form textarea";
      await pane(page, "schedules");
      await page.click("dialog .pane .button.primary");
      await page.fill(job, "water the plants");
      await escape();
      await pane(page, "schedules");
      await page.click("dialog .pane .button.primary");
      assert.equal(await page.inputValue(job), "water the plants");
      await page.click("dialog .pane form .button:text-is('Cancel')");
      await page.click("dialog .pane .button.primary");
      assert.equal(await page.inputValue(job), "");
      await escape();
    },
  },
  {
    name: "a table in Hebrew has its numbers below their heads",
    async run(w, open) {
      const page = await begin(open, "answers");
      await say(page, "sums");
      await answered(page, "sums");
      await page.waitForSelector(".md td");
      const edges = await page.$$eval(".md tr", (rows) =>
        rows.map((r) =>
          [...r.cells].map((c) => {
            const words = document.createRange();
            words.selectNodeContents(c.querySelector(".sort")?.firstChild ?? c);
            return Math.round(c.getBoundingClientRect().right - words.getBoundingClientRect().right);
          }),
        ),
      );
      assert.equal(await page.$eval(".md table", (t) => getComputedStyle(t).direction), "rtl");
      for (const row of edges) assert.deepEqual(row.map((e) => e < 20), row.map(() => true), JSON.stringify(edges));
      assert.match(await page.$eval(".md td:nth-child(2)", (c) => c.innerHTML), /<bdi>-5<\/bdi>/);
    },
  },
  {
    name: "a list that is twenty levels deep can be read in a narrow window",
    async run(w, open) {
      const page = await begin(open, "answers", { width: 360, height: 740 });
      await say(page, "deep");
      await answered(page, "deep");
      await page.waitForSelector(".md li");
      const [left, right, deepest] = await page.evaluate(() => {
        const words = document.createRange();
        words.selectNodeContents([...document.querySelectorAll(".md li")].at(-1));
        const r = words.getBoundingClientRect();
        return [r.left, r.right, document.querySelector(".row.text .md").getBoundingClientRect().right];
      });
      assert.ok(left + 50 < deepest && right <= deepest, `${left} to ${right} in ${deepest}`);
    },
  },
  {
    name: "a conversation is laid out whole for paper, without what is around it",
    async run(w, open) {
      const page = await begin(open, "answers");
      for (const [n, end] of [["deep", "20 deep"], ["long", "Paragraph 300 of"]]) {
        await say(page, n);
        await until(page, (t) => document.querySelector("[role=log]")?.innerText.includes(t) && document.querySelector("button.act[type=submit]"), end);
      }
      // Also while the list scrolls, when it draws fewer rows, all of them are there at once.
      const drawn = await page.evaluate(async () => {
        const log = document.querySelector("[role=log]");
        await new Promise((scrolled) => (log.addEventListener("scroll", scrolled, { once: true }), (log.scrollTop = 0)));
        dispatchEvent(new Event("beforeprint"));
        return [...document.querySelectorAll("article[data-state] .bubble")].map((e) => e.textContent);
      });
      assert.deepEqual(drawn, ["deep", "long"]);
      // As it looks on paper.
      await page.emulateMedia({ media: "print" });
      const seen = await page.evaluate(() => ({
        gone: ["#composer", ".side", "main > header"].filter((s) => document.querySelector(s)?.checkVisibility()),
        said: [...document.querySelectorAll("article[data-state] .bubble")].filter((e) => e.checkVisibility()).map((e) => e.textContent),
        rows: [...document.querySelectorAll("[data-row]")].map((e) => e.getBoundingClientRect()).every((r, i, all) => i === 0 || r.top >= all[i - 1].bottom - 1),
      }));
      assert.deepEqual(seen, { gone: [], said: ["deep", "long"], rows: true });
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      await page.emulateMedia({ media: null });
    },
  },
];
