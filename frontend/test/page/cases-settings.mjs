// The settings: what is changed there stands in the file and is in use at once,
// and what cannot be is said beside it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { answered, axe, imeKey, pick, ready, say, shows, until } from "./harness.mjs";
import { service } from "./service.mjs";

const noAxe = async (page) => assert.deepEqual(await axe(page), []);
const file = (w) => JSON.parse(readFileSync(w.config, "utf8"));
const field = (path) => `.field[data-path="${path}"]`;

async function settings(open, pane, o) {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+,");
  await page.waitForSelector("dialog[open] nav");
  if (pane) await page.click(`dialog nav >> text=${pane}`);
  return page;
}

export const cases = [
  {
    name: "a link can lead to a part of the settings",
    async run(w, open) {
      const page = await open({ link: w.newLink() + "&go=settings%2Fusage" });
      await shows(page, "dialog section h2", /Allowance & usage/);
      await shows(page, "dialog section", /Today\s+\S*\d, no limit/); // asked for once it was connected
      assert.ok(!page.url().includes("launch"));
    },
  },
  {
    name: "what was used is a chart of days and models",
    async run(w, open) {
      const page = await open();
      await ready(page);
      for (const model of ["echo", "tool-session_status"]) {
        await page.keyboard.press("Control+Shift+O");
        await pick(page, model);
        await say(page, `hello, ${model}`);
        await answered(page, `hello, ${model}`);
      }
      for (const o of [{ scheme: "light" }, { scheme: "dark", width: 360 }]) {
        const seen = await open({ ...o, link: w.newLink() + "&go=settings%2Fusage" });
        await until(seen, () => document.querySelectorAll("dialog figure rect").length >= 2);
        const [bars, rows] = await Promise.all([
          seen.$$eval("dialog figure rect title", (all) => all.map((e) => e.textContent)),
          seen.$$eval("dialog tbody th", (all) => all.map((e) => e.textContent)),
        ]);
        for (const model of ["script/echo", "script/tool-session_status"]) {
          assert.ok(bars.some((b) => b.startsWith(model + ", ")) && rows.includes(model), `${model}: ${bars}; ${rows}`);
        }
        await noAxe(seen);
      }
    },
  },
  {
    name: "the page speaks the language of the browser, and another one when it is chosen, at once and after a reload",
    async run(w, open) {
      const page = await open({ locale: "de-AT" });
      await shows(page, ".welcome", /Womit kann ich dir helfen\?/);
      assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
      await page.keyboard.press("Control+,");
      await shows(page, "dialog nav", /Allgemein[^]*Zustand & Sicherung/);
      await page.selectOption("#language", "zh-CN");
      await shows(page, "dialog nav", /通用[^]*健康与备份/);
      assert.equal(await page.evaluate(() => document.activeElement?.closest("dialog") !== null), true);
      await page.keyboard.press("Escape");
      await shows(page, ".welcome", /有什么可以帮你的/);
      await page.reload();
      await shows(page, ".welcome", /有什么可以帮你的/);
      await page.keyboard.press("Control+,");
      await page.selectOption("#language", "");
      await shows(page, "dialog nav", /Allgemein/);
      await page.keyboard.press("Escape");
      // An answer that is shown already follows, with its buttons.
      await pick(page, "code");
      await say(page, "some code");
      await answered(page, "some code");
      await shows(page, "figure.code [data-copy=code]", /^Kopieren$/);
      await page.keyboard.press("Control+,");
      await page.selectOption("#language", "zh-CN");
      await page.keyboard.press("Escape");
      await shows(page, "figure.code [data-copy=code]", /^复制$/);
      const stranger = await open({ link: w.url, locale: "zh-CN" });
      await shows(stranger, "main", /此浏览器还没有连接到 Hearth/);
    },
  },
  {
    name: "one logs in at an MCP service, sees its tools, and turns it off",
    async run(w, open) {
      const before = file(w);
      const notes = await service();
      try {
        writeFileSync(w.config, JSON.stringify({ ...before, secrets: { ...before.secrets, backend: "plain" }, mcp: { servers: { notes: { url: notes.url } } } }, null, 2));
        const page = await settings(open);
        const row = "dialog [data-list=mcp] > li";
        await until(page, (row) => {
          // The list is read when the part is opened; the gateway may need a moment for the file.
          if (!document.querySelector(row)?.innerText.includes("failed")) {
            const parts = [...document.querySelectorAll("dialog nav button")];
            parts.find((b) => /General/.test(b.innerText))?.click();
            parts.find((b) => /Skills/.test(b.innerText))?.click();
            return false;
          }
          return true;
        }, row);
        await page.click(`${row} >> text=Log in…`);
        const link = await page.waitForSelector(`${row} .login a`);
        await noAxe(page);
        const [there] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
        await there.waitForLoadState();
        await there.close();
        await shows(page, `${row} .badge`, /ready/);
        await page.click(`${row} summary`);
        await shows(page, `${row} .tools`, /Adds a note/);
        await noAxe(page);
        await page.click(`${row} [role=switch]`);
        await shows(page, `${row} .badge`, /off/);
        assert.equal(file(w).mcp.servers.notes.enabled, false);
        await page.click(`${row} >> text=Log out`);
        await until(page, (row) => !document.querySelector(row).innerText.includes("Log out"), row);
      } finally {
        writeFileSync(w.config, JSON.stringify(before, null, 2));
        await notes.close();
      }
    },
  },
  {
    name: "a setting is found by a word, changed, in use at once, and put back",
    async run(w, open) {
      const before = file(w);
      const page = await settings(open);
      for (const [word, heading, pane] of [["dark", "Appearance", "General"], ["passphrase", "Where keys are kept", "Models & keys"], ["token", "Other programs", "Network & exposure"]]) {
        await page.fill("dialog input[type=search]", word);
        await page.click(`dialog .found >> text=${heading}`);
        await shows(page, "dialog section h2", new RegExp(pane));
      }
      await page.fill("dialog input[type=search]", "anew");
      await page.click("dialog .found >> text=A conversation starts anew");
      const mode = field("session.reset.mode");
      await page.selectOption(`${mode} select`, "idle");
      await shows(page, `${mode} .state`, /Saved/);
      assert.equal(file(w).session.reset.mode, "idle");
      const idle = field("session.reset.idleMinutes");
      await page.fill(`${idle} input`, "90");
      await page.press(`${idle} input`, "Enter");
      await shows(page, `${idle} .state`, /Saved/);
      assert.equal(file(w).session.reset.idleMinutes, 90);
      await page.fill(`${idle} input`, "soon");
      await imeKey(page, `${idle} input`, "Enter");
      await imeKey(page, `${idle} input`, "Escape");
      assert.equal(await page.inputValue(`${idle} input`), "soon");
      assert.equal(await page.$(`${idle} [role=alert]`), null);
      await page.press(`${idle} input`, "Enter");
      await shows(page, `${idle} [role=alert]`, /whole number from 1 to/);
      await page.fill(`${idle} input`, "90");
      await page.press(`${idle} input`, "Enter");
      await until(page, (s) => !document.querySelector(`${s} [role=alert]`), idle);
      await page.fill(`${idle} input`, "soon");
      await page.press(`${idle} input`, "Enter");
      await shows(page, `${idle} [role=alert]`, /whole number from 1 to/);
      assert.equal(file(w).session.reset.idleMinutes, 90);
      await noAxe(page);
      await page.fill(`${idle} input`, "");
      await page.press(`${idle} input`, "Enter");
      await shows(page, `${idle} .state`, /Saved/);
      const said = () => page.evaluate(() => document.querySelector('.field[data-path="session.reset.mode"] .state').innerText);
      await page.click("dialog nav >> text=General");
      await page.click("dialog nav >> text=Chat & messages");
      assert.match(await said(), /Back to the default/);
      await page.click(`${mode} .link`);
      await until(page, () => document.querySelector('.field[data-path="session.reset.mode"] select').value !== "idle");
      assert.equal(file(w).session?.reset?.mode, undefined);
      writeFileSync(w.config, JSON.stringify(before, null, 2));
    },
  },
  {
    name: "a change does not overwrite what was changed in the file meanwhile",
    async run(w, open) {
      const before = readFileSync(w.config, "utf8");
      const page = await settings(open, "Tools & approvals");
      await page.waitForSelector(field("tools.profile"));
      writeFileSync(w.config, JSON.stringify({ ...JSON.parse(before), tools: { profile: "coding" } }, null, 2));
      const ask = field("tools.exec.ask");
      await page.selectOption(`${ask} select`, "always");
      await shows(page, `${ask} [role=alert]`, /changed/i);
      assert.equal(file(w).tools.profile, "coding");
      assert.equal(file(w).tools.exec, undefined);
      await until(page, () => document.querySelector('.field[data-path="tools.profile"] select').value === "coding");
      await page.selectOption(`${ask} select`, "always");
      await shows(page, `${ask} .state`, /Saved/);
      assert.deepEqual(file(w).tools, { profile: "coding", exec: { ask: "always" } });
      writeFileSync(w.config, before);
    },
  },
  {
    name: "a skill for another system is off, and its switch says so",
    async run(w, open) {
      const page = await settings(open, "Skills");
      const row = page.locator("dialog .rows li", { hasText: process.platform === "darwin" ? "is for Linux" : "is for macOS" }).first();
      await row.waitFor();
      assert.equal(await row.locator("[role=switch]").getAttribute("aria-checked"), "false");
      assert.ok(await row.locator("[role=switch]").isDisabled());
      await noAxe(page);
    },
  },
  {
    name: "the settings file is edited as text, with what changes shown first, and a mistake named",
    async run(w, open) {
      const before = readFileSync(w.config, "utf8");
      const page = await settings(open, "Health & backup");
      await page.click("dialog summary >> text=Advanced");
      const text = "dialog textarea";
      await until(page, () => document.querySelector("dialog textarea").value.includes("providers"));
      const raw = await page.inputValue(text);
      assert.ok(!raw.includes('"test"'), "a key is shown");
      await page.fill(text, raw.replace("{", '{ "messages": { "queue": { "mode": "sideways" } },'));
      // Saving comes after looking, and the page says so.
      await shows(page, "dialog details [role=status]", /Press “Show what changes” first/);
      const save = page.locator("dialog button:text-is('Save')");
      assert.ok(await save.isDisabled());
      const look = () => save.evaluate((e) => getComputedStyle(e).backgroundColor);
      const off = await look();
      await page.click("dialog button:text-is('Show what changes')");
      await shows(page, "dialog pre .add", /sideways/);
      await until(page, () => !document.querySelector("dialog details .primary").disabled);
      // A button that does nothing does not look like one that does; the colour fades in.
      await until(page, (was) => getComputedStyle(document.querySelector("dialog details .primary")).backgroundColor !== was, off);
      await noAxe(page);
      await page.click("dialog button:text-is('Save')");
      await shows(page, "dialog .row ~ *, dialog details [role=status]", /steer/);
      assert.equal(readFileSync(w.config, "utf8"), before);
      await page.fill(text, raw.replace("{", '{ "messages": { "queue": { "mode": "collect" } },'));
      await page.click("dialog button:text-is('Show what changes')");
      await page.click("dialog button:text-is('Save')");
      await shows(page, "dialog details [role=status]", /Saved/);
      assert.equal(file(w).messages.queue.mode, "collect");
      assert.equal(file(w).models.providers.script.apiKey, "test", "a hidden key was lost");
      writeFileSync(w.config, before);
    },
  },
  {
    name: "a key cannot be stored where there is no safe place, and the page says what to do",
    async run(w, open) {
      const page = await settings(open, "Models & keys");
      await shows(page, "dialog .place", /Where should keys be kept\?/);
      await page.fill("dialog .pane input[type=password]", "sk-ant-api03-" + "x".repeat(95));
      await page.click("dialog >> text=Store and test");
      await until(page, () => document.querySelector("dialog .pane .place")); // said in words, with what to do
      assert.ok(!JSON.stringify(file(w)).includes("sk-ant"));
      assert.notEqual(await page.inputValue("dialog .pane input[type=password]"), "", "what was pasted is gone though it was not stored");
      await page.click('[aria-label="Test script:default"]');
      await until(page, () => [...document.querySelectorAll("dialog .rows small[role=status]")].some((e) => /Answered|answers/i.test(e.innerText)));
    },
  },
  {
    name: "a token for another program is shown once and can be revoked",
    async run(w, open) {
      const page = await settings(open, "Network & exposure");
      await page.fill("dialog form input:not([type])", "notes app");
      await page.click("dialog >> text=Make a token");
      await page.waitForSelector("dialog .made code");
      const secret = await page.textContent("dialog .made code");
      assert.ok(secret.length > 20);
      await noAxe(page);
      await page.click("dialog nav >> text=General");
      await page.click("dialog nav >> text=Network & exposure");
      await page.waitForSelector("dialog >> text=notes app");
      assert.ok(!(await page.content()).includes(secret), "it is shown again");
      await page.click('[aria-label="Revoke the token of notes app"]');
      await page.waitForSelector("dialog .badge:text-is('revoked')");
    },
  },
];
