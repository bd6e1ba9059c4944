// Messaging networks in the page: setting one up, how its accounts are, and
// conversations that are held on one.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answered, axe, eventually, lineWith, program, ready, say, shows, until } from "./harness.mjs";

const token = "4242424242:AAcanary-7f3a9c_secretTokenPart-xyz01";
const ann = { ID: 77, Name: "Ann", Username: "ann" };
const list = "dialog [data-list=accounts] > li";

/** botapi is the Bot API server of the Telegram tests, with Ann on it. */
async function botapi() {
  const server = spawn(program("./build/botapi"), ["-token", token]);
  const root = (await lineWith(server, /http:\/\/\S+/, "the Bot API server"))[0];
  const post = async (path, body) => (await fetch(`${root}/_lab/${path}`, { method: "POST", body: JSON.stringify(body) })).json();
  await post("chat", { ID: ann.ID, Type: "private" });
  return {
    root,
    say: (text) => post("say", { chat: ann.ID, from: ann, text }),
    sent: async () => ((await (await fetch(`${root}/_lab/sent?chat=${ann.ID}`)).json()) ?? []).map((m) => m.Text),
    stop: () => server.kill("SIGKILL"),
  };
}

/** sentLike waits for a message of the bot. */
async function sentLike(api, pattern) {
  for (const end = performance.now() + 30_000; ; await new Promise((r) => setTimeout(r, 50))) {
    const found = (await api.sent()).find((text) => pattern.test(text));
    if (found) return found;
    if (performance.now() > end) throw new Error(`the bot wrote nothing like ${pattern}: ${JSON.stringify(await api.sent())}`);
  }
}

/** pane opens the settings where the networks are. */
async function pane(page) {
  await page.keyboard.press("Control+,");
  await page.click("dialog nav [data-pane=channels]");
  await page.waitForSelector("dialog button.add");
}

/** form begins to set Telegram up and fills in what is asked. */
async function form(page, api, botToken) {
  await page.click("dialog button.add");
  await page.click("dialog .kinds button:text-is('Telegram')");
  await page.waitForSelector("dialog .setup ol");
  await page.fill("dialog .setup input[type=password] >> nth=0", botToken);
  await page.click("dialog .setup form details summary");
  await page.locator("dialog .setup .field:has(label:text-is('apiRoot')) input").fill(api.root);
}

const secrets = (w) => execFileSync(w.bin, ["secrets", "list"], { env: w.env, encoding: "utf8" });
const clean = async (page, where) => {
  assert.deepEqual(await axe(page), [], where);
  const wider = await page.evaluate(() => {
    const section = document.querySelector("dialog section");
    return Math.max(section ? section.scrollWidth - section.clientWidth : 0, document.documentElement.scrollWidth - innerWidth);
  });
  assert.equal(wider, 0, `${where}: wider than the screen`);
};

/** dressed answers for a gateway with accounts in every state. */
export async function dressed(page) {
  const account = (accountId, more) => ({ accountId, enabled: true, configured: true, linked: true, running: true, connected: false, dmPolicy: "pairing", hearthGroupPolicy: "allowlist", ...more });
  const long = "a-very-long-name-of-an-account-that-somebody-chose-for-good-reason";
  const accounts = {
    telegram: [
      account("default", { connected: true, hearthState: "receiving", name: "@hearth_at_home_bot", allowFrom: ["123456789"], hearthGroups: ["*", "-1001234567890"] }),
      account(long, { hearthState: "conflict", lastError: "Another program receives the messages of this bot. Stop it: `getUpdates` is answered with 409." }),
      account("third", { hearthState: "starting" }),
    ],
    slack: [account("default", { hearthState: "waiting", lastError: "The bot's token lacks the scopes im:history, im:read: add them at https://api.slack.com/apps, your app, OAuth & Permissions, and install it again." })],
    matrix: [account("default", { enabled: false, hearthState: "stopped" })],
    discord: [account("default", { hearthState: "failed", lastError: "Discord does not let the bot read messages (it lacks the MESSAGE CONTENT INTENT, code 4014)." })],
  };
  const order = Object.keys(accounts);
  const status = { ts: 1, channelOrder: order, channelLabels: { telegram: "Telegram", slack: "Slack", matrix: "Matrix", discord: "Discord" }, channels: {}, channelAccounts: accounts, channelDefaultAccountId: {} };
  await page.routeWebSocket(/.*/, (ws) => {
    const server = ws.connectToServer();
    ws.onMessage((m) => {
      const f = JSON.parse(m);
      if (f.method !== "channels.status") return server.send(m);
      ws.send(JSON.stringify({ type: "res", id: f.id, ok: true, payload: status }));
    });
    server.onMessage((m) => ws.send(m));
  });
}

/**
 * asking is a program of docs/channels/write-your-own.md that asks for a code to be scanned, then
 * for one to be typed, as its test says by files beside it; then somebody writes to it.
 */
