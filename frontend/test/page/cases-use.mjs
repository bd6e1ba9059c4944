// Using the page: chats, models, drafts, keys, and people who cannot see it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { answered, axe, imeKey, pick, picture, ready, say, states, until } from "./harness.mjs";

const fresh = async (open, o) => {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+Shift+O");
  await until(page, () => document.querySelector(".welcome"));
  return page;
};

const titles = (page) => page.$$eval("nav .item .title", (all) => all.map((e) => e.textContent));

const screens = {
  async empty() {},
  async chat(page) {
    await pick(page, "rich");
    await say(page, "plan");
    await until(page, () => document.querySelector(".row.text .meta") && document.querySelector(".tok-keyword"));
  },
  async "long code"(page) {
    await pick(page, "code");
    await say(page, "code");
    await until(page, () => document.querySelector(".row.text .meta") && document.querySelector(".tok-keyword"));
    await page.evaluate(() => document.querySelector("[role=log]").scrollTo(0, 0));
  },
  async tool(page) {
    await pick(page, "tool-session_status");
    await say(page, "look");
    await answered(page, "look");
    await page.click("details summary");
  },
  async failed(page) {
    await pick(page, "fault-401");
    await say(page, "fail");
    await answered(page, "fail", "failed");
  },
  async answering(page) {
    await pick(page, "slow");
    await say(page, "slowly");
    await answered(page, "slowly", "answering");
    await say(page, "then this");
    await answered(page, "then this", "accepted");
    await page.fill("#composer", "and a draft");
  },
  async stopped(page) {
    await pick(page, "slow");
    await say(page, "stop me");
    await until(page, () => document.querySelector(".md p"));
    await page.keyboard.press("Escape");
    await answered(page, "stop me", "aborted");
  },
  async models(page) {
    await page.click(".pick");
  },
  async keys(page) {
    await page.keyboard.press("Control+/");
  },
  async chats(page) {
    if (!(await page.$("nav"))) await page.keyboard.press("Control+b");
    // The drawer comes in from the side: it is looked at when it is there.
    await page.waitForSelector("nav .item");
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
    await until(page, () => document.querySelector("nav").getBoundingClientRect().left >= 0);
    await page.waitForTimeout(500);
  },
};

