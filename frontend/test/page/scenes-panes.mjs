// The parts of the settings and what is done in them, for pictures of them.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asking, botapi, dressed, token } from "./cases-channels.mjs";
import { ready, until } from "./harness.mjs";
import { hearth } from "./phone.mjs";
import { service } from "./service.mjs";

export const panes =
  "general models assistants usage chat people channels tools skills memory schedules tasks network health".split(" ");

/** open shows a part of the settings. */
export async function open(page, pane) {
  if (!(await page.$("dialog[open] nav"))) await page.keyboard.press("Control+,");
  await page.waitForSelector("dialog[open] nav", { state: "attached" });
  if (await page.isVisible("dialog[open] section > .back")) await page.click("dialog[open] section > .back");
  await page.click(`dialog nav [data-pane=${pane}]`);
  await page.waitForSelector("dialog section h2");
  await page.waitForTimeout(600);
}

/** prepare gives a gateway what its lists show. */
export function prepare(w) {
  mkdirSync(join(w.home, "Hearth/memory"), { recursive: true });
  writeFileSync(join(w.home, "Hearth/memory/fence.md"), "# Fence\n\nIt was painted green.\n");
  const skill = join(w.home, "brought/haiku");
  mkdirSync(skill, { recursive: true });
  const head = "---\nname: haiku\ndescription: Writes a haiku about a day.\n---\n";
  writeFileSync(join(skill, "SKILL.md"), `${head}\n# Haiku\n\nFive, seven, five.\n`);
  writeFileSync(join(w.home, "asking.sh"), asking, { mode: 0o755 });
  const weekend = { text: "Plan a trip to {{city}} in {{month}}.\n{{city}} by train.", about: "Two days away" };
  hearth(w, "config", "set", "hearth.prompts.weekend", JSON.stringify(weekend));
}

const assistants = JSON.stringify([{ id: "main" }, { id: "cook", identity: { name: "Chef Anna", emoji: "🍳" } }]);

/** planned gives it jobs of every kind. */
function planned(w) {
  const cron = (...a) => hearth(w, "cron", ...a);
  for (const j of JSON.parse(cron("list", "--all", "--json")).jobs) cron("remove", j.id);
  cron("add", "every weekday at 9:30", "--remind", "Water the fern");
  cron("add", "every day at 18:00", "--remind", "تذكير بالاجتماع الأسبوعي مع الفريق");
  cron("add", "--at", "1s", "--keep-after-run", "--name", "Broken command", "--command", "/no/such/program");
}

const add = (page) => page.click("dialog button.add");
const mcp = `{ "mcpServers": {
  "My Notes": { "command": "/bin/false", "args": ["--dir", "/tmp/a b"], "env": { "NOTES_TOKEN": "\${input:notes token}" } },
  "old": { "url": "https://x.example/sse" } } }`;

/** acts are what is done in a part: [part, what]. */
export const acts = {
  "assistant-form": ["assistants", async (page, { t }) => page.click(`dialog >> text="${t("Add an assistant")}"`)],
  "prompt-form": ["chat", async (page, { t }) => page.click(`dialog >> text="${t("Add a prompt")}"`)],
  "server-form": ["models", async (page, { t }) => {
    await page.click(`dialog >> text="${t("Add a server")}"`);
    await page.fill("dialog section.add input >> nth=0", "127.0.0.1:9");
    await page.click("dialog section.add .primary");
    await page.waitForSelector("dialog section.add [role=alert]");
  }],
  kinds: ["channels", add],
  telegram: ["channels", async (page) => {
    await add(page);
    await page.click("dialog .kinds button:text-is('Telegram')");
    await page.waitForSelector("dialog .setup ol");
  }],
  refused: ["channels", async (page, { w }) => {
    const api = (w.botapi ??= await botapi());
    await acts.telegram[1](page);
    await page.fill("dialog .setup input[type=password] >> nth=0", `${token}x`);
    await page.click("dialog .setup form details summary");
    await page.locator("dialog .setup .field:has(label:text-is('apiRoot')) input").fill(api.root);
    await page.click("dialog .setup button[type=submit]");
    await page.waitForSelector("dialog .setup [role=alert]");
  }],
  "mcp-paste": ["skills", async (page, { t }) => {
    await page.click(`dialog >> text="${t("Add servers")}"`);
    await page.fill("dialog section.add textarea", mcp);
    await page.waitForSelector("dialog section.add input[type=password]");
  }],
  "skill-install": ["skills", async (page, { w }) => {
    await page.fill("dialog .pane form input", join(w.home, "brought/haiku"));
    await page.press("dialog .pane form input", "Enter");
    await until(page, () => !document.querySelector("dialog[open] nav") && /haiku/.test(document.querySelector("dialog[open]")?.innerText));
    await page.waitForTimeout(400);
  }],
  memory: ["memory", async (page, { t }) => {
    await page.click(`dialog >> text="${t("Read, search, change and forget…")}"`);
    await page.click("dialog button:has-text('memory/fence.md')");
    await page.waitForSelector("dialog textarea");
  }],
  tools: ["tools", async (page, { t }) => {
    await page.click(`dialog >> text="${t("See all tools, what I allowed for longer, and the log…")}"`);
    await page.waitForSelector("#guard-panel");
  }],
  done: ["tools", async (page, x) => {
    await acts.tools[1](page, x);
    await page.click(`role=tab[name="${x.t("What was done")}"]`);
    await page.waitForSelector("#guard-panel .entry");
  }],
  jobs: ["schedules", async (page, { w }) => {
    planned(w);
    await page.waitForSelector("dialog [data-list=jobs] > li:nth-child(2)");
    await page.waitForTimeout(2500);
  }],
  "job-form": ["schedules", async (page, { t }) => {
    await page.click(`dialog >> text="${t("Plan something")}"`);
    await page.fill("dialog textarea", "Water the fern");
  }],
  "job-edit": ["schedules", async (page, { t }) => {
    await page.click('dialog [data-list=jobs] > li:has-text("Water the fern") button[aria-haspopup=menu]');
    await page.click(`role=menuitem[name="${t("Edit")}"]`);
    await page.waitForSelector("dialog form textarea");
  }],
  raw: ["health", async (page) => {
    await page.locator("dialog details summary").last().click();
    await until(page, () => document.querySelector("dialog textarea")?.value.includes("providers"));
  }],
  doctor: ["health", async (page, { t }) => {
    await page.click(`dialog section button:has-text("${t("Look everything over")}")`);
    await page.waitForSelector("dialog section [role=status] .about");
  }],
};

