// What the page must never do, whatever a message, a link or an address says.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { answered, axe, pick, ready, say, text, until } from "./harness.mjs";
import { address, hearth, reachable } from "./phone.mjs";
import { hostile } from "./texts.mjs";

const fresh = async (open, o) => {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return page;
};

/** innocent checks the whole document, whatever is in it. */
const innocent = (page) =>
  page.evaluate(() => {
    const bad = [];
    for (const e of document.querySelectorAll("script:not([src^='/assets/']), iframe, object, embed, form:not(main form), base, meta[http-equiv], img, link:not([rel=stylesheet], [rel=icon], [rel=modulepreload], [rel=manifest][href='/manifest.webmanifest'])"))
      bad.push(e.outerHTML.slice(0, 120));
    for (const e of document.querySelectorAll("*")) for (const a of e.attributes) if (/^on/i.test(a.name)) bad.push(e.outerHTML.slice(0, 120));
    for (const a of document.querySelectorAll("a[href]")) if (!/^(https?:|mailto:)/.test(a.href)) bad.push(a.outerHTML.slice(0, 120));
    return bad;
  });

/** asking is another machine that asks to be let in, without a code. */
function asking(w, name) {
  const c = spawn(w.bin, ["connect", `${address()}:${w.port}`, "--name", name], { env: { ...w.env, HEARTH_HOME: join(w.home, name) } });
  const out = { said: "", code: null };
  for (const s of [c.stdout, c.stderr]) s.on("data", (d) => (out.said += d));
  out.over = new Promise((done) => c.on("exit", (code) => done((out.code = code))));
  c.stdin.end("y\n");
  return out;
}

