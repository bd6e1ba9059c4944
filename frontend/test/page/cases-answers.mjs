// What answers show beside words: formulas, diagrams, charts, notes, pictures, tables,
// artifacts; and that nothing of it leaves its frame.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { answered, axe, eventually, pick, picture, ready, say, until } from "./harness.mjs";

const begin = async (w, open, o) => {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  await pick(page, "answers");
  return page;
};
const ask = async (page, name) => {
  await say(page, name);
  await answered(page, name);
  await until(page, () => document.querySelector(".row.text .meta"));
};
const pause = (page, ms) => page.evaluate((n) => new Promise((r) => setTimeout(r, n)), ms);
/** inside is the frame of an artifact. */
const inside = (page) => page.frames().find((f) => /\/frame\/(?:artifact|online)\.html/.test(f.url()));

/** tempted opens an answer that tries to reach another server, and returns the port of that: it was tried, and
 *  nothing arrived. Firefox tells of requests that its policy then refuses, so it is the server that counts. */
async function tempted(w, page, name) {
  const arrived = [];
  const elsewhere = createServer((req, res) => (arrived.push(req.url), res.end("here")));
  await new Promise((r) => elsewhere.listen(0, "127.0.0.1", r));
  const port = String(elsewhere.address().port);
  try {
    await ask(page, `${name} ${w.url} http://127.0.0.1:${port}`);
    await page.click("button.open");
    await until(page, () => document.querySelector(".pane iframe"));
    await pause(page, 1500);
    assert.deepEqual(arrived, []);
    assert.ok(page.trouble.some((t) => t.startsWith("policy") && t.includes(`127.0.0.1:${port}/`)), `it was not tried: ${page.trouble}`);
  } finally {
    elsewhere.close();
  }
  return port;
}

