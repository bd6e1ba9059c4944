// Scenes of the settings and of gateways that nobody has used yet.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { World, ready, say, until } from "./harness.mjs";
import { served } from "./served.mjs";

/** pane opens a part of the settings. */
export async function pane(page, id, shown) {
  await page.keyboard.press("Control+,");
  await page.waitForSelector("dialog[open] nav");
  if (await page.isVisible("dialog[open] section > .back")) await page.click("dialog[open] section > .back");
  await page.click(`dialog nav [data-pane=${id}]`);
  await page.waitForSelector("dialog section h2");
  if (shown) await page.waitForSelector(shown);
  await page.waitForTimeout(400);
}
const into = (page, where) => page.locator(where).first().scrollIntoViewIfNeeded();
const ids = ["general", "models", "assistants", "usage", "chat", "people", "channels", "tools", "skills", "memory", "schedules", "tasks", "network", "health"];

/** prepare gives a gateway what a person has after a while: assistants, prompts, servers, notes, plans. */
export function prepare(w) {
  const hearth = (...args) => execFileSync(w.bin, args, { env: w.env, stdio: "pipe" });
  for (const at of ["Hearth/memory", "brought/haiku"]) mkdirSync(join(w.home, at), { recursive: true });
  writeFileSync(join(w.home, "Hearth/memory/fence.md"), "# Fence\n\nIt was painted green.\n");
  writeFileSync(join(w.home, "brought/haiku/SKILL.md"), "---\nname: haiku\ndescription: Writes a haiku about a day.\n---\n\n# Haiku\n\nFive, seven, five.\n");
  for (const [at, value] of Object.entries({
    "agents.list": [{ id: "main" }, { id: "cook", identity: { name: "Cook", emoji: "🍳" } }],
    "hearth.prompts": { weekend: { text: "Plan a trip to {{city}} in {{month}}.", about: "Two days away" }, standup: { text: "What did I do yesterday?" } },
    "mcp.servers": { "my-notes": { command: "/bin/false", args: ["--dir", "/tmp/a b"] } },
  })) hearth("config", "set", at, JSON.stringify(value));
  hearth("cron", "add", "every weekday at 9:30", "--remind", "Water the fern");
  hearth("cron", "add", "every day at 18:10", "--remind", "Call home");
  hearth("cron", "add", "--at", "1s", "--keep-after-run", "--name", "Broken command", "--command", "/no/such/program");
}

