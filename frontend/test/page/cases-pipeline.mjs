// Commands, waiting messages, search and why, as a person uses them.
import assert from "node:assert/strict";
import { answered, axe, eventually, pick, ready, say, states, text, until } from "./harness.mjs";

const height = 1200;

const fresh = async (open, o) => {
  const page = await open({ height, ...o });
  await ready(page);
  await until(page, () => document.querySelector("nav .find, header button[aria-label='Show chats']"));
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return page;
};

const options = (page) => page.$$eval("#suggest [role=option] .name", (all) => all.map((e) => e.textContent));
const suggests = (page, first) => until(page, (f) => document.querySelector("#suggest .name")?.textContent === f, first);
const noList = (page) => until(page, () => !document.querySelector("#suggest"));
const waiting = (page) => page.$$eval("section[aria-label='Waiting messages'] .bubble", (all) => all.map((e) => e.textContent));
const waits = (page, texts) =>
  until(page, (want) => [...document.querySelectorAll("section[aria-label='Waiting messages'] .bubble")].map((e) => e.textContent).join("|") === want, texts.join("|"));
const clean = async (page, what) => assert.deepEqual(await axe(page), [], what);

/** networked answers for a gateway that has Telegram, with people and answers that wait. */
export async function networked(page) {
  const now = Date.now();
  const state = {
    asked: [],
    requests: [{ channel: "telegram", account: "default", id: "7", name: "Anna \u202e Petrova", handle: "anna", code: "KX4TQ2PW", askedAt: now, expiresAt: now + 3_600_000 }],
    deliveries: [
      { id: "d1", channel: "telegram", account: "default", conversation: "Family", state: "failed", reason: "Telegram says: the bot was removed from the group.", text: "Dinner is at seven.", sent: 0, parts: 1, createdAt: now },
      { id: "d2", channel: "telegram", account: "default", conversation: "Anna", state: "uncertain", reason: "The connection broke after the message had been handed over.", text: "Yes, the train leaves at 8:40 from platform 3.", sent: 1, parts: 2, createdAt: now },
      { id: "d3", channel: "telegram", account: "default", conversation: "Anna", state: "waiting", text: "One moment.", sent: 0, parts: 1, createdAt: now, nextAt: now + 60_000 },
    ],
  };
  const answers = {
    "channels.status": () => ({ ts: now, channelOrder: ["telegram"], channelLabels: { telegram: "Telegram" }, channels: {}, channelAccounts: {}, channelDefaultAccountId: {} }),
    "hearth.contacts.list": () => ({ contacts: [], requests: state.requests }),
    "hearth.deliveries.list": () => ({ deliveries: state.deliveries }),
    "hearth.contacts.resolve": (p) => ((state.requests = state.requests.filter((r) => r.code !== p.code)), { ok: true }),
    "hearth.deliveries.resolve": (p) => ((state.deliveries = state.deliveries.filter((d) => d.id !== p.id)), { ok: true }),
  };
  await page.routeWebSocket(/.*/, (ws) => {
    const server = ws.connectToServer();
    ws.onMessage((m) => {
      const f = JSON.parse(m);
      const answer = f.type === "req" && answers[f.method];
      if (!answer) return server.send(m);
      state.asked.push([f.method, f.params]);
      ws.send(JSON.stringify({ type: "res", id: f.id, ok: true, payload: answer(f.params) }));
    });
    server.onMessage((m) => {
      const f = JSON.parse(m);
      const list = f.payload?.sessions;
      if (Array.isArray(list) && list[0]) list[0].origin = { provider: "telegram", label: "Anna Petrova" };
      ws.send(Array.isArray(list) ? JSON.stringify(f) : m);
    });
  });
  return state;
}

