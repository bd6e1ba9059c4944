// What the command line can do, done in the page: keys without a keychain, servers of
// models, MCP servers, assistants. Each case has a gateway that nobody has used.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { World, axe, picture, ready, say, shows, until } from "./harness.mjs";
import { served } from "./served.mjs";

const noAxe = async (page) => assert.deepEqual(await axe(page), []);
const file = (w) => JSON.parse(readFileSync(w.config, "utf8"));

/** fresh runs steps with a gateway of its own and a page whose settings are open. */
async function fresh(w, open, pane, steps, o = {}) {
  const f = await World.fresh(w);
  try {
    const page = await f.open(o);
    open.pages.push(page);
    await ready(page);
    if (pane) await settings(page, pane);
    await steps(f, page);
  } finally {
    await f.stop();
  }
}

async function settings(page, pane) {
  await page.keyboard.press("Control+,");
  await page.waitForSelector("dialog[open] nav");
  await page.click(`dialog nav >> text=${pane}`);
}

export const cases = [
  {
    name: "keys: without a keychain a passphrase is chosen in place, typed twice, and the vault is unlocked from the page after a restart",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, "Models & keys", async (f, page) => {
        const place = "dialog .place";
        await shows(page, place, /Where should keys be kept\?[^]*Protect with a passphrase[^]*Keep in a private file[^]*Not encrypted/);
        await noAxe(page);
        await picture(page, "keys-choose");
        // The key that is typed meanwhile is kept and stored as soon as there is a place.
        await page.selectOption("dialog form select", "openrouter");
        await page.fill("dialog form input[type=password]", "sk-or-v1-0123456789abcdef0123456789");
        await page.click(`${place} >> text=Protect with a passphrase`);
        const [pass, again] = [`${place} input >> nth=0`, `${place} input >> nth=1`];
        await page.fill(pass, "passwort");
        await shows(page, `${place} .strength`, /Weak/);
        await page.fill(pass, "quiet river horse battery staple");
        await page.fill(again, "quiet river horse battery stapl");
        await shows(page, place, /The two are not the same/);
        assert.ok(await page.isDisabled(`${place} .primary`));
        await noAxe(page);
        await picture(page, "keys-passphrase");
        await page.fill(again, "quiet river horse battery staple");
        await page.click(`${place} .primary`);
        await shows(page, "dialog .kept", /vault, under your passphrase/);
        await page.click("dialog >> text=Store and test");
        await until(page, () => [...document.querySelectorAll("dialog .rows b")].some((e) => /OpenRouter/.test(e.innerText)));
        assert.ok(!readFileSync(f.config, "utf8").includes("sk-or-v1"));
        // After a restart it is locked, and said so above the chat.
        await page.keyboard.press("Escape");
        await f.killGateway();
        await f.startGateway();
        await shows(page, ".banner.problem", /Your keys are locked/);
        await picture(page, "keys-locked-banner");
        await page.click(".banner.problem >> text=Unlock…");
        await page.fill("dialog input", "wrong passphrase");
        await page.click("dialog >> text=Unlock");
        await shows(page, "dialog [role=alert]", /passphrase/);
        await noAxe(page);
        await picture(page, "keys-unlock");
        await page.fill("dialog input", "quiet river horse battery staple");
        await page.click("dialog .primary");
        await until(page, () => !document.querySelector("dialog[open]") && !document.querySelector(".banner.problem"));
      });
    },
  },
  {
    name: "keys: a private file is chosen with one press, and the key that was refused is kept",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, "", async (f, page) => {
        await page.click('.first button:has-text("Paste a key")');
        await shows(page, ".first .place", /Where should keys be kept/);
        await noAxe(page);
        await picture(page, "keys-first-steps");
        await page.click(".first .place >> text=Keep in a private file");
        await shows(page, ".first .kept", /private file that is not encrypted/);
        assert.equal(file(f).secrets.backend, "plain");
      }, { width: 360, height: 740 });
    },
  },
  {
    name: "servers: an address is looked at, errors say why, a question and a tool call are tried, and it answers by default",
    world: "guide",
    async run(w, open) {
      const server = await served("sk-right-0123456789");
      try {
        await fresh(w, open, "Models & keys", async (f, page) => {
          await page.click("dialog .place >> text=Keep in a private file");
          await shows(page, "dialog .kept", /private file/);
          await page.click("dialog >> text=Add a server");
          const box = "dialog section.add";
          const look = async (address, key, want) => {
            await page.fill(`${box} input >> nth=0`, address);
            await page.fill(`${box} input[type=password]`, key);
            await page.click(`${box} .primary`);
            await shows(page, want instanceof RegExp ? `${box} [role=alert]` : box, want instanceof RegExp ? want : want.all);
          };
          await look("my server", "", /no address of a server/);
          await look("127.0.0.1:9", "", /Nobody answers there/);
          await look(f.url, "", /no server of models/);
          await look(server.url, "", /wants a key/);
          await noAxe(page);
          await picture(page, "server-error");
          await look(server.url, "sk-right-0123456789", { all: /2 models at[^]*small-vl[^]*32K · sees pictures/ });
          assert.equal(await page.inputValue(`${box} input >> nth=0`), "vllm");
          await page.fill(`${box} input >> nth=0`, "studio");
          await noAxe(page);
          await picture(page, "server-models");
          await page.click(`${box} .primary`);
          await shows(page, `${box} .good`, /studio\/small-vl Answered in [\d.]+\s?s · 32K · tools work · sees pictures/);
          await noAxe(page);
          await picture(page, "server-answered");
          const s = file(f).models.providers.studio;
          assert.equal(s.baseUrl, `${server.url}/v1`);
          assert.equal(s.apiKey, "keychain:models.providers.studio.apiKey");
          await shows(page, box, /It answers by default/); // nothing else was chosen
          await page.click(`${box} >> text=Done`);
          await shows(page, "dialog [data-list=servers]", /studio[^]*2 models/);
          await page.click('dialog [aria-label="Remove the server studio"]');
          await noAxe(page);
          await page.click("dialog >> text=Remove it and its key");
          await until(page, () => !document.querySelector("dialog [data-list=servers]"));
          assert.equal(file(f).models.providers?.studio, undefined);
        });
      } finally {
        server.close();
      }
    },
  },
  {
    name: "services: by name, with the fields that each needs",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, "Models & keys", async (f, page) => {
        await page.selectOption("dialog form select >> nth=0", { label: "Azure OpenAI" });
        await shows(page, "dialog form:has(select)", /Address of your resource[^]*Name of the deployment/);
        await page.selectOption("dialog form select >> nth=0", { label: "Cloudflare AI Gateway" });
        await shows(page, "dialog form:has(select)", /Account ID[^]*Name of the gateway/);
        await noAxe(page);
        await picture(page, "services");
      });
    },
  },
  {
    name: "MCP: what other programs have is pasted, shown before it runs, added, switched off and removed",
    world: "guide",
    async run(w, open) {
      await fresh(w, open, "Skills & MCP", async (f, page) => {
        await page.click("dialog >> text=Add servers");
        const box = "dialog section.add";
        await page.fill(`${box} textarea`, "{ nonsense");
        await shows(page, box, /cannot be read/);
        await page.fill(`${box} textarea`, `{ "mcpServers": {
          "My Notes": { "command": "/bin/false", "args": ["--dir", "/tmp/a b"], "env": { "NOTES_TOKEN": "\${input:notes token}" } }, // mine
          "old": { "url": "https://x.example/sse" } } }`);
        await shows(page, box, /1 server was read[^]*old: left out[^]*This will run[^]*\/bin\/false --dir '\/tmp\/a b'/);
        assert.equal(file(f).mcp, undefined, "something was kept before it was agreed to");
        assert.ok(await page.isDisabled(`${box} .primary`), "a value is missing");
        await noAxe(page);
        await picture(page, "mcp-paste");
        await page.fill(`${box} input[type=password]`, "nt-0123456789abcdef");
        await page.click(`${box} .primary`);
        await shows(page, "dialog [data-list=mcp]", /my-notes/);
        assert.deepEqual(file(f).mcp.servers["my-notes"].args, ["--dir", "/tmp/a b"]);
        await page.click("dialog [data-list=mcp] [role=switch]");
        await shows(page, "dialog [data-list=mcp] .badge", /off/);
        await picture(page, "mcp-list");
        await page.click('dialog [aria-label="Remove my-notes"]');
        await page.click("dialog >> text=Really remove it");
        await until(page, () => !document.querySelector("dialog [data-list=mcp]"));
        assert.equal(file(f).mcp.servers?.["my-notes"], undefined);
      });
    },
  },
  {
    name: "assistants: one is made, its name stands everywhere, one switches to it at the top, and it is removed",
    async run(w, open) {
      const page = await open();
      await ready(page);
      await settings(page, "Assistants");
      await shows(page, "dialog [data-list=assistants]", /Hearth/);
      await page.click("dialog >> text=Add an assistant");
      await page.fill("dialog form input >> nth=0", "Chef Anna");
      await page.click('dialog .faces button:text-is("🍳")');
      await page.selectOption("dialog form select >> nth=1", "minimal");
      await noAxe(page);
      await picture(page, "assistant-form");
      await page.click("dialog form .primary");
      await shows(page, "dialog [data-list=assistants]", /🍳[^]*Chef Anna[^]*hardly any tools/);
      await noAxe(page);
      await picture(page, "assistants");
      await page.keyboard.press("Escape");
      await page.click('[aria-label="Hearth answers here"]');
      await page.click('[role=menuitemradio]:has-text("Chef Anna")');
      await until(page, () => document.querySelector("#composer").placeholder === "Message Chef Anna");
      await say(page, "hello");
      await shows(page, ".row.text .who", /🍳\s*Chef Anna/);
      await noAxe(page);
      await picture(page, "assistant-chat");
      await settings(page, "Assistants");
      await page.click('dialog [aria-label="Remove Chef Anna"]');
      await page.click("dialog >> text=Really remove");
      await until(page, () => !/Chef Anna/.test(document.querySelector("dialog [data-list=assistants]").innerText));
    },
  },
];
