// Runs the page's tests in Chromium, or some in Firefox, against the real gateway.
//   npm run test:page            all
//   npm run test:page -- stop    those whose name has "stop" in it
//   npm run test:page -- chat    those of cases-chat.mjs
// With HEARTH_BROWSER=firefox those that firefox.mjs names run in Debian's Firefox.
// HEARTH_BIN names a built hearth; without it one is built from the checkout.
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import * as branches from "./cases-branches.mjs";
import * as answersRoom from "./cases-answers.mjs";
import * as channels from "./cases-channels.mjs";
import * as chat from "./cases-chat.mjs";
import * as cron from "./cases-cron.mjs";
import * as files from "./cases-files.mjs";
import * as first from "./cases-first.mjs";
import * as kept from "./cases-kept.mjs";
import * as languages from "./cases-languages.mjs";
import * as palette from "./cases-palette.mjs";
import * as manage from "./cases-manage.mjs";
import * as panes from "./cases-panes.mjs";
import * as phone from "./cases-phone.mjs";
import * as pipeline from "./cases-pipeline.mjs";
import * as push from "./cases-push.mjs";
import * as safety from "./cases-safety.mjs";
import * as sight from "./cases-sight.mjs";
import * as settings from "./cases-settings.mjs";
import * as tools from "./cases-tools.mjs";
import * as own from "./cases-own.mjs";
import * as use from "./cases-use.mjs";
import * as walk from "./cases-walk.mjs";
import * as years from "./cases-years.mjs";
import * as firefox from "./firefox.mjs";
import { World, isFirefox, root } from "./harness.mjs";
import { answers, hostileAnswers } from "./texts-answers.mjs";
import { hostile, longCode, rich } from "./texts.mjs";

const filter = process.argv[2] ?? "";
const rooms = { first, walk, chat, branches, answers: answersRoom, pipeline, tools, files, use, palette, settings, manage, own, panes, channels, cron, safety, phone, push, sight, years, kept, languages };
const cases = (rooms[filter] ? [rooms[filter]] : Object.values(rooms)).flatMap((m) => m.cases).filter((c) => rooms[filter] || c.name.includes(filter)).filter((c) => !isFirefox || firefox.names.has(c.name));
const failures = join(root, "build/cache/page-failures");
const serversOf = (q) => [...(q.match(/http:\S+/g) ?? []), "http://127.0.0.1:9", "http://127.0.0.1:9"];
const models = {
  rich: () => ({ text: rich }),
  code: () => ({ text: longCode }),
  // The address of the gateway stands in what a hostile page tries, and that of a server elsewhere.
  answers: (q) => ({ text: answers[q] ?? hostileAnswers(...serversOf(q))[q.replace(/^bad /, "").split(" ")[0]] ?? "Nothing to show." }),
  hostile: (q) => ({ text: hostile[Number(q.match(/\d+/)?.[0] ?? 0)] }),
  "hostile-slow": () => ({ pieces: hostile.join("\n\n").match(/[^]{1,7}/g), gap: 2 }),
  // Talks for a while, then uses a tool: waiting messages are taken in behind it.
  steered: (q, all) =>
    all.some((m) => m.role === "tool") ? { pieces: `heard ${q}`.split(/(?= )/), gap: 300 } : { pieces: ["let ", "me ", "look ", "it ", "up"], gap: 500, tool: "session_status" },
  // Does what the message says: a list of tool calls as JSON, then words.
  hands: (q, all) => (all.at(-1).role === "tool" ? { text: `It said: ${all.at(-1).content.slice(0, 80)}` } : q.startsWith("[{") ? { tools: JSON.parse(q) } : { text: "Nothing to do." }),
  // Says two paragraphs first, then does it.
  talker: (q, all) =>
    all.at(-1).role === "tool" ? { text: "That is all." } : q.startsWith("[{") ? { pieces: ["First words.\n\n", "Let me ", "look."], gap: 60, tools: JSON.parse(q) } : { text: "Nothing to do." },
  // The same, and all of what came back.
  reader: (q, all) => (all.at(-1).role === "tool" ? { text: `It said: ${all.at(-1).content}` } : q.startsWith("[{") ? { tools: JSON.parse(q) } : { text: "Nothing to do." }),
  // Tells how many pictures came with the question.
  eyes: (q, all) => ({ text: `I see ${[all.at(-1).content].flat().filter((b) => b.type === "image_url" && b.image_url.url.startsWith("data:image/")).length} pictures` }),
  // Longer than any case looks at it; all of them stop it.
  slow: () => ({ pieces: Array.from({ length: 2000 }, (_, i) => `word${i} `), gap: 25 }),
};