export const cases = [
  {
    name: "slash commands are completed with keys, and their choices too",
    async run(w, open) {
      const page = await fresh(open);
      const box = page.locator("#composer");
      await box.pressSequentially("/");
      await suggests(page, "/help");
      assert.equal(await box.getAttribute("aria-activedescendant"), await page.getAttribute("#suggest [aria-selected=true]", "id"));
      await clean(page, "list of commands");
      await page.keyboard.press("ArrowDown");
      assert.equal(await page.textContent("#suggest [aria-selected=true] .name"), await page.textContent("#suggest li:nth-child(2) .name"));
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      assert.equal(await page.getAttribute("#suggest li:last-child", "aria-selected"), "true");
      await box.pressSequentially("thi");
      assert.deepEqual(await options(page), ["/think"]);
      await page.keyboard.press("Tab");
      assert.equal(await box.inputValue(), "/think ");
      await suggests(page, "off");
      assert.deepEqual(await options(page), ["off", "low", "medium", "high"]);
      await box.pressSequentially("h");
      await page.keyboard.press("Enter");
      assert.equal(await box.inputValue(), "/think high");
      await noList(page);
      await page.keyboard.press("Enter");
      await answered(page, "/think high");
      await until(page, () => /high/.test(document.querySelector(".reply")?.textContent ?? ""));
      // A command is no answer of Hearth: a quiet card, a small message.
      assert.equal(await page.$$eval(".row.text", (all) => all.length), 0);
      assert.equal(await page.$$eval("article.quiet", (all) => all.length), 1);
      await clean(page, "reply to a command");
      await page.reload();
      await until(page, () => document.querySelector("article.quiet") && document.querySelector(".reply"));
    },
  },
  {
    name: "the list of commands closes with Escape, is clicked, and never stands in the way of Enter",
    async run(w, open) {
      const page = await fresh(open);
      const box = page.locator("#composer");
      await box.pressSequentially("/st");
      await suggests(page, "/status");
      await page.keyboard.press("Escape");
      await noList(page);
      assert.equal(await box.inputValue(), "/st");
      await box.fill("");
      await box.pressSequentially("/mod");
      await page.click("#suggest [role=option]");
      assert.equal(await box.inputValue(), "/model ");
      await box.fill("/whoami");
      await page.keyboard.press("Enter");
      await until(page, () => /owner/i.test(document.querySelector(".reply")?.textContent ?? ""));
      await box.fill("/etc/hosts is a path");
      await noList(page);
      await page.keyboard.press("Enter");
      await answered(page, "/etc/hosts is a path");
      assert.equal(await text(page), "echo: /etc/hosts is a path");
    },
  },
  {
    name: "waiting messages are shown, changed and taken back",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "slow");
      await say(page, "first");
      await until(page, () => /word3 /.test(document.querySelector(".md")?.textContent ?? ""));
      for (const m of ["second", "third", "fourth"]) await say(page, m);
      await waits(page, ["second", "third", "fourth"]);
      await clean(page, "waiting messages");
      const inLog = await page.$$eval("[role=log] .bubble", (all) => all.map((e) => e.textContent));
      assert.deepEqual(inLog, ["first"]);
      // Changed.
      await page.click("section[aria-label='Waiting messages'] li:nth-child(2) .edit");
      await page.keyboard.type("third, in other words");
      await page.keyboard.press("Enter");
      await waits(page, ["second", "third, in other words", "fourth"]);
      // Left as it was: Escape closes the field and does not stop the answer.
      await page.click("section[aria-label='Waiting messages'] li:nth-child(1) .edit");
      await clean(page, "field of a waiting message");
      await page.keyboard.type("nothing");
      await page.keyboard.press("Escape");
      await waits(page, ["second", "third, in other words", "fourth"]);
      // Taken back.
      await page.click("section[aria-label='Waiting messages'] li:nth-child(1) .cancel");
      await waits(page, ["third, in other words", "fourth"]);
      await answered(page, "second", "aborted");
      assert.match(await page.textContent(".quiet.cancelled"), /before an answer began/);
      await answered(page, "first", "answering");
      await page.reload();
      await waits(page, ["third, in other words", "fourth"]);
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("section[aria-label='Waiting messages']"));
      await answered(page, "fourth", "aborted");
      // All that never began stand in one line, and are sent again by one press.
      await until(page, () => /3 messages before an answer began/.test([...document.querySelectorAll(".quiet.cancelled")].at(-1)?.innerText ?? ""));
      await clean(page, "stopped messages");
      await page.locator(".quiet.cancelled >> text=Send again").last().click();
      await until(page, () => [...document.querySelectorAll("article[data-state]")].some((e) => /^fourth/.test(e.querySelector(".bubble")?.textContent ?? "") && ["accepted", "answering"].includes(e.dataset.state)));
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("section[aria-label='Waiting messages']"));
    },
  },
  {
    name: "the waiting message that was changed is what the model reads",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "stream-40-50");
      await say(page, "one");
      await answered(page, "one", "answering");
      await say(page, "two");
      await waits(page, ["two"]);
      await page.click("section[aria-label='Waiting messages'] .edit");
      await page.keyboard.type("zwei");
      await page.keyboard.press("Enter");
      await answered(page, "zwei");
      assert.match(await text(page), /^re: zwei/);
    },
  },
  {
    name: "Tab sends behind the running answer, Shift+Tab still leaves the field",
    async run(w, open) {
      let sent = "";
      const page = await fresh(open, {
        before: (p) =>
          p.routeWebSocket(/.*/, (ws) => {
            const server = ws.connectToServer();
            ws.onMessage((m) => (/"chat\.send"/.test(m) && (sent = String(m)), server.send(m)));
          }),
      });
      await pick(page, "slow");
      await say(page, "first");
      await until(page, () => /word3 /.test(document.querySelector(".md")?.textContent ?? ""));
      assert.doesNotMatch(sent, /queueMode/);
      await page.fill("#composer", "later");
      assert.match(await page.textContent("#composer-hint"), /Tab/);
      await page.press("#composer", "Shift+Tab");
      assert.notEqual(await page.evaluate(() => document.activeElement.id), "composer");
      await page.press("#composer", "Tab");
      await waits(page, ["later"]);
      await eventually("it is sent to wait", () => /"queueMode":"followup"/.test(sent));
      await page.keyboard.press("Escape");
      await answered(page, "later", "aborted");
    },
  },
  {
    name: "messages that are collected are answered together and none of them hangs",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "stream-40-50");
      await say(page, "/queue collect");
      await until(page, () => /collect/.test(document.querySelector(".reply")?.textContent ?? ""));
      for (const m of ["one", "two", "three"]) await say(page, m);
      for (const m of ["one", "two", "three"]) await answered(page, m);
      await until(page, () => document.querySelectorAll(".row.text .meta").length === 2);
      const order = await page.$$eval("[role=log] article:not(.quiet) .bubble, [role=log] .md", (all) => all.map((e) => e.textContent.slice(0, 5)));
      assert.deepEqual(order, ["one", "re: o", "two", "three", "re: t"]);
      await page.reload();
      await answered(page, "three");
      await until(page, () => document.querySelectorAll(".row.text .meta").length === 2);
      assert.deepEqual(await page.$$eval("[role=log] article:not(.quiet) .bubble, [role=log] .md", (all) => all.map((e) => e.textContent.slice(0, 5))), order);
    },
  },
  {
    name: "a message that gave way says so and can be sent again",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "slow");
      await say(page, "/queue cap:1 drop:old");
      await until(page, () => document.querySelector(".reply"));
      await say(page, "first");
      await until(page, () => /word3 /.test(document.querySelector(".md")?.textContent ?? ""));
      for (const m of ["second", "third"]) await say(page, m);
      await answered(page, "second", "dropped");
      assert.match(await page.textContent(".card.dropped"), /gave way[^]*Send again/);
      await clean(page, "message that gave way");
      await page.keyboard.press("Escape");
      await answered(page, "first", "aborted");
    },
  },
  {
    name: "search finds words in all chats and shows the message",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "a quokka lives on Rottnest");
      await answered(page, "a quokka lives on Rottnest");
      for (let i = 0; i < 24; i++) await say(page, `filler ${i}`);
      await answered(page, "filler 23");
      const url = page.url();
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      await say(page, "another quokka here");
      await answered(page, "another quokka here");
      await page.keyboard.press("Control+Shift+F");
      await page.locator("dialog [role=combobox]").pressSequentially("quokka rott");
      // While it is typed there are answers to less of it.
      await until(page, () => {
        const marked = [...document.querySelectorAll("dialog mark")].slice(0, 2).map((e) => e.textContent.toLowerCase());
        return document.querySelectorAll("dialog [role=option]").length === 2 && marked.join(" ") === "quokka rott";
      });
      await clean(page, "search");
      await page.locator("dialog [role=combobox]").fill("quokka");
      await until(page, () => document.querySelectorAll("dialog [role=group]").length === 2);
      for (let i = 0; i < 4 && !/lives/.test(await page.textContent("dialog [aria-selected=true]")); i++) await page.keyboard.press("ArrowDown");
      while ((await page.textContent("dialog [aria-selected=true] .who")) !== "You") await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await until(page, () => !document.querySelector("dialog[open]"));
      assert.equal(page.url(), url);
      await until(page, () => {
        const box = document.querySelector(".row.lit .bubble")?.getBoundingClientRect();
        return box && box.top > 0 && box.bottom < innerHeight;
      });
      assert.match(await page.textContent(".row.lit .bubble"), /quokka lives/);
    },
  },
  {
    name: "an earlier conversation is opened by the line and by the search, read, and continued as a chat",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "the wombat sleeps");
      await answered(page, "the wombat sleeps");
      await say(page, "/new hello there");
      await until(page, () => !/wombat/.test(document.querySelector("[role=log]")?.textContent ?? "wombat"));
      await answered(page, "/new hello there");
      const title = () => page.$eval("header h1", (e) => e.innerText);
      assert.equal(await title(), "the wombat sleeps", "the chat lost its name");
      await until(page, () => document.querySelector(".row.begin button"));
      await clean(page, "the line where a conversation begins");
      await page.click(".row.begin button");
      await until(page, () => /echo: the wombat sleeps|wombat/.test(document.querySelector("[role=log]")?.textContent ?? ""));
      assert.equal(await page.$("#composer"), null, "an earlier conversation can be written to");
      await clean(page, "an earlier conversation");
      await page.reload();
      await until(page, () => document.querySelector("[aria-label='Earlier conversation']") && /wombat/.test(document.querySelector("[role=log]")?.textContent ?? ""));
      await page.click("text=Back to the chat");
      await until(page, () => document.querySelector("#composer") && !/wombat/.test(document.querySelector("[role=log]")?.textContent ?? "wombat"));
      await page.keyboard.press("Control+Shift+F");
      const field = page.locator("dialog [role=combobox]");
      await field.fill("wombat");
      await until(page, () => document.querySelector("dialog .badge"));
      await field.press("Enter");
      await until(page, () => !document.querySelector("dialog[open]") && /wombat/.test(document.querySelector(".row.lit")?.textContent ?? ""));
      await page.click("text=Continue it");
      await until(page, () => document.querySelector("#composer") && /wombat/.test(document.querySelector("[role=log]")?.textContent ?? ""));
      await say(page, "and now it wakes");
      await answered(page, "and now it wakes");
      assert.match(await page.$eval("[role=log]", (e) => e.textContent), /wombat sleeps[^]*and now it wakes/);
      await page.keyboard.press("Control+Shift+F");
      await field.fill("zzzznothing");
      await until(page, () => /No message has all the words/.test(document.querySelector("dialog .said")?.textContent ?? ""));
      await field.fill("...");
      await until(page, () => document.querySelector("dialog .bad"));
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("dialog[open]"));
    },
  },
  {
    name: "why: an answer and a failure tell which rules decided",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "hello");
      await answered(page, "hello");
      await page.click(".row.text .meta >> text=Why?");
      await until(page, () => document.querySelector("dialog .rule"));
      const rules = await page.$$eval("dialog [data-rule]", (all) => all.map((e) => e.dataset.rule));
      assert.ok(rules.includes("model") && rules.includes("ended"), rules.join());
      assert.match(await page.textContent("dialog dl"), /Answered[^]*script\/echo/);
      await clean(page, "why");
      await page.keyboard.press("Escape");
      await pick(page, "fault-401");
      await say(page, "no");
      await answered(page, "no", "failed");
      await page.click(".card.failed >> text=Why?");
      await until(page, () => document.querySelectorAll("dialog .rule").length > 0);
      assert.match(await page.textContent("dialog"), /Not answered/);
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "a message that steers is taken in behind a tool and answered with the first",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "steered");
      await say(page, "one");
      await until(page, () => /me /.test(document.querySelector(".md")?.textContent ?? ""));
      await say(page, "two");
      await waits(page, ["two"]);
      // Taken in while the answer goes on: it stands before the words that know of it.
      const order = () => page.$$eval("[role=log] .bubble, [role=log] .md, [role=log] details", (all) => all.map((e) => (e.tagName === "DETAILS" ? "tool" : e.textContent)));
      await until(page, () => !document.querySelector("section[aria-label='Waiting messages']") && /heard/.test(document.querySelector("[role=log]").textContent));
      await answered(page, "one");
      await answered(page, "two");
      await until(page, () => document.querySelectorAll(".row.text .meta").length === 2);
      const want = ["one", "let me look it up", "tool", "two", "heard two"];
      assert.deepEqual(await order(), want);
      await page.reload();
      await answered(page, "two");
      await until(page, () => document.querySelectorAll(".row.text .meta").length === 2);
      assert.deepEqual(await order(), want);
    },
  },
  {
    name: "people who ask to be let in, and answers that have not arrived",
    async run(w, open) {
      let net;
      const before = await fresh(open);
      await say(before, "so that there is a chat");
      await answered(before, "so that there is a chat");
      const page = await open({ height, before: async (p) => (net = await networked(p)) });
      await ready(page);
      await until(page, () => document.querySelector(".ask code")?.textContent === "KX4TQ2PW");
      assert.match(await page.textContent(".ask"), /Someone wants to talk to Hearth[^]*Anna[^]*\(@anna\)[^]*Telegram/);
      assert.doesNotMatch(await page.textContent(".ask"), /\u202e/);
      await clean(page, "request");
      await page.click(".ask button >> text=Approve");
      await until(page, () => !document.querySelector(".ask"));
      // A conversation of their own is what was chosen before.
      assert.deepEqual(net.asked.find(([m]) => m === "hearth.contacts.resolve")[1], { channel: "telegram", code: "KX4TQ2PW", decision: "approve", owner: false, shared: false });
      // The chat of a network says where it comes from.
      assert.equal(await page.textContent("nav .item .net"), "Telegram:");
      await page.click("nav >> text=Not delivered (3)");
      await until(page, () => document.querySelectorAll("dialog li").length === 3);
      await clean(page, "undelivered");
      assert.equal(await page.$$eval("dialog li:nth-child(3) .act button", (all) => all.length), 0);
      await page.click("dialog li:nth-child(2) button >> text=It arrived");
      await until(page, () => document.querySelectorAll("dialog li").length === 2);
      await page.click("dialog li:nth-child(1) button >> text=Send again");
      await until(page, () => document.querySelectorAll("dialog li").length === 1);
      const told = net.asked.filter(([m]) => m === "hearth.deliveries.resolve").map(([, p]) => p);
      assert.deepEqual(told, [{ id: "d2", decision: "arrived" }, { id: "d1", decision: "resend" }]);
      await page.keyboard.press("Escape");
      await until(page, () => /\(1\)/.test(document.querySelector(".undelivered")?.textContent ?? ""));
    },
  },
  {
    name: "the views of the pipeline are without axe findings, dark and light, narrow and wide",
    async run(w, open) {
      for (const [scheme, width] of [["dark", 360], ["dark", 1280], ["light", 360]]) {
        const where = `${scheme} ${width}: `;
        const page = await open({ scheme, width, height: 740, before: networked });
        await ready(page);
        await until(page, () => document.querySelector(".ask"));
        await clean(page, where + "request");
        if (width < 720) await page.click("header [aria-label='Show chats']");
        await page.click(".undelivered");
        await until(page, () => document.querySelector("dialog li"));
        await clean(page, where + "undelivered");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+Shift+O");
        await until(page, () => document.querySelector(".welcome"));
        await page.fill("#composer", "/");
        await until(page, () => document.querySelector("#suggest"));
        await clean(page, where + "commands");
        await say(page, "/status");
        await until(page, () => document.querySelector(".reply"));
        await say(page, "/status");
        await until(page, () => document.querySelectorAll(".reply").length === 2);
        await clean(page, where + "replies");
        await pick(page, "slow");
        await say(page, "an axolotl");
        await until(page, () => document.querySelector(".md p"));
        await say(page, "waits");
        await waits(page, ["waits"]);
        await clean(page, where + "waiting");
        await page.keyboard.press("Escape");
        await until(page, () => document.querySelector(".quiet.aborted")); // its question may be above the window
        await page.click(".quiet.aborted button >> text=Why?");
        await until(page, () => document.querySelector("dialog .rule"));
        await clean(page, where + "why");
        await page.keyboard.press("Escape");
        await until(page, () => !document.querySelector("dialog[open]"));
        await page.keyboard.press("Control+Shift+F");
        await page.locator("dialog [role=combobox]").fill("axolotl");
        await until(page, () => document.querySelector("dialog mark"));
        await clean(page, where + "search");
      }
    },
  },
];