/** shoot takes the pictures of the settings in one dress. */
export async function shoot(w, dress, x, keep, wanted) {
  const { width } = dress;
  const all = ["switcher", "settings", "accounts", ...panes.map((p) => `pane-${p}`), ...Object.keys(acts).map((a) => `act-${a}`)];
  if (!all.some(wanted)) return;
  hearth(w, "config", "set", "agents.list", assistants);
  const page = await w.open(dress);
  try {
    await ready(page);
    for (const id of panes) {
      if (!wanted(`pane-${id}`)) continue;
      await page.setViewportSize({ width, height: 800 });
      await open(page, id);
      // All of it in one picture: as high as what it shows.
      const high = await page.$eval("dialog section", (e) => e.scrollHeight + 140);
      await page.setViewportSize({ width, height: Math.min(3000, Math.max(740, high)) });
      await keep(page, `pane-${id}`);
    }
    await page.setViewportSize({ width, height: width < 720 ? 740 : 800 });
    if (width < 720 && wanted("settings")) {
      if (await page.isVisible("dialog[open] section > .back")) await page.click("dialog[open] section > .back");
      await keep(page, "settings");
    }
    for (const [name, [pane, act]] of Object.entries(acts)) {
      if (!wanted(`act-${name}`)) continue;
      await page.setViewportSize({ width, height: width < 720 ? 740 : 800 });
      await page.reload();
      await ready(page);
      await open(page, pane);
      await keep(page, `act-${name}`, () => act(page, { ...x, w }));
    }
    if (wanted("switcher")) {
      await page.reload();
      await ready(page);
      await keep(page, "switcher", () => page.click("header .pick >> nth=0"));
    }
  } finally {
    await page.context().close();
    hearth(w, "config", "unset", "agents.list");
  }
  if (!wanted("accounts")) return;
  const known = await w.open({ ...dress, height: 1400, before: dressed });
  try {
    await ready(known);
    await open(known, "channels");
    await keep(known, "accounts", async () => known.click("dialog [data-list=accounts] > li >> nth=0 >> button[aria-expanded]"));
  } finally {
    await known.context().close();
  }
}

/** asks is a network that shows a picture to scan. */
export async function asks(w, dress, keep) {
  const page = await w.open(dress);
  try {
    await ready(page);
    await open(page, "channels");
    await keep(page, "asked-qr", async () => {
      await add(page);
      await page.click("dialog .kinds li:last-child button");
      await page.locator("dialog .setup .field:has(label:text-is('command')) input").fill(`/bin/sh, ${join(w.home, "asking.sh")}`);
      await page.click("dialog .setup button[type=submit]");
      await page.waitForSelector("dialog .setup .asked img");
      await page.locator("dialog .setup .asked img").scrollIntoViewIfNeeded();
    });
  } finally {
    await page.context().close();
    execFileSync(w.bin, ["config", "unset", "channels.program"], { env: w.env, stdio: "ignore" });
  }
}

/** login is a service of MCP that wants one. */
export async function login(w, dress, x, keep) {
  const notes = await service();
  const page = await w.open({ ...dress, height: 1200 });
  try {
    hearth(w, "config", "set", "secrets.backend", "plain");
    hearth(w, "config", "set", "mcp.servers.notes", JSON.stringify({ url: notes.url }));
    await ready(page);
    await page.waitForTimeout(1500);
    await open(page, "skills");
    await keep(page, "mcp-login", async () => {
      await page.click(`dialog [data-list=mcp] >> text="${x.t("Log in…")}"`);
      await page.waitForSelector("dialog [data-list=mcp] .login a");
    });
  } finally {
    await page.context().close();
    for (const path of ["mcp.servers.notes", "secrets.backend"]) hearth(w, "config", "unset", path);
    await notes.close();
  }
}
