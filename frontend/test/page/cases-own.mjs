// What a person sets up for themselves: prompts with fields, pictures of assistants, rules
// of groups, who answers where, the order of fallbacks, a search service, a skill.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { World, answered, axe, eventually, isFirefox, picture, ready, say, shows, until } from "./harness.mjs";

const noAxe = async (page) => assert.deepEqual(await axe(page), []);
const file = (w) => JSON.parse(readFileSync(w.config, "utf8"));
const dresses = [
  { width: 1280, height: 800 },
  { width: 1280, height: 800, scheme: "dark" },
  { width: 360, height: 740 },
  { width: 360, height: 740, scheme: "dark", locale: "ar-EG" },
];

async function settings(page, pane) {
  await page.keyboard.press("Control+,");
  await page.click(`dialog nav [data-pane=${pane}]`);
  await page.waitForSelector("dialog section h2");
}

/** looks keeps pictures of a part of the settings in every dress, and judges each. */
async function looks(f, open, pane, wanted, name) {
  for (const dress of isFirefox ? dresses.slice(0, 1) : dresses) {
    const page = await f.open(dress);
    open.pages.push(page);
    await ready(page);
    await settings(page, pane);
    await page.locator(wanted).scrollIntoViewIfNeeded();
    await noAxe(page);
    assert.ok(await page.$eval("dialog section", (e) => e.scrollWidth <= e.clientWidth), `${name} ${JSON.stringify(dress)} is too wide`);
    await picture(page, `${name}-${dress.scheme ?? "light"}-${dress.width}${dress.locale ? "-ar" : ""}`);
  }
}

/** fresh runs steps with a gateway of its own that has these settings. */
async function fresh(w, open, more, steps) {
  const f = await World.fresh(w, { settings: more });
  try {
    const page = await f.open();
    open.pages.push(page);
    await ready(page);
    await steps(f, page);
  } finally {
    await f.stop();
  }
}

const cook = { list: [{ id: "main" }, { id: "cook", identity: { name: "Cook", emoji: "🍳" } }] };
const telegram = { telegram: { enabled: true, botToken: "4242424242:AAcanary-7f3a9c_secretTokenPart-xyz01", apiRoot: "http://127.0.0.1:9", groups: { "-1001234567890": {} } } };

