// Messages: sent once, answered once, visible all the time, whatever breaks.
import assert from "node:assert/strict";
import { answered, axe, pick, ready, say, says, states, text, until } from "./harness.mjs";

// Tall, so that the list keeps every message of a test in the page.
const height = 1600;

const fresh = async (open, o) => {
  const page = await open({ height, ...o });
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return page;
};

/** cut makes a socket route that can drop connections and events. */
async function cuttable(w, open, spoil = (m) => [m]) {
  const live = new Set();
  const page = await open({
    height,
    before: (p) =>
      p.routeWebSocket(/.*/, (ws) => {
        const server = ws.connectToServer();
        live.add(ws);
        ws.onMessage((m) => server.send(m));
        server.onMessage((m) => spoil(m).forEach((x) => ws.send(x)));
        server.onClose(() => (live.delete(ws), ws.close()));
        ws.onClose(() => (live.delete(ws), server.close()));
      }),
  });
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return { page, cut: async () => Promise.all([...live].map((ws) => ws.close({ code: 1001 }))) };
}

/** flatAtFirst measures as WebKit does while a style sheet loads: what is new in the list has no height at first. */
function flatAtFirst() {
  window.flat = 0;
  let since = 0;
  window.ResizeObserver = class extends ResizeObserver {
    constructor(cb) {
      const told = new WeakSet();
      super((entries, self) => {
        const now = entries.map((e) => {
          if (told.has(e.target) || !e.target.querySelector(":scope > .row")) return e;
          since ||= performance.now();
          if (performance.now() - since > 500) return e;
          told.add(e.target);
          window.flat++;
          // The true size comes later, for what is still in the page then.
          setTimeout(() => e.target.isConnected && (self.unobserve(e.target), self.observe(e.target)), 300);
          return { target: e.target, contentRect: { width: e.contentRect.width, height: 0 } };
        });
        cb(now, self);
      });
    }
  };
}

const words = (n) => Array.from({ length: n }, (_, i) => `w${i + 1}`).join(" ");

