// Files of messages: any kind, read by the gateway, shown with what became of them.
// HEARTH_SHOTS names a folder for pictures.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answered, axe, ready, root, say, until } from "./harness.mjs";

const file = (name, as = name) => ({
  name: as,
  mimeType: name.endsWith(".pdf") ? "application/pdf" : "application/octet-stream",
  buffer: readFileSync(join(root, "gateway/document/testdata", name)),
});

async function look(page, name) {
  assert.deepEqual(await axe(page), []);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, "it is wider than the screen");
  const folder = process.env.HEARTH_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `files-${name}.png`) });
}

const chips = (page, n) => until(page, (want) => document.querySelectorAll("form .chip .state").length === want, n);
const chip = (page, name, words) =>
  until(page, ([n, w]) => [...document.querySelectorAll(".chip")].some((c) => c.innerText.includes(n) && new RegExp(w).test(c.innerText)), [name, words]);

async function begin(open, o) {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return page;
}

export const cases = [
  {
    name: "files: any kind is attached, said what is in it, given to the model, and shown again",
    async run(w, open) {
      for (const o of [{ width: 1280, height: 2400 }, { width: 360, height: 3600, scheme: "dark" }]) {
        const page = await begin(open, o);
        await page.setInputFiles('form input[type="file"]', [
          file("report.pdf"),
          file("book.xlsx", "Sales\u202exslx and a name that is much longer than there is room for.xlsx"),
          file("locked.pdf"),
          file("scanned.pdf"),
          { name: "bundle.bin", mimeType: "", buffer: Buffer.from([1, 0, 2, 0, 0, 0, 7, 9, 1, 3]) },
        ]);
        await chips(page, 5);
        await chip(page, "report.pdf", "PDF[^]*2 pages");
        await chip(page, "Sales", "Spreadsheet[^]*2 sheets");
        await chip(page, "locked.pdf", "password");
        await chip(page, "scanned.pdf", "scans");
        await page.click('button[aria-label="Take “bundle.bin” out"]');
        await chips(page, 4);
        await page.fill("#composer", "what is in these?");
        await look(page, `composer-${o.width}`);
        await page.press("#composer", "Enter");
        await until(page, () => /the secret word is walnut/.test([...document.querySelectorAll(".row.text .md")].at(-1)?.innerText ?? ""));
        await chip(page, "report.pdf", "2 pages");
        await page.reload();
        await ready(page);
        await until(page, () => document.querySelectorAll(".row.user .chip").length === 4);
        await chip(page, "locked.pdf", "password");
        await page.evaluate(() => document.querySelector(".row.user .chip").scrollIntoView());
        await look(page, `history-${o.width}`);
        assert.ok(existsSync(join(w.home, "Hearth/inbox/report.pdf")));
      }
    },
  },
  {
    name: "files: a long one is given in part, and its chip says which",
    async run(w, open) {
      const page = await begin(open);
      const line = "a line of a log that goes on for a while, so that there is much of it\n";
      await page.setInputFiles('form input[type="file"]', { name: "long.log", mimeType: "text/plain", buffer: Buffer.from(line.repeat(90_000)) });
      await chip(page, "long.log", "Read$");
      await page.fill("#composer", "and this?");
      await page.press("#composer", "Enter");
      await until(page, () => {
        document.querySelector("[role=log]").scrollTop = 0; // the answer is long, and a question far above is not drawn
        return [...document.querySelectorAll(".chip")].some((c) => /long\.log[^]*A part of its text was given[^]*inbox\/long\.log/.test(c.innerText));
      });
      await look(page, "part");
    },
  },
  {
    name: "files: what is dropped and pasted is attached too",
    async run(w, open) {
      const page = await begin(open);
      const hand = (type) =>
        page.evaluate((type) => {
          const d = new DataTransfer();
          d.items.add(new File(["a,b\n1,2\n"], `${type}.csv`, { type: "text/csv" }));
          const e = type === "drop" ? new DragEvent("drop", { dataTransfer: d, bubbles: true }) : new ClipboardEvent("paste", { bubbles: true });
          // Firefox leaves out what a made paste is given, and without a screen its real clipboard takes words alone.
          if (type === "paste") Object.defineProperty(e, "clipboardData", { value: d });
          (type === "drop" ? document.body : document.querySelector("#composer")).dispatchEvent(e);
        }, type);
      await until(page, () => document.querySelector('form input[type="file"]'));
      await hand("drop");
      await hand("paste");
      await chip(page, "drop.csv", "Text");
      await chip(page, "paste.csv", "Text");
    },
  },
  {
    name: "files: one that did not reach the gateway holds the message until it is there or taken out",
    async run(w, open) {
      const page = await begin(open);
      await until(page, () => document.querySelector('form input[type="file"]'));
      await w.killGateway();
      await until(page, () => document.querySelector(".banner.link"));
      const notes = (n) => ({ name: `notes-${n}.txt`, mimeType: "text/plain", buffer: Buffer.from("walnut") });
      await page.setInputFiles('form input[type="file"]', [notes(1), notes(2)]);
      await chip(page, "notes-1.txt", "Not attached");
      await chip(page, "notes-2.txt", "Not attached");
      await page.fill("#composer", "with both");
      await page.press("#composer", "Enter");
      // It did not go, and who cannot see it is told why.
      const at = () => page.evaluate(() => [document.activeElement.ariaLabel, document.getElementById(document.activeElement.getAttribute("aria-describedby"))?.innerText]);
      const [name, why] = await at();
      assert.equal(name, "Try again");
      assert.match(why, /Not attached: ./);
      assert.equal(await page.inputValue("#composer"), "with both");
      assert.match(await page.textContent("form .hint"), /is not attached\. Try it again or take it out/);
      await look(page, "failed");
      await w.startGateway();
      await ready(page);
      await page.keyboard.press("Enter");
      await chip(page, "notes-1.txt", "Read$");
      assert.equal((await at())[0], "Message");
      await page.press("#composer", "Enter");
      assert.equal((await at())[0], "Try again");
      await page.click('button[aria-label="Take “notes-2.txt” out"]');
      await page.press("#composer", "Enter");
      await answered(page, "with both");
      assert.deepEqual(await page.$$eval(".row.user .chip .name", (all) => all.map((e) => e.innerText)), ["notes-1.txt"]);
    },
  },
  {
    name: "files: what was chosen for one chat is there again when one comes back, also what was on its way",
    async run(w, open) {
      const page = await begin(open);
      await say(page, "a chat with files");
      await answered(page, "a chat with files");
      const line = "a line of a log that goes on for a while, so that there is much of it\n";
      await page.setInputFiles('form input[type="file"]', [
        { name: "small.txt", mimeType: "text/plain", buffer: Buffer.from("walnut") },
        { name: "long.log", mimeType: "text/plain", buffer: Buffer.from(line.repeat(90_000)) },
      ]);
      await chips(page, 2);
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      await chips(page, 0);
      await say(page, "a chat without");
      await answered(page, "a chat without");
      assert.equal(await page.$(".row.user .chip"), null);
      await page.click("nav .item:has-text('a chat with files')");
      await chip(page, "small.txt", "Read$");
      await chip(page, "long.log", "Read$");
      // They are there after a reload too, and words take the hint to write some away.
      await page.reload();
      await ready(page);
      await chip(page, "small.txt", "Read$");
      await chip(page, "long.log", "Read$");
      assert.match(await page.innerText("form .hint"), /Write a few words/);
      await page.fill("#composer", "with");
      await until(page, () => !document.querySelector("form .hint"));
      await say(page, "with them");
      await chips(page, 0);
      await until(page, () => {
        document.querySelector("[role=log]").scrollTop = 0; // the answer is long, as above
        return document.querySelectorAll(".row.user .chip").length === 2;
      });
    },
  },
  {
    name: "files: cells of a spreadsheet are pasted as their words, a picture as a picture",
    async run(w, open) {
      const page = await begin(open);
      await until(page, () => document.querySelector('form input[type="file"]'));
      const paste = (words, name) =>
        page.evaluate(async ([words, name]) => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 20, height: 20 });
          const d = new DataTransfer();
          d.items.add(new File([await new Promise((r) => canvas.toBlob(r, "image/png"))], name, { type: "image/png" }));
          if (words) d.setData("text/plain", words);
          // true: the browser puts the words into the field
          return document.querySelector("#composer").dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: d }));
        }, [words, name]);
      const pictures = (n) => until(page, (want) => document.querySelectorAll("form ul img").length === want, n);
      assert.equal(await paste("Name\tSum\nA\t12", "image.png"), true);
      assert.equal(await paste("", "image.png"), false);
      await pictures(1);
      assert.equal(await paste("/home/anna/cat.png", "cat.png"), false);
      await pictures(2);
    },
  },
  {
    name: "files: long names are cut, and the buttons beside them stay within the screen",
    async run(w, open) {
      for (const width of [360, 1280]) {
        const page = await begin(open, { width, height: 800 });
        const names = ["2024 Attention is all you need - Vaswani et al - NeurIPS proceedings (reviewed copy).txt", `${"x".repeat(220)}.txt`, "todo.txt"];
        await page.setInputFiles('form input[type="file"]', names.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("hi") })));
        await chips(page, 3);
        await chip(page, "todo.txt", "Read$");
        await look(page, `names-${width}`);
        const out = () =>
          page.$$eval("form .chip button", (all) => all.filter((e) => e.getBoundingClientRect().right > e.closest(".card").getBoundingClientRect().right).length);
        assert.equal(await out(), 0, "a button is outside of the field");
        await page.click(`form .chip button >> nth=1`);
        await chips(page, 2);
      }
    },
  },
];