export const cases = [
  {
    name: "prompts: one with fields is kept, found behind the slash and in the palette, filled in, changed and removed",
    async run(w, open) {
      const page = await open();
      await ready(page);
      await settings(page, "chat");
      await page.click("dialog >> text=Add a prompt");
      const form = "dialog .pane form";
      await page.fill(`${form} input >> nth=0`, "week end");
      await page.fill(`${form} textarea`, "Plan a trip to {{city}} in {{month}}.\n{{city}} by train.");
      await page.click(`${form} .primary`);
      await shows(page, `${form} [role=alert]`, /letters, digits, - and _/);
      await page.fill(`${form} input >> nth=0`, "weekend");
      await page.fill(`${form} input >> nth=1`, "Two days away");
      await noAxe(page);
      await page.click(`${form} .primary`);
      await shows(page, "dialog [data-list=prompts]", /\/weekend[^]*Two days away[^]*city · month/);
      assert.match(file(w).hearth.prompts.weekend.text, /\{\{city\}\}/);
      await looks(w, open, "chat", "[data-list=prompts]", "prompts");
      await page.bringToFront();
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("dialog[open]"));
      // Behind the slash.
      await page.click("#composer");
      await page.keyboard.type("/week");
      await shows(page, "#suggest", /\/weekend\s*Two days away/);
      await page.keyboard.press("Enter");
      await shows(page, "dialog[open]", /weekend[^]*city[^]*month/);
      if (!isFirefox) await noAxe(page); // its driver cannot ask for a quiet page, and this one fades in
      await picture(page, "prompt-fields");
      await page.fill("dialog textarea >> nth=0", "Bern");
      await page.fill("dialog textarea >> nth=1", "May {{city}} $&");
      await page.press("dialog textarea >> nth=1", "Enter");
      await until(page, () => document.querySelector("#composer").value === "Plan a trip to Bern in May {{city}} $&.\nBern by train.");
      await page.fill("#composer", "");
      // In the palette.
      await page.keyboard.press("Control+k");
      await page.locator("dialog [role=combobox]").pressSequentially("two days");
      await shows(page, "dialog [role=option][aria-selected=true]", /\/weekend/);
      await page.keyboard.press("Enter");
      await shows(page, "dialog[open]", /month/);
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("dialog[open]"));
      // One without fields is written at once; a new name takes the old one's place.
      await settings(page, "chat");
      await page.click("dialog [aria-label='Change weekend']");
      await page.fill(`${form} input >> nth=0`, "standup");
      await page.fill(`${form} textarea`, "What did I do yesterday?");
      await page.click(`${form} .primary`);
      await shows(page, "dialog [data-list=prompts]", /\/standup/);
      assert.deepEqual(Object.keys(file(w).hearth.prompts), ["standup"]);
      await page.keyboard.press("Escape");
      await page.locator("#composer").pressSequentially("/stand");
      await until(page, () => /\/standup/.test(document.querySelector("#suggest")?.innerText ?? ""));
      await page.keyboard.press("Tab");
      await until(page, () => document.querySelector("#composer").value === "What did I do yesterday?");
      await settings(page, "chat");
      await page.click("dialog [aria-label='Remove standup']");
      await page.click("dialog >> text=Really remove");
      await until(page, () => !document.querySelector("dialog [data-list=prompts]"));
      assert.equal(file(w).hearth.prompts?.standup, undefined);
    },
  },
  {
    name: "assistants: a picture of one's own is made small, stands in the chat, and is taken away",
    async run(w, open) {
      const page = await open();
      await ready(page);
      await settings(page, "assistants");
      await page.click("dialog [aria-label='Change Hearth']");
      const pick = (name, mimeType, buffer) => page.setInputFiles("dialog form input[type=file]", { name, mimeType, buffer });
      await pick("x.png", "image/png", Buffer.from("<svg onload=alert(1)>"));
      await shows(page, "dialog form [role=alert]", /cannot read this as a picture/);
      const large = await page.evaluate(async () => {
        const c = document.createElement("canvas");
        [c.width, c.height] = [1600, 900];
        const g = c.getContext("2d");
        for (let i = 0; i < 4000; i++) {
          g.fillStyle = `hsl(${i * 37} 80% 50%)`;
          g.fillRect((i * 91) % 1600, (i * 53) % 900, 60, 40);
        }
        return c.toDataURL("image/png").split(",")[1];
      });
      await pick("me.png", "image/png", Buffer.from(large, "base64"));
      await page.waitForSelector("dialog form .own img");
      await noAxe(page);
      await page.click("dialog form .primary");
      await page.waitForSelector("dialog [data-list=assistants] .face img");
      const avatar = file(w).agents.list[0].identity.avatar;
      assert.ok(/^data:image\/(png|jpeg);base64,/.test(avatar) && avatar.length < 30_001, `${avatar.slice(0, 40)}, ${avatar.length}`);
      await looks(w, open, "assistants", "[data-list=assistants]", "assistant-picture");
      await page.keyboard.press("Escape");
      await say(page, "hello");
      await answered(page, "hello");
      await until(page, () => document.querySelector(".row.text .who img")?.naturalWidth === 96);
      await picture(page, "assistant-picture-chat");
      await settings(page, "assistants");
      await page.click("dialog [aria-label='Change Hearth']");
      await page.click("dialog >> text=Without a picture");
      await page.click("dialog form .primary");
      await until(page, () => !document.querySelector("dialog form") && !document.querySelector("dialog [data-list=assistants] img"));
      assert.equal(file(w).agents.list[0].identity?.avatar, undefined);
    },
  },
  {
    name: "groups: each has rules of its own, and an assistant is bound to a chat, in the settings at once",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, { channels: telegram, agents: cook }, async (f, page) => {
        await settings(page, "channels");
        await page.click("dialog >> role=button[name='Who may write to Telegram']");
        await page.click("dialog [aria-label='Rules of the group -1001234567890']");
        const form = "dialog .rules li form.group";
        await page.uncheck(`${form} >> text=Only when it is named`);
        await page.fill(`${form} textarea`, "You help a choir.\nAnswer briefly.");
        await page.fill(`${form} input:not([type=checkbox]) >> nth=0`, "77, 78");
        await page.check(`${form} >> text=Only some of the skills`);
        await page.getByLabel("Tools it has not there").fill("exec, web_fetch");
        await noAxe(page);
        await page.locator(form).scrollIntoViewIfNeeded();
        await picture(page, "group-rules");
        await page.click(`${form} .primary`);
        await until(page, () => !document.querySelector("dialog .rules li form.group"));
        const rules = file(f).channels.telegram.groups["-1001234567890"];
        assert.deepEqual(rules, { requireMention: false, allowFrom: ["77", "78"], systemPrompt: "You help a choir.\nAnswer briefly.", skills: [], tools: { deny: ["exec", "web_fetch"] } });
        // What stands there is shown again, and taken out.
        await page.click("dialog [aria-label='Rules of the group -1001234567890']");
        assert.equal(await page.inputValue(`${form} textarea`), "You help a choir.\nAnswer briefly.");
        await page.fill(`${form} textarea`, "");
        await page.fill(`${form} input:not([type=checkbox]) >> nth=0`, "");
        await page.check(`${form} >> text=Only when it is named`);
        await page.uncheck(`${form} >> text=Only some of the skills`);
        await page.getByLabel("Tools it has not there").fill("");
        await page.click(`${form} .primary`);
        await until(page, () => !document.querySelector("dialog .rules li form.group"));
        assert.deepEqual(file(f).channels.telegram.groups["-1001234567890"], {});
        // A topic of the group has rules of its own.
        await page.click("dialog [aria-label='Rules of the group -1001234567890']");
        await page.getByLabel("A topic’s number").fill("7");
        await page.getByLabel("A topic’s number").press("Enter");
        const topic = page.locator("dialog .rules li li form.group");
        await topic.locator("textarea").fill("Only recipes here.");
        await noAxe(page);
        await topic.scrollIntoViewIfNeeded();
        await picture(page, "topic-rules");
        await topic.locator(".primary").click();
        await until(page, () => !document.querySelector("dialog .rules li li form.group"));
        assert.deepEqual(file(f).channels.telegram.groups["-1001234567890"], { topics: { 7: { systemPrompt: "Only recipes here." } } });
        await page.click("dialog .rules li li [aria-label='Remove 7']");
        await until(page, () => !document.querySelector("dialog .rules li li"));
        assert.deepEqual(file(f).channels.telegram.groups["-1001234567890"], { topics: {} });
        // Who answers there.
        await page.click("dialog nav [data-pane=assistants]");
        await page.click("dialog >> text=Add a rule");
        await page.selectOption("dialog form select >> nth=0", { label: "Cook" });
        await page.selectOption("dialog form select >> nth=1", { label: "Telegram" });
        await page.selectOption("dialog form select >> nth=2", { label: "The group" });
        await page.fill("dialog form input", "-1001234567890");
        await noAxe(page);
        await page.click("dialog form .primary");
        await shows(page, "dialog [data-list=bindings]", /Cook\s*.?Telegram.? · The group .?-1001234567890/);
        assert.deepEqual(file(f).bindings, [{ agentId: "cook", match: { channel: "telegram", peer: { kind: "group", id: "-1001234567890" } } }]);
        await looks(f, open, "assistants", "[data-list=bindings]", "bindings");
        await page.click("dialog [data-list=bindings] button");
        await until(page, () => !document.querySelector("dialog [data-list=bindings]"));
        assert.equal(file(f).bindings, undefined);
      });
    },
  },
  {
    name: "fallbacks are put in order by dragging and by the keyboard",
    async run(w, open) {
      const before = readFileSync(w.config, "utf8");
      const chain = ["script/fault-401", "script/long-40", "script/tool-session_status"];
      writeFileSync(w.config, JSON.stringify({ ...JSON.parse(before), agents: { defaults: { model: { primary: "script/echo", fallbacks: chain } } } }, null, 2));
      try {
        const page = await open();
        await ready(page);
        await settings(page, "models");
        const order = () => page.$$eval("dialog [data-list=fallbacks] b", (all) => all.map((e) => e.innerText.trim()));
        await until(page, () => document.querySelectorAll("dialog [data-list=fallbacks] li").length === 3);
        assert.deepEqual(await order(), chain);
        await page.dragAndDrop("dialog [data-list=fallbacks] li:nth-child(3)", "dialog [data-list=fallbacks] li:nth-child(1)");
        await eventually("the order in the file", () => file(w).agents.defaults.model.fallbacks[0] === chain[2]);
        await until(page, (first) => document.querySelector("dialog [data-list=fallbacks] b").innerText.trim() === first, chain[2]);
        assert.deepEqual(await order(), [chain[2], chain[0], chain[1]]);
        await noAxe(page);
        await page.locator("dialog [data-list=fallbacks]").scrollIntoViewIfNeeded();
        await picture(page, "fallbacks");
        await page.focus("dialog [data-list=fallbacks] li:nth-child(1) .handle");
        await page.keyboard.press("End");
        await eventually("the order in the file", () => file(w).agents.defaults.model.fallbacks[2] === chain[2]);
        assert.equal(file(w).agents.defaults.model.primary, "script/echo");
      } finally {
        writeFileSync(w.config, before);
      }
    },
  },
  {
    name: "search: a service's key goes where keys are kept, a server's address into the settings",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, { secrets: { backend: "plain" } }, async (f, page) => {
        await settings(page, "tools");
        await page.selectOption('.field[data-path="tools.web.search.provider"] select', "brave");
        await shows(page, "dialog [data-part=search-key]", /Brave/);
        await page.fill("dialog [data-part=search-key] input", "BSA-canary-0123456789");
        await page.locator("dialog [data-part=search-key]").scrollIntoViewIfNeeded();
        await noAxe(page);
        await picture(page, "search-key");
        await page.click("dialog [data-part=search-key] .primary");
        await eventually("the reference in the file", () => file(f).tools.web.search.apiKey === "keychain:tools.web.search.apiKey");
        assert.doesNotMatch(readFileSync(f.config, "utf8"), /canary/);
        assert.match(execFileSync(f.bin, ["secrets", "list"], { env: f.env, encoding: "utf8" }), /tools\.web\.search\.apiKey/);
        // A key that was typed and not saved is not what another service is asked with.
        await page.fill("dialog [data-part=search-key] input", "BSA-another-0123456789");
        await page.selectOption('.field[data-path="tools.web.search.provider"] select', "searxng");
        await shows(page, "dialog [data-part=search-key]", /SearXNG/);
        assert.equal(await page.inputValue("dialog [data-part=search-key] input"), "");
        await page.fill("dialog [data-part=search-key] input", "http://127.0.0.1:8888");
        await page.click("dialog [data-part=search-key] .primary");
        await eventually("the address in the file", () => file(f).tools.web.search.baseUrl === "http://127.0.0.1:8888");
      });
    },
  },
  {
    name: "skills: one is looked at, installed from a folder, used, and removed",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, {}, async (f, page) => {
        const folder = join(f.home, "brought/haiku");
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "SKILL.md"), "---\nname: haiku\ndescription: Writes a haiku about a day.\n---\n\n# Haiku\n\nFive, seven, five.\n");
        await settings(page, "skills");
        await page.fill("dialog .pane form input", folder);
        await page.press("dialog .pane form input", "Enter");
        await shows(page, "dialog[open]", /haiku[^]*It is installed only when you say so[^]*not seen yet[^]*Five, seven, five/);
        await noAxe(page);
        await picture(page, "skill-look");
        await page.click("dialog[open] >> text=Install it");
        await eventually("the skill", () => /haiku/.test(execFileSync(f.bin, ["skills", "list"], { env: f.env, encoding: "utf8" })));
        if (!(await page.$("dialog nav"))) await settings(page, "skills");
        await until(page, () => [...document.querySelectorAll("dialog .rows li")].some((e) => /haiku/.test(e.innerText)));
        await picture(page, "skill-installed");
      });
    },
  },
];
