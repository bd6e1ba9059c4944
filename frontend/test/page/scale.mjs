// Measures the page with 10,000 chats, one of them of 10,000 entries: listing, finding, opening.
//   build/bench --only scale                                   makes the store, once
//   node test/page/scale.mjs ../build/cache/bench/store-*.db   prints the median of each, and fails above the budget
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { World, ready, until } from "./harness.mjs";

const [, , store] = process.argv;
if (!store) {
  console.error("Name the store that build/bench --only scale keeps in build/cache/bench.");
  process.exit(2);
}
const budget = 100; // ms until a chat of 10,000 messages is there
const big = "agent:main:s00000";

/** shown waits in the page, frame by frame, and tells how long it took since a mark. */
const shown = (page, what, arg) =>
  page.evaluate(
    ([source, a]) =>
      new Promise((done, late) => {
        const is = new Function(`return (${source})`)();
        const step = () => (is(a) ? requestAnimationFrame(() => done(performance.now() - window.began)) : performance.now() - window.began > 60_000 ? late(new Error(source)) : requestAnimationFrame(step));
        step();
      }),
    [String(what), arg],
  );
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const ms = (all) => `${median(all).toFixed(0)} ms (${all.map((t) => t.toFixed(0)).join(", ")})`;

const w = await World.start();
try {
  await w.killGateway("SIGTERM");
  copyFileSync(store, join(w.home, "state/hearth.db"));
  await w.startGateway();
  const times = { list: [], filter: [], more: [], search: [], open: [] };
  for (let n = 0; n < 5; n++) {
    const page = await w.open({ bypassCSP: true, before: (p) => p.addInitScript(() => (window.began = performance.now())) });
    times.list.push(await shown(page, () => document.querySelectorAll("nav li").length > 10));
    await ready(page);
    const mark = () => page.evaluate(() => void (window.began = performance.now()));
    // The list: a word in its field.
    await page.click("nav input[type=search]");
    await mark();
    await page.keyboard.insertText("s09999");
    times.filter.push(await shown(page, () => document.querySelectorAll("nav li").length <= 3));
    await page.fill("nav input[type=search]", "");
    await until(page, () => document.querySelectorAll("nav li").length > 10);
    // All messages.
    await page.keyboard.press("Control+Shift+F");
    await page.waitForSelector("dialog [role=combobox]");
    await mark();
    await page.keyboard.insertText(`question ${40 + n}`);
    times.search.push(await shown(page, () => document.querySelector("dialog mark")));
    await page.keyboard.press("Escape");
    await until(page, () => !document.querySelector("dialog[open]"));
    // The long chat.
    await page.evaluate((key) => ((window.began = performance.now()), (location.hash = `#/chat/${encodeURIComponent(key)}`)), big);
    times.open.push(await shown(page, () => [...document.querySelectorAll(".row.text .md")].some((e) => /answer 5000\./.test(e.innerText))));
    if (page.trouble.some((t) => !t.startsWith("policy"))) throw new Error(page.trouble.join("\n"));
    await page.context().close();
  }
  console.log(`10,000 chats listed, from the first byte of the page's script: ${ms(times.list)}`);
  console.log(`a word in the list's field: ${ms(times.filter)}`);
  console.log(`a word in 1,000,000 messages: ${ms(times.search)}`);
  console.log(`a chat of 10,000 entries opened: ${ms(times.open)} (budget ${budget} ms)`);
  process.exitCode = median(times.open) <= budget ? 0 : 1;
} finally {
  await w.stop();
}