const asking = `#!/bin/sh
note() { printf '{"jsonrpc":"2.0","method":"%s","params":%s}\\n' "$1" "$2"; }
until_there() { while [ ! -e "$0.$1" ]; do sleep 0.1; done; }
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
  result='{}'
  case "$line" in *'"method"'*) ;; *) continue;; esac
  case "$line" in *'"initialize"'*)
    result='{"protocol":1,"name":"program of a test","version":"1","limits":{"text":2000},"can":[]}';;
    *'"send"'*) result='{"messageId":"s1"}';; esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
  case "$line" in *'"start"'*)
    note status '{"state":"waiting","problem":"it waits for a phone"}'
    note ask '{"kind":"qr","value":"2@first","text":"Scan this with the phone.","expiresMs":600000}'
    ( until_there scanned
      note ask '{"kind":"code","value":"ABCD-1234","text":"Type this on the phone.","expiresMs":600000}'
      until_there typed
      note ask '{}'
      note status '{"state":"receiving"}'
      until_there said
      printf '{"jsonrpc":"2.0","id":7,"method":"inbound","params":{"chat":"direct","conversation":"42","senderId":"42","senderName":"Ada","messageId":"m1","text":"hi","atMs":1763900000000}}\\n'
    ) & ;; esac
done
`;

