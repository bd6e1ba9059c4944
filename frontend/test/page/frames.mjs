// Measures how smoothly a long answer streams: 200 KB of Markdown at 200
// deltas a second under a conversation of a thousand entries. Prints the share
// of dropped frames and what the renderer used, and fails above the budget.
import { execFileSync } from "node:child_process";
import { World, answered, pick, ready, say, until } from "./harness.mjs";
import { rich } from "./texts.mjs";

const budget = 5; // percent of frames
const size = 200_000;
const perSecond = 200;

const text = Array.from({ length: Math.ceil(size / rich.length) }, (_, i) => rich.replace("Sure!", `Part ${i}.`)).join("\n\n").slice(0, size);
const chunk = 50;
const pieces = Array.from({ length: Math.ceil(size / chunk) }, (_, i) => text.slice(i * chunk, (i + 1) * chunk));
const seconds = pieces.length / perSecond;

const w = await World.start({ models: { rich: () => ({ text: rich }), long: () => ({ pieces, gap: 1000 / perSecond }) } });
try {
  const page = await w.open({ link: w.link, width: 1280, height: 800 });
  await ready(page);
  await pick(page, "rich");
  for (let i = 0; i < 10; i++) {
    await say(page, `warm up ${i}`);
    await answered(page, `warm up ${i}`);
  }
  await pick(page, "long");
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const metrics = async () => Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value]));
  await say(page, "go");
  await until(page, () => [...document.querySelectorAll(".md")].at(-1)?.textContent.includes("Part 0"));
  const before = await metrics();
  const result = await page.evaluate(async (ms) => {
    const times = [];
    const long = [];
    new PerformanceObserver((l) => l.getEntries().forEach((e) => long.push(e.duration))).observe({ type: "longtask" });
    const end = performance.now() + ms;
    await new Promise((done) => {
      const step = (t) => {
        times.push(t);
        if (t < end) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    });
    const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
    const frame = 1000 / 60;
    const dropped = gaps.reduce((n, g) => n + Math.max(0, Math.round(g / frame) - 1), 0);
    const at = (p) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * p))];
    return { frames: gaps.length + dropped, dropped, p50: at(0.5), p99: at(0.99), worst: at(1), long: long.length, nodes: document.querySelectorAll("*").length };
  }, (seconds - 1) * 1000);
  const after = await metrics();
  await until(page, () => [...document.querySelectorAll(".row.text .meta")].length > 0 && !document.querySelector("[aria-label=Stop]"), null, 60_000);
  await answered(page, "go").catch(() => {});
  const share = (100 * result.dropped) / result.frames;
  const wall = after.Timestamp - before.Timestamp;
  const load = execFileSync("cut", ["-d ", "-f1", "/proc/loadavg"], { encoding: "utf8" }).trim();
  console.log(
    `frames dropped ${share.toFixed(1)} % (${result.dropped} of ${result.frames}, budget ${budget} %), frame p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms, worst ${result.worst.toFixed(0)} ms, ` +
      `main thread ${((100 * (after.TaskDuration - before.TaskDuration)) / wall).toFixed(0)} %, long tasks ${result.long}, elements ${result.nodes}, load ${load}`,
  );
  process.exitCode = share < budget ? 0 : 1;
} finally {
  await w.stop();
}