export const cases = [
  {
    name: "a message is answered, word by word",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "stream-40-50");
      await say(page, "first");
      await until(page, () => /\bw3\b/.test(document.querySelector(".md")?.textContent ?? "") && !/w40/.test(document.querySelector(".md").textContent));
      assert.deepEqual(await states(page), [["first", "answering"]]);
      await answered(page, "first");
      await says(page, "re: first\n" + words(40));
      await page.reload();
      await answered(page, "first");
      await says(page, "re: first\n" + words(40));
      assert.equal(await page.title(), "first · Hearth");
    },
  },
  {
    name: "rows that have no height at first are drawn all the same",
    async run(w, open) {
      const page = await open({ before: (p) => p.addInitScript(flatAtFirst) });
      await ready(page);
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      for (const again of [false, true]) {
        if (again) await page.reload();
        else await say(page, "flat");
        await answered(page, "flat");
        await says(page, "echo: flat");
        // Each in its place and to be seen, once they were measured.
        await until(page, () => {
          const rows = [...document.querySelectorAll("[role=log] .row")].map((r) => [r.getBoundingClientRect(), r.parentElement.style.visibility]);
          return rows.length > 2 && rows.every(([r, v], i) => v !== "hidden" && (i === 0 || r.top >= rows[i - 1][0].bottom - 1));
        });
        assert.ok((await page.evaluate(() => window.flat)) > 2);
      }
    },
  },
  {
    name: "nothing is drawn anew when an answer ends",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "rich");
      await page.evaluate(() => {
        window.gone = [];
        new MutationObserver((all) =>
          all.forEach((m) => m.removedNodes.forEach((n) => n.nodeType === 1 && n.matches(".block-host, .row.text") && window.gone.push(n.textContent.slice(0, 40)))),
        ).observe(document.body, { childList: true, subtree: true });
      });
      await say(page, "plan");
      await until(page, () => document.querySelector(".row.text .meta"));
      assert.deepEqual(await page.evaluate(() => window.gone), []);
    },
  },
  {
    name: "messages written during an answer wait and are answered in order",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "stream-40-50");
      for (const m of ["one", "two", "three"]) await say(page, m);
      await answered(page, "one", "answering");
      await answered(page, "two", "accepted");
      await answered(page, "three");
      assert.deepEqual(await states(page), [["one", "answered"], ["two", "answered"], ["three", "answered"]]);
      const order = await page.$$eval(".bubble, .md", (all) => all.map((e) => e.textContent.split("w1 ")[0]));
      assert.deepEqual(order, ["one", "re: one", "two", "re: two", "three", "re: three"]);
    },
  },
  {
    name: "the gateway is killed: what was written meanwhile is sent once, in order",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "before");
      await answered(page, "before");
      await w.killGateway();
      await until(page, () => document.querySelector(".banner.link"));
      for (const m of ["a", "b", "c"]) await say(page, m);
      await answered(page, "c", "waiting");
      assert.match(await page.textContent("#composer-hint"), /kept and sent/);
      await w.startGateway();
      for (const m of ["a", "b", "c"]) await answered(page, m);
      await until(page, () => !document.querySelector(".banner.link"));
      const want = [["before", "answered"], ["a", "answered"], ["b", "answered"], ["c", "answered"]];
      assert.deepEqual(await states(page), want);
      await page.reload();
      await answered(page, "c");
      assert.deepEqual(await states(page), want);
    },
  },
  {
    name: "the tab is closed while the gateway is away: the next visit sends what was written",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "x");
      await answered(page, "x");
      const url = page.url();
      await w.killGateway();
      await until(page, () => document.querySelector(".banner.link"));
      await say(page, "unsent");
      await answered(page, "unsent", "waiting");
      await page.close();
      await w.startGateway();
      const next = await page.context().newPage();
      await next.goto(url);
      await answered(next, "x");
      await answered(next, "unsent");
      assert.deepEqual(await states(next), [["x", "answered"], ["unsent", "answered"]]);
    },
  },
  {
    name: "the page is reloaded right after Enter: the message is sent, once, and is no draft any more",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "before");
      await answered(page, "before");
      for (const words of ["in a hurry", "in a hurry too"]) {
        await page.fill("#composer", words);
        const loaded = page.waitForEvent("load");
        await page.evaluate(() => {
          document.querySelector("#composer").form.requestSubmit();
          location.reload();
        });
        await loaded;
        await ready(page);
        await answered(page, words);
        assert.equal(await page.inputValue("#composer"), "");
      }
      await page.reload();
      await answered(page, "in a hurry too");
      assert.deepEqual(await states(page), ["before", "in a hurry", "in a hurry too"].map((t) => [t, "answered"]));
    },
  },
  {
    name: "the gateway is killed in the middle of an answer: the part that came is kept and marked",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "stream-400-20");
      await say(page, "long");
      await until(page, () => /w80 /.test(document.querySelector(".md")?.textContent ?? ""));
      await w.killGateway();
      await w.startGateway();
      await answered(page, "long", "interrupted");
      const kept = await text(page);
      assert.ok(kept.startsWith("re: long\nw1 w2 w3"), kept.slice(0, 60));
      assert.equal(await page.$$eval(".bubble", (all) => all.length), 1);
      await page.click("text=Ask again");
      await until(page, () => document.querySelectorAll(".bubble").length === 2);
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "the connection breaks three times in the middle of an answer: no word is missing or doubled",
    async run(w, open) {
      const { page, cut } = await cuttable(w, open);
      await pick(page, "stream-400-20");
      await say(page, "long");
      for (const n of [30, 90, 150]) {
        await until(page, (k) => new RegExp(`w${k} `).test(document.querySelector(".md")?.textContent ?? ""), n);
        await cut();
      }
      await answered(page, "long");
      await says(page, "re: long\n" + words(400));
    },
  },
  {
    name: "F-WS-02 events are dropped and doubled: the page ends up with what the gateway has",
    async run(w, open) {
      let n = 0;
      const spoil = (m) => {
        if (!String(m).includes('"type":"event"')) return [m];
        n++;
        return n % 7 === 0 ? [] : n % 5 === 0 ? [m, m] : [m];
      };
      const { page } = await cuttable(w, open, spoil);
      await pick(page, "stream-40-50");
      for (const m of ["one", "two"]) {
        await say(page, m);
        await answered(page, m, "answered");
      }
      await says(page, "re: two\n" + words(40));
      assert.deepEqual(await states(page), [["one", "answered"], ["two", "answered"]]);
    },
  },
  {
    name: "F-WS-02 the end of an answer is dropped: the next event shows the gap",
    async run(w, open) {
      const { page } = await cuttable(w, open, (m) => (/"state":"final"|"event":"session.message"/.test(m) ? [] : [m]));
      await pick(page, "echo");
      await say(page, "lost end");
      const began = performance.now();
      await answered(page, "lost end");
      assert.ok(performance.now() - began < 25_000);
      await says(page, "echo: lost end");
    },
  },
  {
    name: "F-WS-10 the end of an answer is never heard of: the page asks",
    async run(w, open) {
      let deaf = false;
      const spoil = (m) => {
        if (/"state":"final"/.test(m)) deaf = true;
        return deaf && String(m).includes('"type":"event"') ? [] : [m];
      };
      const { page } = await cuttable(w, open, spoil);
      await pick(page, "stream-40-50");
      await say(page, "quiet");
      const began = performance.now();
      await answered(page, "quiet", "answered", 40_000);
      assert.ok(performance.now() - began < 30_000);
    },
  },
  {
    name: "stop: by the button and by Escape, what came stays",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "slow");
      await say(page, "one");
      await until(page, () => /word5 /.test(document.querySelector(".md")?.textContent ?? ""));
      await page.click("button[aria-label=Stop]");
      await answered(page, "one", "aborted");
      assert.match(await text(page), /^word0 word1 word2/);
      await say(page, "two");
      await until(page, () => document.querySelectorAll(".md").length === 2);
      await page.keyboard.press("Escape");
      await answered(page, "two", "aborted");
    },
  },
  {
    name: "how much the model has to read stands beside the field, and how long it thinks is chosen there",
    async run(w, open) {
      for (const o of [{ scheme: "light" }, { scheme: "dark", width: 360 }]) {
        const page = await fresh(open, o);
        assert.equal(await page.locator("form .ring").count(), 0, "there is nothing to tell of a chat that has not begun");
        await say(page, "hello");
        await answered(page, "hello");
        await page.click("form .ring");
        assert.match(await page.textContent("form [role=menu] p"), /^\d+ % of what the model reads at once is used: [\d,]+ of [\d,]+ tokens\.$/);
        assert.deepEqual(await axe(page), []);
        for (const level of ["High", "As usual"]) {
          await page.click(`form [role=menuitemradio] >> text=${level}`);
          const isChosen = async () => {
            await page.click("form .ring");
            await page.waitForSelector(`form [role=menuitemradio][aria-checked=true]:has-text('${level}')`);
          };
          await isChosen(); // once the gateway has taken it, before which a reload may lose it
          await page.reload();
          await isChosen();
        }
      }
    },
  },
  {
    name: "a failed message says why, and can be sent again or edited",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "fault-401");
      await say(page, "please");
      await answered(page, "please", "failed");
      assert.match(await page.textContent(".card.failed"), /key/i);
      // What repairs it is one press away.
      await page.click(".card.failed >> text=Pick another model");
      await until(page, () => document.querySelector("[role=menuitemradio]"));
      await page.keyboard.press("Escape");
      await page.click(".card.failed >> text=Add a key");
      await until(page, () => /Models/.test(document.querySelector("dialog section h2")?.innerText ?? ""));
      await page.keyboard.press("Escape");
      await page.click(".card.failed >> text=Edit");
      assert.equal(await page.inputValue("#composer"), "please");
      await page.fill("#composer", "");
      await pick(page, "echo");
      await page.dblclick(".card.failed >> text=Send again"); // it goes once
      await answered(page, "please", "answered");
      await say(page, "thanks");
      await answered(page, "thanks");
      assert.deepEqual(await states(page), [["please", "failed"], ["please", "answered"], ["thanks", "answered"]]);
    },
  },
  {
    name: "a stream that breaks off is failed and keeps its words",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "fault-cut-5");
      await say(page, "cut");
      // Some of the answer is there: it is not said that none came.
      const told = async () => {
        await answered(page, "cut", "failed");
        await until(page, () => document.querySelector(".card.failed .what")?.textContent === "The answer was interrupted.");
        assert.match(await page.innerText(".row.user .meta .state"), /^Interrupted$/);
      };
      await told();
      await page.reload();
      await told();
    },
  },
  {
    name: "a tool is shown while it runs and after",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "tool-session_status");
      await say(page, "look");
      await answered(page, "look");
      await until(page, () => document.querySelector("details.done .verb")?.textContent === "Look at this chat");
      await page.click("details summary");
      assert.match(await page.textContent("details pre"), /session/);
      await page.reload();
      await answered(page, "look");
      await until(page, () => document.querySelectorAll("details.done").length === 1);
      await until(page, () => document.querySelector(".md")?.textContent.startsWith("The tool said"));
    },
  },
  {
    name: "two windows show the same conversation",
    async run(w, open) {
      const one = await fresh(open);
      await say(one, "from one");
      await answered(one, "from one");
      const two = await open({ height });
      await ready(two);
      await two.goto(one.url());
      await answered(two, "from one");
      await say(two, "from two");
      await answered(one, "from two");
      await answered(two, "from two");
      assert.deepEqual((await states(one)).map(([t]) => t), ["from one", "from two"]);
      await say(one, "again");
      await answered(two, "again");
      await says(two, "echo: again");
    },
  },
];