export const cases = [
  {
    name: "a network that asks for a phone shows what to scan and to type, and is connected when the first message went both ways",
    async run(w, open) {
      const script = join(w.home, "asking.sh");
      writeFileSync(script, asking, { mode: 0o755 });
      const does = (what) => writeFileSync(`${script}.${what}`, "");
      const page = await open({ width: 360 });
      await ready(page);
      await pane(page);
      await page.click("dialog button.add");
      await page.click("dialog .kinds button:text-is('Program')");
      await page.locator("dialog .setup .field:has(label:text-is('command')) input").fill(`/bin/sh, ${script}`);
      await page.click("dialog .setup button[type=submit]");
      await shows(page, "dialog .setup .asked", /Scan this with the phone\./);
      const drawn = await page.locator("dialog .setup .asked img").evaluate((i) => [i.naturalWidth > 20, i.src.slice(0, 22)]);
      assert.deepEqual(drawn, [true, "data:image/png;base64,"]);
      await clean(page, "what is scanned");
      does("scanned");
      await shows(page, "dialog .setup .asked", /Type this on the phone\.\s*ABCD-1234/);
      assert.equal(await page.locator("dialog .setup .asked img").count(), 0);
      assert.doesNotMatch(await page.textContent("dialog .setup"), /Now write to it/);
      does("typed");
      await shows(page, "dialog .setup", /Now write to it/);
      does("said");
      await shows(page, "dialog .setup form", /Ada wrote, and was sent a code/);
      const asked = JSON.parse(execFileSync(w.bin, ["contacts", "--json"], { env: w.env, encoding: "utf8" }));
      await page.fill("dialog .setup form input", asked.requests[0].code);
      await page.click("dialog .setup form button");
      await shows(page, "dialog .setup", /Program is connected/);
      await page.keyboard.press("Escape");
      await pane(page);
      await page.click(`${list} >> role=button[name='Remove Program']`);
      await page.click(`${list} .sure .danger`);
      await shows(page, "dialog .pane", /No channel is set up/);
    },
  },
  {
    name: "a network is set up in the page, from its steps to the first answer, and taken out again",
    async run(w, open) {
      execFileSync(w.bin, ["config", "set", "secrets.backend", "plain"], { env: w.env, stdio: "pipe" });
      const api = await botapi();
      const page = await open();
      try {
        await ready(page);
        await pane(page);
        await shows(page, "dialog .pane", /No channel is set up/);
        await form(page, api, "no token");
        assert.match(await page.getAttribute("dialog .setup ol a", "href"), /^https:\/\/t\.me\/BotFather$/);
        await page.click("dialog .setup button[type=submit]");
        await shows(page, "dialog .setup [role=alert]", /digits, a colon and letters/);
        await page.fill("dialog .setup input[type=password] >> nth=0", token);
        await page.click("dialog .setup button[type=submit]");
        await shows(page, "dialog .setup", /Now write to it/);
        await api.say("hi");
        const code = (await sentLike(api, /\b[A-Z0-9]{8}\b/)).match(/\b[A-Z0-9]{8}\b/)[0];
        await shows(page, "dialog .setup form", /Ann wrote, and was sent a code/);
        await page.fill("dialog .setup form input", "WRONGONE");
        await page.click("dialog .setup form button");
        await shows(page, "dialog .setup [role=alert]", /another code/);
        await page.fill("dialog .setup form input", code.toLowerCase());
        await page.click("dialog .setup form button");
        await shows(page, "dialog .setup", /Telegram is connected/);
        await page.click("dialog .setup button");
        await shows(page, list, /Telegram\s+connected/);
        assert.match(readFileSync(w.config, "utf8"), /keychain:channels\.telegram\.botToken/);
        assert.doesNotMatch(readFileSync(w.config, "utf8"), /canary/);

        // Who may write, and whether anybody may: at once.
        await page.click(`${list} >> role=button[name='Who may write to Telegram']`);
        await page.fill(`${list} .rules form >> nth=0 >> input`, "123");
        await page.click(`${list} .rules form >> nth=0 >> button`);
        await shows(page, `${list} .rules ul`, /123/);
        await page.selectOption(`${list} .rules select >> nth=0`, "allowlist");
        await eventually("the rule in the file", () => /"?dmPolicy"?: "allowlist"/.test(readFileSync(w.config, "utf8")));
        await page.selectOption(`${list} .rules select >> nth=0`, "pairing"); // for those who were let in
        await eventually("the rule in the file", () => /"?dmPolicy"?: "pairing"/.test(readFileSync(w.config, "utf8")));
        await page.click(`${list} [role=switch]`);
        await shows(page, list, /switched off/);
        await page.click(`${list} [role=switch]`);
        await shows(page, list, /Telegram\s+connected/);
        await page.keyboard.press("Escape");

        // What comes from there says so, and can be answered there.
        await api.say("hello from the phone");
        await answered(page, "hello from the phone");
        await shows(page, "article[data-state] .came", /You, on Telegram/);
        await say(page, "only here");
        await answered(page, "only here");
        await page.check("form .card input[type=checkbox]");
        await say(page, "here and there");
        await sentLike(api, /here and there/);
        await page.waitForSelector("article[data-state]:has(.bubble:text-is('here and there')) .came:has-text('on Telegram too')");
        assert.ok(!(await api.sent()).some((text) => /only here/.test(text)), "an answer left that was not to");
        await say(page, "/continue telegram");
        await shows(page, "form .card", /Answers to you go to Telegram/);
        await say(page, "follow me");
        await sentLike(api, /follow me/);
        await page.click("form .card button:text-is('Answer where I write')");
        await until(page, () => document.querySelector("form .card input[type=checkbox]"));

        await pane(page);
        await page.click(`${list} >> role=button[name='Remove Telegram']`);
        await page.click(`${list} .sure .danger`);
        await shows(page, "dialog .pane", /No channel is set up/);
        assert.doesNotMatch(readFileSync(w.config, "utf8") + secrets(w), /botToken/);
      } finally {
        api.stop();
      }
    },
  },
  {
    name: "a token that the network refuses is said at once, and leaves nothing behind when it is corrected",
    async run(w, open) {
      execFileSync(w.bin, ["config", "set", "secrets.backend", "plain"], { env: w.env, stdio: "pipe" });
      const api = await botapi();
      const page = await open({ width: 360 });
      try {
        await ready(page);
        await pane(page);
        await form(page, api, "4242424242:AAanotherToken-thatNobodyKnows-000001");
        await page.click("dialog .setup button[type=submit]");
        await shows(page, "dialog .setup [role=alert]", /token/i);
        await clean(page, "problem");
        await page.click("dialog .setup button:text-is('Correct it')");
        await page.waitForSelector("dialog .setup input[type=password]");
        assert.equal(await page.inputValue("dialog .setup .field:has(label:text-is('apiRoot')) input"), api.root);
        assert.doesNotMatch(readFileSync(w.config, "utf8") + secrets(w), /telegram/);
      } finally {
        api.stop();
      }
    },
  },
  {
    name: "accounts in every state, and every network's form: no axe findings, nothing wider than the screen",
    async run(w, open) {
      for (const dress of [{ width: 1280, scheme: "light" }, { width: 360, scheme: "dark" }, { width: 360, scheme: "light", locale: "de-DE" }]) {
        const page = await open({ ...dress, before: dressed });
        await ready(page);
        await pane(page);
        await until(page, () => document.querySelectorAll("dialog [data-list=accounts] > li").length === 6);
        await page.click(`${list} >> nth=0 >> button[aria-expanded]`);
        await page.waitForSelector(`${list} .rules`);
        await clean(page, `${JSON.stringify(dress)} list`);
        await page.click("dialog button.add");
        const kinds = await page.$$eval("dialog .kinds button", (all) => all.length);
        assert.ok(kinds >= 8, `${kinds} networks`);
        await clean(page, `${JSON.stringify(dress)} choice`);
        for (let i = 0; i < kinds; i++) {
          await page.click(`dialog .kinds li:nth-child(${i + 1}) button`);
          await page.waitForSelector("dialog .setup form");
          for (const more of await page.$$("dialog .setup details:not([open]) summary")) await more.click();
          await clean(page, `${JSON.stringify(dress)} ${await page.textContent("dialog .setup h3")}`);
          await page.click("dialog .setup form .row button >> nth=1");
        }
        await page.context().close();
      }
    },
  },
];