export const scenes = {
  ...Object.fromEntries(ids.map((id) => [`set-${id}`, (page) => pane(page, id)])),
  async "set-list"(page) {
    await page.keyboard.press("Control+,");
    await page.waitForSelector("dialog[open] nav");
  },
  async "set-models-server"(page) {
    await pane(page, "models");
    await page.click("dialog .row .button:has(svg)");
    await into(page, "dialog section.add .do");
  },
  async "set-assistant"(page) {
    await pane(page, "assistants", "dialog [data-list=assistants]");
    await page.click("dialog [data-list=assistants] li:last-child .button");
    await page.waitForSelector("dialog form");
  },
  async "set-prompt"(page) {
    await pane(page, "chat", "dialog [data-list=prompts]");
    await page.click("dialog [data-list=prompts] .button");
    await into(page, "dialog .pane form textarea");
  },
  async "set-mcp"(page) {
    await pane(page, "skills", "dialog [data-list=mcp]");
    await page.click("dialog .pane:has([data-list=mcp]) .row .button:has(svg)");
    await page.fill("dialog section.add textarea", '{ "mcpServers": { "My Notes": { "command": "/bin/false", "args": ["--dir", "/tmp/a b"], "env": { "NOTES_TOKEN": "${input:notes token}" } }, "old": { "url": "https://x.example/sse" } } }');
    await page.waitForSelector("dialog section.add .runs");
    await into(page, "dialog section.add .do");
  },
  async "set-skill"(page, w) {
    await pane(page, "skills");
    await page.fill("dialog .pane form input", join(w.home, "brought/haiku"));
    await page.press("dialog .pane form input", "Enter");
    await page.waitForSelector("dialog[open] pre");
  },
  async "set-memory-file"(page) {
    await pane(page, "memory");
    await page.click("dialog section p .button");
    await page.click("dialog button:has-text('fence.md')");
    await page.waitForSelector("dialog textarea");
  },
  async "set-safety"(page) {
    await pane(page, "tools");
    await page.click("dialog section p.row .button >> nth=0");
    await page.waitForSelector("#guard-panel");
  },
  async "set-schedule-form"(page) {
    await pane(page, "schedules");
    await page.click("dialog .pane .primary");
    await page.fill("dialog textarea", "Water the fern");
    await page.fill("dialog form input[placeholder] >> nth=0", "every weekday at 9:30");
    await page.waitForSelector("dialog .said");
    await page.waitForTimeout(800);
  },
  async "set-schedule-week"(page) {
    await pane(page, "schedules", "dialog [data-list=jobs]");
    await page.locator("dialog [data-list=jobs] + * , dialog [data-list=jobs] ~ *").last().scrollIntoViewIfNeeded();
  },
  async "set-schedule-log"(page) {
    await pane(page, "schedules", "dialog [data-list=jobs]");
    await page.locator("dialog [data-list=runs]").scrollIntoViewIfNeeded();
  },
  async "set-networks"(page) {
    await pane(page, "channels");
    await page.click("dialog button.add");
    await page.waitForSelector("dialog .kinds button");
    await into(page, "dialog .kinds");
  },
  async "set-telegram"(page) {
    await scenes["set-networks"](page);
    await page.click("dialog .kinds button:text-is('Telegram')");
    await page.waitForSelector("dialog .setup ol");
    await into(page, "dialog .setup h3");
  },
  async "set-matrix"(page) {
    await scenes["set-networks"](page);
    await page.click("dialog .kinds button:text-is('Matrix')");
    await page.waitForSelector("dialog .setup form");
    await into(page, "dialog .setup h3");
  },
  async "set-backup"(page) {
    await pane(page, "health", "dialog [data-part=backup]");
    await into(page, "dialog [data-part=backup] button");
  },
  async "set-move"(page) {
    await pane(page, "health", "dialog [data-part=move]");
    await page.click("dialog [data-part=move] button");
    await page.waitForSelector("dialog.move[open]");
  },
  async "set-update"(page) {
    await pane(page, "health", "dialog [data-part=updates]");
    await into(page, "dialog [data-part=updates]");
  },
  async "set-doctor"(page) {
    await pane(page, "health");
    await page.click("dialog section .pane .button >> nth=0");
    await page.waitForTimeout(3000);
  },
};

const telegram = { telegram: { enabled: true, botToken: "4242424242:AAcanary-7f3a9c_secretTokenPart-xyz01", apiRoot: "http://127.0.0.1:9", groups: { "-1001234567890": {} } } };
const way = (page, n) => page.click(`.first .ways .way >> nth=${n}`);
const asking = `#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
  result='{}'
  case "$line" in *'"method"'*) ;; *) continue;; esac
  case "$line" in *'"initialize"'*) result='{"protocol":1,"name":"a program","version":"1","limits":{"text":2000},"can":[]}';; esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
  case "$line" in *'"start"'*)
    printf '{"jsonrpc":"2.0","method":"status","params":{"state":"waiting","problem":"it waits for a phone"}}\\n'
    printf '{"jsonrpc":"2.0","method":"ask","params":{"kind":"qr","value":"2@first","text":"Scan this with the phone.","expiresMs":600000}}\\n';; esac
done
`;
const kept = "quiet river horse battery staple";