export const cases = [
  {
    name: "axe finds nothing: every screen, light and dark, narrow and wide",
    async run(w, open) {
      for (const scheme of ["light", "dark"])
        for (const width of [360, 1280]) {
          const page = await fresh(open, { width, scheme });
          for (const [name, play] of Object.entries(screens)) {
            await page.keyboard.press("Control+Shift+O");
            await until(page, () => document.querySelector(".welcome"));
            await play(page);
            assert.deepEqual(await axe(page), [], `${name} ${scheme} ${width}`);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
            assert.equal(wide, false, `${name} ${scheme} ${width} scrolls sideways`);
            for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
            await page.fill("#composer", "");
          }
          const stranger = await open({ width, scheme, link: w.url });
          await until(stranger, () => document.querySelector("#code"));
          assert.deepEqual(await axe(stranger), [], `not connected ${scheme} ${width}`);
        }
    },
  },
  {
    name: "axe finds nothing from right to left: every screen and every part of the settings, in Arabic and Hebrew",
    async run(w, open) {
      const check = async (page, where) => {
        assert.deepEqual(await axe(page), [], where);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${where} scrolls sideways`);
      };
      for (const dress of [{ width: 360, scheme: "light", locale: "ar-EG" }, { width: 1280, scheme: "dark", locale: "he-IL" }]) {
        const page = await fresh(open, dress);
        assert.equal(await page.evaluate(() => document.documentElement.dir), "rtl");
        for (const [name, play] of Object.entries(screens)) {
          await page.keyboard.press("Control+Shift+O");
          await until(page, () => document.querySelector(".welcome"));
          await play(page);
          await check(page, `${name} ${JSON.stringify(dress)}`);
          for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
          await page.fill("#composer", "");
        }
        await page.keyboard.press("Control+,");
        await page.waitForSelector("dialog nav li");
        for (const pane of await page.$$eval("dialog nav [data-pane]", (all) => all.map((e) => e.dataset.pane))) {
          await page.click(`dialog nav [data-pane=${pane}]`);
          await page.waitForSelector("dialog section h2");
          await picture(page, `rtl-${dress.locale}-${pane}`);
          await check(page, `${pane} ${JSON.stringify(dress)}`);
          if (dress.width === 360) await page.click("dialog .back");
        }
      }
    },
  },
  {
    name: "everything can be done with the keyboard",
    async run(w, open) {
      const page = await fresh(open);
      const press = (k) => page.keyboard.press(k);
      const focus = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent.trim());
      await until(page, () => document.activeElement.id === "composer");
      await press("Control+Shift+L");
      await until(page, () => document.activeElement.getAttribute("role") === "menuitemradio");
      await page.keyboard.type("tool");
      assert.match(await focus(), /^tool-session_status/);
      await press("Enter");
      await until(page, () => document.querySelector(".pick .name").textContent === "tool-session_status");
      await press("Shift+Escape");
      await until(page, () => document.activeElement.id === "composer");
      await page.keyboard.type("line one");
      await press("Shift+Enter");
      await page.keyboard.type("line two");
      await press("Enter");
      await answered(page, "line one\nline two");
      // Back through the conversation: the tool can be opened, code and words copied.
      await page.waitForSelector("summary", { state: "visible" });
      const onTool = () => page.evaluate(() => document.activeElement.tagName === "SUMMARY");
      for (let i = 0; i < 12 && !(await onTool()); i++) await press("Shift+Tab");
      await press("Enter");
      await until(page, () => document.querySelector("details[open]"));
      // The chat's menu: rename.
      await page.focus("header [aria-label='Chat menu']");
      await press("Enter");
      await until(page, () => document.activeElement.getAttribute("role") === "menuitem");
      await press("Enter");
      await until(page, () => document.activeElement.tagName === "INPUT");
      await page.keyboard.type("Keyboard only");
      await press("Enter");
      await until(page, () => document.querySelector("h1").textContent === "Keyboard only");
      // Search, open, hide.
      await press("Control+k");
      await until(page, () => document.activeElement.getAttribute("role") === "combobox");
      await page.keyboard.type("keyboard o");
      await until(page, () => /^Keyboard only/.test(document.querySelector("[role=option][aria-selected=true] .name")?.textContent ?? ""));
      await press("Enter");
      await until(page, () => !document.querySelector("dialog[open]"));
      await press("Control+b");
      await until(page, () => !document.querySelector("nav"));
      await press("Control+b");
      await until(page, () => document.querySelector("nav"));
      // Delete, and take it back.
      await page.focus("header [aria-label='Chat menu']");
      await press("Enter");
      await until(page, () => document.activeElement.getAttribute("role") === "menuitem");
      await press("End");
      await press("Enter");
      await until(page, () => document.querySelector("h1").textContent !== "Keyboard only");
      await page.focus(".toast:has-text('is deleted') button");
      await press("Enter");
      await until(page, () => document.querySelector("h1").textContent === "Keyboard only");
    },
  },
  {
    name: "chats are named, pinned, found and deleted",
    async run(w, open) {
      const page = await fresh(open);
      for (const m of ["apples and pears", "zebra crossing"]) {
        await page.keyboard.press("Control+Shift+O");
        await until(page, () => document.querySelector(".welcome"));
        await say(page, m);
        await answered(page, m);
      }
      assert.equal((await titles(page))[0], "zebra crossing");
      await page.click("nav .item:has-text('apples and pears')");
      await answered(page, "apples and pears");
      await page.click("header [aria-label='Chat menu']");
      await page.click("role=menuitem[name='Pin']");
      await until(page, () => document.querySelector("nav .item .title").textContent === "apples and pears");
      await page.click("header [aria-label='Chat menu']");
      await page.click("role=menuitem[name='Rename']");
      await page.keyboard.type("Fruit");
      const field = "header input.name";
      await imeKey(page, field, "Enter");
      await imeKey(page, field, "Escape");
      assert.equal(await page.inputValue(field), "Fruit");
      // The focus goes back to where the person came from.
      const back = () => page.evaluate(() => document.activeElement.ariaLabel);
      await page.keyboard.press("Escape");
      assert.equal(await back(), "Chat menu");
      await page.click("header [aria-label='Chat menu']");
      await page.click("role=menuitem[name='Rename']");
      await page.keyboard.type("Fruit");
      await page.keyboard.press("Enter");
      assert.equal(await back(), "Chat menu");
      await until(page, () => document.querySelector("nav .item .title").textContent === "Fruit");
      await page.fill("#search", "fru");
      assert.deepEqual(await titles(page), ["Fruit"]);
      await page.fill("#search", "nothing like it");
      assert.match(await page.textContent("nav .none"), /nothing like it/);
      await page.fill("#search", "");
      await page.reload();
      await until(page, () => document.querySelector("nav .item .title")?.textContent === "Fruit");
      // The header offers what the menu of the list offers, and what is deleted there can be taken back too.
      const items = () => page.$$eval("[role=menu] [role=menuitem]", (all) => all.map((e) => e.textContent.trim()));
      await page.click("header [aria-label='Chat menu']");
      const offered = await items();
      for (const name of ["Move to a folder…", "Archive", "Copy conversation", "Save as Markdown", "Delete"]) assert.ok(offered.includes(name), name);
      // A second press closes it.
      await page.click("header [aria-label='Chat menu']");
      await until(page, () => !document.querySelector("[role=menu]") && document.querySelector("header [aria-label='Chat menu'][aria-expanded=false]"));
      await page.click("nav .item:has-text('Fruit')", { button: "right" });
      assert.deepEqual(await items(), offered);
      await page.keyboard.press("Escape");
      const remove = async () => {
        await page.click("header [aria-label='Chat menu']");
        await page.click("role=menuitem[name='Delete']");
        await until(page, () => ![...document.querySelectorAll("nav .title")].some((e) => e.textContent === "Fruit"));
        assert.notEqual(await page.textContent("h1"), "Fruit");
      };
      await remove();
      await page.click(".toast:has-text('“Fruit” is deleted') button");
      await until(page, () => document.querySelector("h1").textContent === "Fruit");
      await remove();
      await until(page, () => !document.querySelector(".toast"));
      await page.reload();
      await until(page, () => document.querySelector("nav .item .title"));
      assert.deepEqual((await titles(page)).filter((t) => t === "Fruit"), []);
    },
  },
  {
    name: "a chat whose deletion can still be undone is deleted when the page goes, or by the next page, unless it was used since",
    async run(w, open) {
      const begun = async (page, text) => {
        await page.keyboard.press("Control+Shift+O");
        await until(page, () => document.querySelector(".welcome"));
        await say(page, text);
        await answered(page, text);
      };
      const remove = async (page) => {
        const title = await page.textContent("h1");
        await page.click("header [aria-label='Chat menu']");
        await page.click("role=menuitem[name='Delete']");
        await page.waitForSelector(`.toast:has-text('“${title}” is deleted') button`);
      };
      const listed = (page, title, is = true) =>
        until(page, ([t, want]) => [...document.querySelectorAll("nav .title")].some((e) => e.textContent === t) === want, [title, is]);
      const kept = (page) => page.evaluate(() => Object.keys(localStorage).filter((k) => k.startsWith("hearth.deleting.")).length);
      // The page itself says it while it goes.
      const page = await fresh(open);
      await begun(page, "stays");
      await begun(page, "goes with the page");
      await remove(page);
      assert.equal(await kept(page), 1);
      await page.reload();
      await ready(page);
      const other = await fresh(open);
      await listed(other, "stays");
      assert.equal((await titles(other)).includes("goes with the page"), false);
      await until(page, () => !Object.keys(localStorage).some((k) => k.startsWith("hearth.deleting.")));
      // One that does not get it said leaves it to the next.
      let lost = true;
      const before = (p) =>
        p.routeWebSocket(/.*/, (ws) => {
          const server = ws.connectToServer();
          ws.onMessage((m) => (lost && String(m).includes('"sessions.delete"')) || server.send(m));
        });
      const mute = await fresh(open, { before });
      for (const title of ["left behind", "used since"]) {
        await begun(mute, title);
        await listed(other, title);
        await remove(mute);
      }
      await mute.reload();
      lost = false;
      await ready(mute);
      assert.equal(await kept(mute), 2);
      await listed(mute, "stays");
      assert.deepEqual((await titles(mute)).filter((t) => t === "left behind" || t === "used since"), []);
      await other.click("nav .item:has-text('used since')");
      await answered(other, "used since");
      await say(other, "and again");
      await answered(other, "and again");
      await listed(other, "left behind", false);
      await listed(mute, "used since");
      assert.equal(await kept(mute), 0);
      await listed(mute, "left behind", false);
      await listed(other, "used since");
    },
  },
  {
    name: "a model is picked for one chat and stays picked",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "tool-session_status");
      await page.reload();
      await ready(page);
      await until(page, () => document.querySelector(".pick .name").textContent === "tool-session_status");
      await say(page, "with a tool");
      await answered(page, "with a tool");
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".pick .name").textContent === "echo");
      await say(page, "which?");
      await answered(page, "which?");
      assert.match(await page.textContent(".row.text .meta .model"), /script\/echo/);
    },
  },
  {
    name: "a model that is picked in a new chat leaves no chat behind when nothing is said, and answers when something is",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "the chat before");
      await answered(page, "the chat before");
      const begin = () => page.keyboard.press("Control+Shift+O").then(() => until(page, () => document.querySelector(".welcome")));
      await begin();
      const before = await titles(page);
      await pick(page, "tool-session_status");
      const url = page.url();
      assert.deepEqual(await titles(page), before);
      await page.click("nav .item:has-text('the chat before')");
      await answered(page, "the chat before");
      await until(page, () => document.querySelector(".pick .name").textContent === "echo");
      await page.reload(); // the gateway has none either
      await answered(page, "the chat before");
      assert.deepEqual(await titles(page), before);
      // Whoever comes back finds it as it was picked, and may pick another one.
      await page.goto(url);
      await until(page, () => document.querySelector(".welcome") && document.querySelector(".pick .name").textContent === "tool-session_status");
      await pick(page, "stream-40-50");
      await say(page, "which one is it?");
      await answered(page, "which one is it?");
      assert.match(await page.textContent(".row.text .meta .model"), /script\/stream-40-50/);
      const now = await titles(page); // of a long list only a part is drawn
      assert.deepEqual(now, ["which one is it?", ...before].slice(0, now.length));
      assert.ok(now.length >= before.length);
      assert.equal(await page.textContent(".pick .name"), "stream-40-50");
    },
  },
  {
    name: "F-WS-09 a draft survives a reload and a killed tab, and belongs to its chat",
    async run(w, open) {
      const page = await fresh(open);
      await say(page, "here");
      await answered(page, "here");
      await page.fill("#composer", "half a thou");
      const url = page.url();
      await page.reload();
      await answered(page, "here");
      assert.equal(await page.inputValue("#composer"), "half a thou");
      await page.keyboard.press("Control+Shift+O");
      await until(page, () => document.querySelector(".welcome"));
      assert.equal(await page.inputValue("#composer"), "");
      await page.close({ runBeforeUnload: false });
      const next = await page.context().newPage();
      await next.goto(url);
      await answered(next, "here");
      assert.equal(await next.inputValue("#composer"), "half a thou");
      await next.press("#composer", "Enter");
      await answered(next, "half a thou");
      await next.reload();
      await answered(next, "half a thou");
      assert.equal(await next.inputValue("#composer"), "");
    },
  },
  {
    name: "a long conversation opens at its end, and earlier messages come while scrolling up",
    async run(w, open) {
      const key = "agent:main:chat:long";
      for (let i = 0; i < 130; i++) execFileSync(w.bin, ["chat", "--session", key, `message ${i}`], { env: w.env, stdio: "ignore" });
      const page = await open();
      await ready(page);
      await page.goto(`${w.url}/#/chat/${encodeURIComponent(key)}`);
      await answered(page, "message 129");
      const atEnd = () => page.evaluate(() => ((e) => e.scrollHeight - e.scrollTop - e.clientHeight)(document.querySelector("[role=log]")));
      await until(page, () => ((e) => e.scrollHeight - e.scrollTop - e.clientHeight < 2)(document.querySelector("[role=log]")));
      const log = await page.$("[role=log]");
      const box = await log.boundingBox();
      await page.mouse.move(box.x + 200, box.y + 200);
      for (let i = 0; i < 200 && !(await page.$$eval(".bubble", (all) => all.some((e) => e.textContent === "message 0"))); i++) {
        await page.mouse.wheel(0, -900);
        await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
      }
      assert.ok(await page.$$eval(".bubble", (all) => all.some((e) => e.textContent === "message 0")), "the first message was not reached");
      await page.click("text=Jump to latest");
      await answered(page, "message 129");
      assert.ok((await atEnd()) < 2);
    },
  },
  {
    name: "reading on while an answer comes: what is read stays in its place",
    async run(w, open) {
      const page = await fresh(open);
      for (let i = 0; i < 3; i++) {
        await pick(page, "rich");
        await say(page, `plan ${i}`);
        await answered(page, `plan ${i}`);
      }
      await pick(page, "slow");
      await say(page, "slow");
      await until(page, () => /word3 /.test([...document.querySelectorAll(".md")].at(-1)?.textContent ?? ""));
      const box = await (await page.$("[role=log]")).boundingBox();
      await page.mouse.move(box.x + 200, box.y + 200);
      for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -400);
      await until(page, () => [...document.querySelectorAll("button")].some((b) => b.textContent.includes("Jump to latest")));
      await page.evaluate(() => new Promise((r) => setTimeout(r, 400)));
      const seen = () =>
        page.evaluate(() => {
          const top = document.querySelector("[role=log]").getBoundingClientRect().top + 150;
          const e = [...document.querySelectorAll(".block-host")].find((b) => b.getBoundingClientRect().bottom > top);
          return [e.textContent.slice(0, 60), Math.round(e.getBoundingClientRect().top)];
        });
      const before = await seen();
      await page.evaluate(() => new Promise((r) => setTimeout(r, 2000)));
      assert.deepEqual(await seen(), before);
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "code and messages are copied as they are",
    async run(w, open) {
      const page = await fresh(open, { permissions: ["clipboard-read", "clipboard-write"] });
      await pick(page, "rich");
      await say(page, "plan");
      await until(page, () => document.querySelector(".row.text .meta"));
      const clip = () => page.evaluate(() => navigator.clipboard.readText());
      await page.click("figure.code .copy");
      await until(page, () => document.querySelector("figure.code .copy").textContent === "Copied");
      assert.match(await clip(), /^from datetime import date, timedelta\n\ndef week/);
      await page.click(".row.text .meta [aria-label='Copy message']");
      await until(page, () => document.querySelector(".toast"));
      assert.match(await clip(), /^Sure! Here is a \*\*short plan\*\*/);
    },
  },
  {
    name: "light and dark: the computer's choice, or the person's",
    async run(w, open) {
      const page = await fresh(open, { scheme: "dark" });
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
      assert.equal(await theme(), "dark");
      await page.emulateMedia({ colorScheme: "light" });
      await until(page, () => document.documentElement.dataset.theme === "light");
      await page.click("nav [aria-label='Appearance']");
      await page.click("role=menuitemradio[name='Dark']");
      assert.equal(await theme(), "dark");
      await page.reload();
      await ready(page);
      assert.equal(await theme(), "dark");
    },
  },
  {
    name: "a screen reader is told how it goes, not every word",
    async run(w, open) {
      const page = await fresh(open);
      await pick(page, "stream-40-50");
      await page.evaluate(() => {
        window.said = [];
        const s = document.querySelector("main p.sr[role=status]");
        new MutationObserver(() => window.said.push(s.textContent)).observe(s, { childList: true, characterData: true, subtree: true });
      });
      await say(page, "tell me");
      await answered(page, "tell me");
      await until(page, () => window.said.at(-1) === "The answer is complete.");
      assert.deepEqual(await page.evaluate(() => window.said), ["Hearth is answering.", "The answer is complete."]);
      assert.equal(await page.getAttribute("[role=log]", "aria-live"), "off");
    },
  },
  {
    name: "a broken settings file is told while the page is open, and goes away when it is mended",
    async run(w, open) {
      const page = await fresh(open);
      const good = readFileSync(w.config, "utf8");
      try {
        writeFileSync(w.config, good.slice(0, -40));
        await until(page, () => document.querySelector(".banner.problem"));
        assert.match(await page.textContent(".banner.problem"), /line \d+/);
        assert.deepEqual(await axe(page), []);
      } finally {
        writeFileSync(w.config, good);
      }
      await until(page, () => !document.querySelector(".banner.problem"));
    },
  },
  {
    name: "on a narrow screen the list of chats is a drawer",
    async run(w, open) {
      const page = await fresh(open, { width: 360, height: 700 });
      assert.equal(await page.$("nav"), null);
      await say(page, "narrow");
      await answered(page, "narrow");
      await page.click("[aria-label='Show chats']");
      await page.click("nav .item >> nth=0");
      await until(page, () => !document.querySelector("nav"));
      await page.click("[aria-label='Show chats']");
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("nav"));
    },
  },
  {
    name: "without any model the guide answers, says what it is, and the three chips work",
    world: "guide",
    async run(w, open) {
      // The link that the start prints, once; and room for long answers, because
      // rows out of sight are not drawn.
      const link = w.link;
      w.link = undefined;
      const page = await open({ link, height: 2400 });
      await ready(page);
      await page.click(".first button:has-text('Look around first')");
      await until(page, () => /built-in guide/i.test(document.querySelector(".welcome").textContent));
      const chips = await page.$$eval(".chip", (all) => all.map((e) => e.textContent));
      assert.equal(chips.length, 3);
      for (const [i, chip] of chips.entries()) {
        if (i > 0) {
          await page.keyboard.press("Control+Shift+O");
          await until(page, () => document.querySelector(".welcome"));
        }
        await page.click(`.chip:has-text("${chip}")`);
        await answered(page, chip);
        await until(page, () => document.querySelector(".badge")?.textContent === "Built-in guide, not an AI model");
        const said = await page.$$eval(".md", (all) => all.map((e) => e.textContent).join("\n"));
        assert.ok(said.length > 80, `${chip}: ${said}`);
        assert.doesNotMatch(said, /can.t (help|do) (with )?that/i, chip);
      }
      await page.click(".pick");
      assert.match(await page.textContent("[role=menu]"), /not an AI model/);
      assert.deepEqual((await states(page)).length, 1);
    },
  },
];