export const cases = [
  {
    name: "A-PAIR-06 a device that asks is compared, let in, or turned away",
    async run(w, open) {
      const page = await fresh(open);
      await reachable(w);
      const digits = (p) => p.$eval("section code", (e) => e.textContent.trim());
      const machine = asking(w, "workbench");
      await until(page, () => document.querySelector("section code"));
      assert.match(await digits(page), /^\d{3} \d{3}$/);
      assert.ok(machine.said.includes(await digits(page)), machine.said);
      assert.deepEqual(await axe(page), []);
      await page.click("text=Same digits: let it in");
      assert.equal(await machine.over, 0, machine.said);
      await until(page, () => !document.querySelector("section code"));
      const [row] = JSON.parse(hearth(w, "devices", "--json")).paired.filter((d) => d.approvedVia === "owner");
      assert.ok(row && !row.scopes.includes("operator.admin"), JSON.stringify(row));

      const other = asking(w, "somebody");
      await until(page, () => document.querySelector("section code"));
      await page.setViewportSize({ width: 360, height: 740 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.click("text=Other digits");
      assert.notEqual(await other.over, 0);
      assert.match(other.said, /said no/);
      hearth(w, "devices", "remove", row.deviceId);
      hearth(w, "config", "set", "gateway.bind", "loopback");
    },
  },
  {
    name: "A-UI-02 hostile Markdown in questions, answers, names and tools stays words",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "hostile");
      for (let i = 0; i < hostile.length; i++) {
        await say(page, `number ${i}`);
        if (i % 12 === 11) {
          await answered(page, `number ${i}`);
          assert.deepEqual(await innocent(page), []);
        }
      }
      await answered(page, `number ${hostile.length - 1}`);
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      await pick(page, "echo");
      for (const h of hostile.slice(0, 14)) await say(page, h);
      await answered(page, hostile[13]);
      assert.deepEqual(await innocent(page), []);
      for (const name of ["<img src=x onerror=alert(1)>", "\u202Eevil", "</script><script>alert(1)</script>"]) {
        await page.click("header [aria-label='Chat menu']");
        await page.click("role=menuitem[name='Rename']");
        await page.fill("input.name", name);
        await page.keyboard.press("Enter");
        await until(page, (n) => document.querySelector("h1").textContent === n.replace("\u202E", ""), name);
      }
      assert.deepEqual(await innocent(page), []);
      await page.reload();
      await answered(page, hostile[13]);
      assert.deepEqual(await innocent(page), []);
    },
  },
  {
    name: "A-UI-02 hostile Markdown that comes in small pieces stays words",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "hostile-slow");
      await say(page, "all of it");
      await until(page, () => document.querySelector(".row.text .meta"), null, 30_000);
      assert.deepEqual(await innocent(page), []);
    },
  },
  {
    name: "A-UI-03 a link whose words name another site asks before it opens",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "hostile");
      const i = hostile.findIndex((h) => h.startsWith("[https://bank"));
      await say(page, `number ${i}`);
      await answered(page, `number ${i}`);
      await page.click(".md a");
      await until(page, () => document.querySelector("dialog[open]"));
      assert.match(await page.textContent("dialog"), /evil\.example/);
      assert.equal(page.context().pages().length, 1);
      await page.click("dialog >> text=Cancel");
      assert.match(await text(page), /evil\.example/);
    },
  },
  {
    name: "A-WEB-04 an address cannot bring a gateway or a token",
    async run(w, open) {
      for (const tail of ["?gatewayUrl=wss://sink.example/&token=abc", "#token=abcdefgh", "#gatewayUrl=wss://sink.example", "?session=javascript:alert(1)", "#/chat/javascript:alert(1)"]) {
        const page = await open({ link: w.url + "/" + tail });
        await until(page, () => document.querySelector("#code"));
        const kept = await page.evaluate(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
        assert.doesNotMatch(kept, /abc|sink/, tail);
      }
    },
  },
  {
    name: "A-WEB-10 a launch link works once, leaves no trace, and a new one lets the browser in",
    async run(w, open) {
      const link = w.newLink();
      const first = await open({ link });
      await ready(first);
      assert.doesNotMatch(first.url(), /launch/);
      const code = link.split("#launch=")[1];
      const traces = await first.evaluate(async () => {
        const db = await new Promise((r) => ((q) => (q.onsuccess = () => r(q.result)))(indexedDB.open("hearth")));
        const all = await Promise.all([...db.objectStoreNames].map((s) => new Promise((r) => ((q) => (q.onsuccess = () => r(q.result)))(db.transaction(s).objectStore(s).getAll()))));
        const keys = all.flat().filter((v) => v?.privateKey);
        return { text: JSON.stringify([all, { ...localStorage }, { ...sessionStorage }, document.cookie, history.length]), extractable: keys.map((k) => k.privateKey.extractable) };
      });
      assert.ok(!traces.text.includes(code));
      assert.deepEqual(traces.extractable, [false]);
      await first.reload();
      await ready(first);
      const second = await open({ link });
      await until(second, () => document.querySelector("#code"));
      assert.match(await second.textContent("[role=alert]"), /used before|expired/);
      await second.fill("#code", "not a link at all!");
      await second.click("button:has-text('Connect')");
      assert.match(await second.textContent("[role=alert]"), /does not look like/);
      await second.fill("#code", w.newLink());
      await second.click("button:has-text('Connect')");
      await ready(second);
    },
  },
  {
    name: "A-WEB-08 one service worker for the page alone, no cookie, and nothing kept but the page itself",
    async run(w, open) {
      const page = await open({ serviceWorkers: "allow" });
      await ready(page);
      await say(page, "a word for nobody else");
      await answered(page, "a word for nobody else");
      for (let n = 0; n < 400 && (await page.evaluate(async () => (await caches.keys()).length)) < 2; n++) await page.waitForTimeout(50);
      const [scopes, kept, cookie] = await page.evaluate(async () => [
        (await navigator.serviceWorker.getRegistrations()).map((r) => new URL(r.scope).pathname),
        (await Promise.all((await caches.keys()).map(async (k) => (await (await caches.open(k)).keys()).map((r) => new URL(r.url).pathname)))).flat(),
        document.cookie,
      ]);
      assert.deepEqual([scopes, cookie], [["/"], ""]);
      const others = kept.filter((p) => p !== "/" && p !== "/words" && !/^\/assets\/[\w.-]+$/.test(p));
      assert.deepEqual(others, []);
      assert.ok(kept.includes("/") && kept.length > 3, kept.join());
      const text = await page.evaluate(async () => (await (await caches.match("/")).text()) + (await (await caches.match("/words")).text()));
      assert.ok(!text.includes("nobody else") && text.includes("There is news."));
    },
  },
  {
    name: "A-UI-02 the policy is on: markup from a string is refused",
    async run(w, open) {
      const page = await open();
      await ready(page);
      const refused = await page.evaluate(() => {
        try {
          document.createElement("div").innerHTML = "<b>x</b>";
          return false;
        } catch {
          return true;
        }
      });
      assert.equal(refused, true);
      page.trouble.length = 0; // the refusal is reported, as it should be
    },
  },
  {
    name: "A-UI-10 pasted markup becomes plain words",
    async run(w, open) {
      const page = await fresh(open);
      await page.focus("#composer");
      await page.evaluate(() => {
        const data = new DataTransfer();
        data.setData("text/html", "<b onclick=alert(1)>bold</b><img src=x onerror=alert(1)>");
        data.setData("text/plain", "bold");
        document.querySelector("#composer").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      });
      assert.equal(await page.$$eval("#composer *", (all) => all.length), 0);
    },
  },
];