const known = new Set(Object.values(rooms).flatMap((m) => m.cases.map((c) => c.name)));
const unknown = [...firefox.names].filter((n) => !known.has(n));
if (unknown.length > 0) {
  console.error(`firefox.mjs names what is no test: ${unknown.join("; ")}`);
  process.exit(2);
}
if (cases.length === 0) {
  console.error(`No test has "${filter}" in its name.`);
  process.exit(2);
}
const unsteady = [];
const start = performance.now();

/** once runs a case in pages of its own and says whether it passed. */
async function once(w, c) {
  const began = performance.now();
  const pages = [];
  const open = async (o) => {
    const p = typeof o?.goto === "function" ? o : await w.open(o); // a phone is opened by its case
    pages.push(p);
    return p;
  };
  try {
    open.pages = pages; // of gateways of a case's own
    await c.run(w, open);
    const trouble = pages.flatMap((p) => p.trouble);
    if (trouble.length > 0) throw new Error("the page did what it must not do:\n  " + trouble.join("\n  "));
    console.log(`ok    ${c.name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    return true;
  } catch (e) {
    console.log(`FAIL  ${c.name}: ${e.stack ?? e}`);
    mkdirSync(failures, { recursive: true });
    const file = join(failures, c.name.replace(/[^\w-]+/g, "_"));
    for (const [i, p] of pages.entries()) await p.screenshot({ path: `${file}-${i}.png` }).catch(() => {});
    console.log(`      pictures: ${file}-*.png; the gateway's last words:\n${w.log.slice(-1200)}`);
    if (w.gateway.exitCode !== null || w.gateway.signalCode !== null) await w.startGateway();
    return false;
  } finally {
    for (const p of pages) await p.context().close();
  }
}

// Cases of one file share a gateway and run one after the other; files share
// nothing, so two of them run beside each other, each with its own browser.
const groups = [];
for (const c of cases) {
  const world = c.world ?? "model";
  const room = Object.values(rooms).find((m) => m.cases.includes(c));
  const group = groups.find((g) => g.room === room && g.world === world);
  if (group) group.cases.push(c);
  else groups.push({ room, world, cases: [c] });
}
groups.sort((a, b) => b.cases.length - a.cases.length);

const worldOf = (g) => World.start(g.world === "guide" ? { defaultModel: "" } : { models });
const missed = [];

async function browser() {
  for (let g = groups.shift(); g; g = groups.shift()) {
    let w = await worldOf(g);
    try {
      for (const c of g.cases) {
        if (await once(w, c)) continue;
        missed.push({ world: g.world, c });
        // What it left behind, a request that nobody answered, is no matter of the next one.
        await w.stop();
        w = await worldOf(g);
      }
    } finally {
      await w.stop();
    }
  }
}

await Promise.all(Array.from({ length: Number(process.env.HEARTH_BROWSERS ?? 2) }, browser));

// A shared machine can make a browser miss a moment, so what failed runs once more, alone
// and in a gateway of its own. What fails twice is broken; what did not is named at the end.
const failed = [];
for (const { world, c } of missed) {
  console.log(`  once more: ${c.name}`);
  const w = await worldOf({ world });
  try {
    (await once(w, c)) ? unsteady.push(c.name) : failed.push(c.name);
  } finally {
    await w.stop();
  }
}
for (const name of unsteady) {
  console.log(`UNSTEADY  ${name}: failed once, passed when it was run again`);
  if (process.env.HEARTH_UNSTEADY) appendFileSync(process.env.HEARTH_UNSTEADY, `${JSON.stringify({ check: isFirefox ? "page-firefox" : "page-browser", where: "frontend/test/page", name })}\n`);
}
for (const name of failed) console.log(`BROKEN  ${name}`);
console.log(`${cases.length - failed.length} passed, ${failed.length} failed, ${((performance.now() - start) / 1000).toFixed(0)} s`);
process.exit(failed.length > 0 ? 1 : 0);