/** own scenes have a gateway of their own: { settings, ollama, play(page, gateway) }. */
export const own = {
  first: { play: (page) => page.waitForSelector(".first .ways .way") },
  "first-local": { ollama: true, play: (page) => page.waitForSelector(".first .one") },
  "first-waits": {
    async play(page) {
      await say(page, "hello there");
      await page.waitForSelector(".first .ways .way");
      await page.waitForTimeout(500);
    },
  },
  "first-ollama": {
    async play(page) {
      await way(page, 0);
      await page.waitForTimeout(1500);
    },
  },
  "first-key": {
    async play(page) {
      await way(page, -2);
      await page.waitForSelector(".first .place");
    },
  },
  "first-server": {
    async play(page) {
      await way(page, -1);
      await page.waitForSelector(".first section.add");
    },
  },
  "first-name": {
    ollama: true,
    async play(page) {
      await say(page, "hello there");
      await page.click(".first .one .primary");
      await page.waitForSelector(".next form, .next .head", { timeout: 60_000 });
      await page.waitForTimeout(500);
    },
  },
  "first-phone": {
    ollama: true,
    async play(page) {
      await own["first-name"].play(page);
      await page.click(".next .row .button >> nth=-1");
      await page.waitForTimeout(500);
    },
  },
  "first-telegram": {
    ollama: true,
    async play(page) {
      await own["first-phone"].play(page);
      await page.click(".next .row .button >> nth=-1");
      await page.waitForSelector(".next form input[type=password], .next .place");
    },
  },
  "keys-place": {
    async play(page) {
      await pane(page, "models", "dialog .place");
      await page.click("dialog .place .way >> nth=0");
      await page.fill("dialog .place input >> nth=0", kept);
      await page.fill("dialog .place input >> nth=1", "another");
    },
  },
  "keys-locked": {
    async play(page, f) {
      await pane(page, "models", "dialog .place");
      await page.click("dialog .place .way >> nth=0");
      for (const n of [0, 1]) await page.fill(`dialog .place input >> nth=${n}`, kept);
      await page.click("dialog .place .primary");
      await page.waitForSelector("dialog .kept");
      const form = "dialog .pane form:has(input[type=password])";
      await page.selectOption(`${form} select`, "openrouter");
      await page.fill(`${form} input[type=password]`, "sk-or-v1-0123456789abcdef0123456789");
      await page.click(`${form} [type=submit]`);
      await page.waitForSelector("dialog .rows b");
      await page.keyboard.press("Escape");
      await f.killGateway();
      await f.startGateway();
      await page.waitForSelector(".banner.problem", { timeout: 60_000 });
    },
    more: { "keys-unlock": (page) => page.click(".banner.problem button >> nth=0") },
  },
  "server-models": {
    settings: { secrets: { backend: "plain" } },
    async play(page) {
      const server = await served("");
      try {
        await pane(page, "models");
        await page.click("dialog .row .button:has(svg)");
        await page.fill("dialog section.add input >> nth=0", server.url);
        await page.click("dialog section.add .primary");
        await page.waitForSelector("dialog section.add .model");
        await into(page, "dialog section.add .do");
      } finally {
        server.close();
      }
    },
  },
  groups: {
    settings: { channels: telegram, agents: { list: [{ id: "main" }, { id: "cook", identity: { name: "Cook", emoji: "🍳" } }] } },
    async play(page) {
      await pane(page, "channels", "dialog [data-list=accounts]");
      await page.click("dialog [data-list=accounts] button[aria-expanded]");
      await page.waitForSelector("dialog .rules .names button");
      await page.click("dialog .rules .names li:has-text('-1001234567890') .button >> nth=0");
      await page.waitForSelector("dialog .rules form.group");
      await into(page, "dialog .rules form.group");
    },
    more: {
      async bindings(page) {
        await pane(page, "assistants", "dialog [data-list=assistants]");
        await page.click("dialog .pane:last-of-type .row .button:has(svg) >> nth=-1");
        await into(page, "dialog form .primary");
      },
    },
  },
  askedBy: {
    async play(page, f) {
      const script = join(f.home, "asking.sh");
      writeFileSync(script, asking, { mode: 0o755 });
      await pane(page, "channels");
      await page.click("dialog button.add");
      await page.click("dialog .kinds li:last-child button");
      await page.fill("dialog .setup .field:has(label:text-is('command')) input", `/bin/sh, ${script}`);
      await page.click("dialog .setup button[type=submit]");
      await page.waitForSelector("dialog .setup .asked img");
      await page.waitForTimeout(300);
    },
  },
  away: {
    async play(page, f) {
      await say(page, "hello");
      await f.killGateway();
      await page.waitForSelector(".banner.link");
      await page.fill("#composer", "Kept meanwhile");
      await page.keyboard.press("Enter");
      await page.waitForTimeout(800);
      f.ended = true;
    },
  },
};

/** fresh plays a scene with a gateway of its own and lets look at what is seen after each of its steps. */
export async function fresh(w, name, dress, look) {
  const { settings = {}, ollama = false, play, more = {} } = own[name];
  const f = await World.fresh(w, { settings, ollama });
  try {
    const page = await f.open(dress);
    await ready(page);
    for (const [n, step] of Object.entries({ [name]: play, ...more })) {
      if (n !== name) {
        await page.keyboard.press("Escape");
        await page.setViewportSize({ width: 1280, height: 800 });
      }
      await look(n, page, () => step(page, f));
    }
    await page.context().close();
  } finally {
    await f.stop();
  }
}