export const cases = [
  {
    name: "formulas are drawn and nothing of them is damaged before",
    async run(w, open) {
      const page = await begin(w, open);
      await ask(page, "formulas");
      await until(page, () => document.querySelectorAll(".md .katex").length >= 7);
      const text = await page.$eval(".row.text .md", (e) => e.innerText);
      assert.match(text, /costs \$5 and \$10, \$HOME\/\$USER/);
      assert.equal(await page.$$eval(".md em", (all) => all.map((e) => e.textContent).join()), "untouched");
      const tex = await page.$$eval(".math", (all) => all.map((e) => e.dataset.tex.trim()));
      assert.ok(tex.some((s) => s.includes("a & b \\\\ c & d")), tex.join("\n"));
      assert.equal(await page.$$eval(".math.display .katex-display", (l) => l.length), 2);
      assert.equal(await page.$$eval(".md math mtable", (l) => l.length), 2, "screen readers get MathML");
      assert.deepEqual(await axe(page), []);
    },
  },
  {
    name: "diagrams and charts are pictures, with their source behind a button",
    async run(w, open) {
      const page = await begin(w, open);
      await ask(page, "diagram");
      await until(page, () => document.querySelectorAll("img.drawn").length === 2, null, 60_000);
      const [w1, h1] = await page.$eval("img.drawn", (e) => [e.naturalWidth, e.naturalHeight]);
      assert.ok(w1 > 200 && h1 > 50, `${w1} x ${h1}`);
      assert.match(decodeURIComponent(await page.$eval("img.drawn", (e) => e.src)), /Allowed\?/);
      assert.equal(await page.isVisible("figure.code pre"), false);
      for (const [colorScheme, dark] of [["dark", 2], ["light", 0]]) {
        await page.emulateMedia({ colorScheme });
        await until(page, (n) => document.querySelectorAll("img.drawn").length === 2 && document.querySelectorAll("img.drawn.dark").length === n, dark, 60_000);
      }
      await page.click("text=Show source");
      assert.match(await page.$eval("figure.code pre", (e) => e.innerText), /flowchart LR/);
      await ask(page, "chart");
      await until(page, () => [...document.querySelectorAll("img.drawn")].some((e) => decodeURIComponent(e.src).includes("Rain")), null, 60_000);
      assert.deepEqual(await axe(page), []);
    },
  },
  {
    name: "what cannot be drawn says why and shows its source",
    async run(w, open) {
      const page = await begin(w, open);
      await ask(page, "broken");
      await until(page, () => document.querySelectorAll(".undrawn").length === 2, null, 60_000);
      assert.match(await page.textContent(".undrawn"), /could not be drawn: .*(?:Parse|Lexical|error|Expecting)/is);
      assert.match(await page.$eval("figure.code pre", (e) => e.innerText), /A\[\[\[/);
    },
  },
  {
    name: "a diagram that takes too long is given up, and the next one is drawn",
    async run(w, open) {
      const page = await begin(w, open);
      // A frame that never answers, as one that is stuck.
      await page.route("**/frame/diagram.html", (r) => r.fulfill({ contentType: "text/html", body: "<!doctype html><script>parent.postMessage({ ready: true }, '*')</script>" }));
      await ask(page, "diagram");
      await until(page, () => document.querySelector(".undrawn"), null, 60_000);
      assert.match(await page.textContent(".undrawn"), /takes too long/);
      await page.unroute("**/frame/diagram.html");
      await ask(page, "hebrew");
      await until(page, () => document.querySelector("img.drawn"), null, 60_000);
    },
  },
  {
    name: "notes, tasks, pictures in the text, and pictures from elsewhere only when asked for",
    async run(w, open) {
      const page = await begin(w, open);
      const asked = [];
      await page.route("https://pictures.example/**", (r) => {
        asked.push(r.request());
        return r.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="teal"/></svg>' });
      });
      await ask(page, "notes");
      await until(page, () => document.querySelector(".remote button"));
      assert.deepEqual(asked, []);
      assert.equal(await page.$$eval(".md .box", (l) => l.length), 2);
      await until(page, () => document.querySelector("img.inside")?.naturalWidth === 10);
      await page.click("button[data-noteref=zoo]");
      await until(page, () => document.activeElement?.dataset.note === "zoo");
      assert.match(await page.evaluate(() => document.activeElement.innerText), /a zoo in Perth/);
      assert.deepEqual(await axe(page), []);
      await page.click("text=Show from pictures.example");
      await until(page, () => document.querySelector("iframe.elsewhere.seen"));
      assert.equal(asked.length, 1);
      assert.ok(!("referer" in asked[0].headers()) && !("cookie" in asked[0].headers()));
      page.trouble = page.trouble.filter((t) => !t.includes("pictures.example"));
    },
  },
  {
    name: "a table is sorted by its heads and copied as CSV",
    async run(w, open) {
      const page = await begin(w, open, { permissions: ["clipboard-read", "clipboard-write"] });
      await ask(page, "notes");
      await until(page, () => document.querySelector(".sort"));
      const column = (n) => page.$$eval(`.md tbody td:nth-child(${n})`, (all) => all.map((e) => e.textContent));
      await page.click(".sort >> text=Price");
      assert.deepEqual(await column(3), ["$5", "$90", "$700", "$1,200"]);
      assert.equal(await page.$eval("th:nth-child(3)", (e) => e.getAttribute("aria-sort")), "ascending");
      await page.click(".sort >> text=Price");
      assert.deepEqual(await column(3), ["$1,200", "$700", "$90", "$5"]);
      await page.click(".sort >> text=Price");
      assert.deepEqual(await column(2), ["3.1", "0.6", "15", "2"]);
      await page.click(".sort >> text=Animal");
      await page.click("text=Copy as CSV");
      await until(page, () => document.querySelector(".csv").textContent === "Copied");
      const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split(/\r?\n/);
      assert.deepEqual(lines.slice(0, 2), ["Animal,Weight,Price", `"'=HYPERLINK(""https://evil.example"")",2,$5`]);
      assert.ok(lines.includes(`"Dingo, wild",15,$700`));
    },
  },
  {
    name: "what stands in the conversation can be pressed while it scrolls",
    async run(w, open) {
      const page = await begin(w, open, { height: 500 });
      await ask(page, "notes");
      await until(page, () => document.querySelector(".sort"));
      const hit = await page.evaluate(async () => {
        const log = document.querySelector("[role=log]");
        const frame = () => new Promise((r) => requestAnimationFrame(r));
        const middle = (e) => (({ x, y, width, height }) => [x + width / 2, y + height / 2])(e.getBoundingClientRect());
        const scrolled = new Promise((r) => log.addEventListener("scroll", r, { once: true }));
        const head = document.querySelector(".sort");
        head.scrollIntoView({ block: "center", behavior: "instant" });
        await scrolled;
        await frame();
        return document.elementFromPoint(...middle(head)) === head;
      });
      assert.ok(hit);
    },
  },
  {
    name: "an artifact opens beside the chat, works, has its versions and its source, and is kept",
    async run(w, open) {
      const page = await begin(w, open);
      await ask(page, "page1");
      await page.click("button.open");
      await until(page, () => document.querySelector(".pane iframe"));
      await until(page, () => document.querySelector(".pane h2").textContent === "Counter");
      await until(page, () => document.activeElement?.getAttribute("aria-label") === "Close");
      const frame = page.frameLocator(".pane iframe");
      await frame.locator("button").click();
      await frame.locator("text=/^1$/").waitFor();
      assert.deepEqual(await axe(page), []);
      await ask(page, "page2");
      await until(page, () => document.querySelector(".versions")?.innerText.includes("1/2"));
      await page.click("[aria-label='Newer version']");
      await frame.locator("text=Count down").waitFor();
      await page.click(".pane >> text=Source");
      assert.match(await page.textContent(".pane pre"), /textContent--/);
      const [file] = await Promise.all([page.waitForEvent("download"), page.click(".pane >> text=Download")]);
      assert.equal(file.suggestedFilename(), "Counter.html");
      // Kept with the assistant's files, once, and another one beside it.
      const lies = join(w.home, "Hearth/artifacts/Counter.html");
      for (let i = 0; i < 2; i++) {
        await page.click(".pane >> text=Save to workspace");
        await until(page, () => /Saved: .*Counter\.html$/.test(document.querySelector(".toasts")?.innerText.trim() ?? ""));
      }
      await picture(page, "artifact-saved");
      assert.match(readFileSync(lies, "utf8"), /textContent--/);
      await page.click("[aria-label='Older version']");
      await page.click(".pane >> text=Save to workspace");
      await eventually("the other file", () => existsSync(join(w.home, "Hearth/artifacts/Counter-2.html")));
      assert.match(readFileSync(join(w.home, "Hearth/artifacts/Counter-2.html"), "utf8"), /textContent\+\+/);
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector(".pane"));
      for (const name of ["svg", "text"]) {
        await ask(page, name);
        await page.locator("button.open").last().click();
        if (name === "svg") await page.frameLocator(".pane iframe").locator("circle").waitFor();
        else await until(page, () => document.querySelector(".pane .katex"));
        await page.keyboard.press("Escape");
      }
      await page.setViewportSize({ width: 360, height: 740 });
      await page.locator("button.open").last().click();
      await until(page, () => document.querySelector(".pane")?.getBoundingClientRect().width === 360);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    },
  },
  {
    name: "A-UI-20 an artifact reaches neither page, gateway, network nor clipboard",
    async run(w, open) {
      // Where workers are blocked, the driver puts its own answer to register() into every frame, in Firefox those of artifacts too.
      const page = await begin(w, open, { permissions: ["clipboard-read"], serviceWorkers: "allow" });
      const arrived = [];
      await page.route("https://evil.example/**", (r) => (arrived.push(r.request().url()), r.abort()));
      await ask(page, `spy ${w.url}`);
      await page.click("button.open");
      await page.frameLocator(".pane iframe").locator("text=/^GOT\\[/").waitFor({ timeout: 30_000 });
      assert.equal(await inside(page).evaluate(() => document.body.textContent), "GOT[]");
      // With a click inside it has what browsers give to a press: still no way out.
      await page.frameLocator(".pane iframe").locator("body").click();
      await page.fill("#composer", "mine");
      await page.press("#composer", "Control+a");
      await page.press("#composer", "Control+x");
      await inside(page).evaluate(() => {
        window.tried = [];
        document.body.innerHTML = '<textarea style="position:fixed;inset:0;width:100%;height:100%">evil</textarea>';
        const area = document.querySelector("textarea");
        addEventListener("copy", (e) => (e.clipboardData.setData("text/plain", "evil"), e.preventDefault()));
        // By the press itself, while the browser still takes what is done for the person's wish.
        area.onclick = async () => {
          area.select();
          let open = null;
          try {
            open = window.open("https://evil.example/popup");
          } catch {
            // Firefox throws where others give nothing.
          }
          window.tried.push(open === null);
          for (const word of ["copy", "cut", "Copy", { toString: () => "copy" }]) window.tried.push(document.execCommand(word));
          window.tried.push(Document.prototype.execCommand.call(document, "copy"));
          window.tried.push(await navigator.clipboard.writeText("evil").then(() => true, () => false));
        };
      });
      await page.frameLocator(".pane iframe").locator("textarea").click();
      await until(inside(page), () => window.tried.length === 7);
      assert.deepEqual(await inside(page).evaluate(() => window.tried), [true, false, false, false, false, false, false]);
      await page.click("#composer");
      await page.press("#composer", "Control+v");
      assert.equal(await page.inputValue("#composer"), "mine", "what was copied is another's");
      assert.equal(new URL(page.url()).origin, w.url);
      assert.deepEqual(arrived, []);
      assert.deepEqual(page.trouble.filter((t) => !t.startsWith("policy:") && !/^request: (?:https:\/\/evil|ws:)/.test(t)), []);
      assert.ok(!page.trouble.some((t) => t.startsWith("dialog")));
      page.trouble.length = 0; // what was refused is reported, as it should be
    },
  },
  {
    name: "A-UI-20 an artifact cannot lead its frame to another place, and what it posts moves nothing",
    async run(w, open) {
      const page = await begin(w, open);
      const port = await tempted(w, page, "leave");
      for (const f of page.frames().slice(1)) assert.ok(!f.url().includes(port) && !(await f.$("#app").catch(() => null)), f.url());
      page.trouble.length = 0;
    },
  },
  {
    name: "A-UI-20 the network is for one artifact, after a click that says so",
    async run(w, open) {
      const page = await begin(w, open, { serviceWorkers: "allow" }); // as above
      const arrived = [];
      await page.route("https://evil.example/**", (r) => (arrived.push(r.request().url()), r.fulfill({ headers: { "access-control-allow-origin": "*" }, body: "{}" })));
      await ask(page, `spy ${w.url}`);
      await page.click("button.open");
      await page.frameLocator(".pane iframe").locator("text=/^GOT\\[\\]/").waitFor();
      assert.deepEqual(arrived, []);
      await page.click("text=Let it use the internet");
      await page.frameLocator(".pane iframe").locator("text=/fetch away/").waitFor();
      const got = await inside(page).evaluate(() => document.body.textContent);
      for (const no of ["gateway", "parent", "storage", "cookie", "socket", "popup", "clipboard", "top"]) assert.ok(!got.includes(no), got);
      await page.click("text=Cut it off");
      await page.frameLocator(".pane iframe").locator("text=/^GOT\\[\\]/").waitFor();
      page.trouble.length = 0;
    },
  },
  {
    name: "A-UI-21 hostile SVG, diagrams, charts, formulas and pictures stay where they are",
    async run(w, open) {
      const page = await begin(w, open);
      const arrived = [];
      await page.route(/evil\.example|192\.168|localhost\/x/, (r) => (arrived.push(r.request().url()), r.abort()));
      await tempted(w, page, "bad svg");
      await page.keyboard.press("Escape");
      for (const name of ["bad mermaid", "bad chart"]) {
        await ask(page, name);
        await until(page, () => [...document.querySelectorAll("figure.code")].filter((f) => f.querySelector("code[data-lang=mermaid], code[data-lang=vega-lite]")).every((f) => /done|failed/.test(f.dataset.drawing ?? "")), null, 60_000);
      }
      // Its answer is so long that the question may be out of sight.
      await say(page, "bad bombs");
      await until(page, () => [...document.querySelectorAll(".row.text .md")].at(-1)?.innerText.includes("after the bombs"));
      await until(page, () => document.querySelectorAll(".math.unread").length >= 2);
      assert.equal(await page.$("#app #app"), null);
      assert.equal(await page.$(".math a, .math img"), null);
      assert.ok(await page.evaluate(() => [...document.querySelectorAll(".math .katex")].every((e) => e.getBoundingClientRect().height < 600)));
      await ask(page, "bad data");
      await until(page, () => document.querySelector("img.inside"));
      assert.equal(await page.$$eval("img.inside", (l) => l.length), 1);
      assert.equal(await page.$(".remote button"), null, "no picture is a reason to call a neighbour");
      await pause(page, 500);
      assert.deepEqual(arrived, []);
      // What stands in a frame may try, and is told so in the words of its browser.
      assert.deepEqual(page.trouble.filter((t) => t.startsWith("dialog") || (t.startsWith("error") && !/origin "null"|on cross-origin object/.test(t))), []);
      assert.notEqual(await page.title(), "out");
      page.trouble.length = 0;
    },
  },
  {
    name: "steps that are over fold to one line, with their files and time",
    async run(w, open) {
      const page = await open();
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      await pick(page, "hands");
      const calls = JSON.stringify([{ name: "session_status", args: {} }, { name: "sessions_list", args: {} }, { name: "session_status", args: {} }]);
      await say(page, calls);
      await until(page, () => document.querySelector(".row.text .meta"));
      await until(page, () => /3 steps/.test(document.querySelector("details.steps summary")?.innerText ?? ""));
      assert.equal(await page.$("details.done"), null);
      await page.click("details.steps summary");
      await until(page, () => document.querySelectorAll("details.done").length === 3);
      assert.deepEqual(await axe(page), []);
    },
  },
];
