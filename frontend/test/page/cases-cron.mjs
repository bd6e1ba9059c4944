// What happens by itself: the pane of schedules, its cards, promises, and the pane
// of background work. HEARTH_SHOTS names a folder for pictures.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { axe, ready, say, shows, until } from "./harness.mjs";
import { hearth, phone, reachable, scan, talks } from "./phone.mjs";

const row = (list, name) => `dialog [data-list=${list}] > li:has(bdi:text-is("${name}"))`;
const card = (text) => `main .card:has-text("${text}")`;
const cron = (w, ...args) => hearth(w, "cron", ...args);
const jobsOf = (w) => JSON.parse(cron(w, "list", "--all", "--json")).jobs;
const clear = (w) => jobsOf(w).forEach((j) => cron(w, "remove", j.id));

async function pane(page, name) {
  await page.keyboard.press("Control+,");
  await page.click(`dialog nav button:has-text("${name}")`);
  await page.waitForSelector("dialog section h2");
  await until(page, () => !/One moment/.test(document.querySelector("dialog section")?.innerText ?? ""));
}

async function menu(page, name, item) {
  await page.click(`${row("jobs", name)} >> role=button[name='More for ${name}']`);
  await page.click(`${row("jobs", name)} >> role=menuitem[name='${item}']`);
}

/** shot keeps a picture for people to look at. */
async function shot(page, name) {
  const folder = process.env.HEARTH_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** fits looks at what is shown: no axe findings, nothing wider than the screen. */
async function fits(page, name) {
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
  await shot(page, name);
  const wider = await page.evaluate(() => {
    const inside = document.querySelector("dialog section");
    return Math.max(inside ? inside.scrollWidth - inside.clientWidth : 0, document.documentElement.scrollWidth - innerWidth);
  });
  assert.equal(wider, 0, `${name}: wider than the screen`);
  assert.deepEqual(await axe(page), [], name);
}

const dresses = [
  { width: 1280, scheme: "light" },
  { width: 1280, scheme: "dark" },
  { width: 360, scheme: "light" },
  { width: 360, scheme: "dark" },
  { width: 360, scheme: "light", turned: true },
];

/** turned lets everything run from right to left. */
const turned = (page) => page.evaluate(() => (document.documentElement.dir = "rtl"));

/** inDresses looks at what is shown in every dress, and leaves it as it was. */
async function inDresses(page, name) {
  for (const d of dresses) {
    await page.setViewportSize({ width: d.width, height: 800 });
    await page.emulateMedia({ colorScheme: d.scheme });
    if (d.turned) await turned(page);
    await fits(page, `${name}-${d.width}-${d.turned ? "turned" : d.scheme}`);
  }
  await page.evaluate(() => document.documentElement.removeAttribute("dir"));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
}

export const cases = [
  {
    name: "schedules: a job is planned by the form, run, paused, edited and deleted, and its run stands in the log",
    async run(w, open) {
      clear(w);
      const page = await open();
      await ready(page);
      await pane(page, "Schedules");
      await shows(page, "dialog section", /Nothing is planned yet/);
      await fits(page, "schedules-empty");
      await page.click("text=Plan something");
      await page.fill("dialog textarea", "Water the fern");
      await page.fill("dialog input[placeholder*='Friday']", "every weekday at 9:30");
      await shows(page, "dialog .said", /Every weekday at 09:30[^]*Then:/);
      await fits(page, "schedules-form");
      await page.click("dialog button[type=submit]");
      await page.waitForSelector(row("jobs", "Water the fern"));
      await shows(page, "dialog [data-list=jobs]", /Every weekday at 09:30 · next/);
      await shows(page, "dialog section", /The coming week[^]*Water the fern/);
      await menu(page, "Water the fern", "Run now");
      await page.waitForSelector(row("runs", "Water the fern"));
      await shows(page, "dialog [data-list=runs]", /done · delivered/i);
      await page.click(`${row("jobs", "Water the fern")} >> role=switch`);
      await shows(page, "dialog [data-list=jobs]", /· off/);
      for (const [mode, kept] of [["skip", "skip"], ["", undefined]]) {
        await menu(page, "Water the fern", "Edit");
        await page.selectOption("dialog form select", mode);
        await page.click("dialog button[type=submit]");
        await page.waitForSelector(row("jobs", "Water the fern"));
        assert.equal(jobsOf(w)[0].hearth.catchUp?.mode, kept);
      }
      await menu(page, "Water the fern", "Edit");
      await page.fill("dialog input[placeholder*='Friday']", "tomorrow at 18:00");
      await shows(page, "dialog .said", /18:00/);
      assert.equal(await page.$$eval("dialog form select", (all) => all.length), 0, "what is due once is always made up for");
      await page.click("dialog button[type=submit]");
      await until(page, () => /Once, tomorrow,? 18:00|Once,[^]*18:00/.test(document.querySelector("dialog [data-list=jobs]")?.innerText ?? ""));
      await menu(page, "Water the fern", "Delete");
      await shows(page, "dialog section", /Nothing is planned yet/);
      assert.equal(jobsOf(w).length, 0);
    },
  },
  {
    name: "schedules: a reminder is told later, and an important one stays until it was seen",
    async run(w, open) {
      clear(w);
      const page = await open();
      await ready(page);
      cron(w, "add", "--at", "1s", "--remind", "Look at the oven");
      await page.waitForSelector(card("Look at the oven"));
      await fits(page, "reminder");
      await page.click(`${card("Look at the oven")} >> text=In 10 minutes`);
      await until(page, () => ![...document.querySelectorAll(".card.due")].some((c) => /Look at the oven/.test(c.innerText)));
      await shows(page, "body", /It is said again today/);
      await shows(page, "main .label", /^Reminder$/);
      assert.ok(!/gateway-injected|\[Reminder\]/.test(await page.innerText("main")), "what is the gateway's own is not shown");
      const again = jobsOf(w);
      assert.equal(again.length, 1);
      assert.ok(Math.abs(again[0].state.nextRunAtMs - Date.now() - 600_000) < 60_000, "it is told in ten minutes");
      cron(w, "add", "--at", "1s", "--remind", "Take the pill", "--important");
      await page.waitForSelector(card("Take the pill"));
      await page.reload();
      await ready(page);
      await shows(page, "main .card", /Take the pill[^]*Important/);
      await fits(page, "reminder-important");
      await page.click(`${card("Take the pill")} >> text=Seen`);
      await until(page, () => !document.querySelector(".card.due"));
      await page.reload();
      await ready(page);
      assert.equal(await page.$$eval(".card.due", (all) => all.length), 0);
      clear(w);
    },
  },
  {
    name: "schedules: what was missed while Hearth did not run stands on one card",
    async run(w, open) {
      clear(w);
      const page = await open();
      await ready(page);
      cron(w, "add", "--at", "3s", "--remind", "Feed the cat");
      cron(w, "add", "--at", "3s", "--remind", "تذكير بالاجتماع الأسبوعي مع الفريق وبكل ما يلزم أن يقال فيه قبل نهاية اليوم");
      await w.killGateway();
      await new Promise((r) => setTimeout(r, 5000));
      await w.startGateway();
      await shows(page, "main", /was not running from[^]*Feed the cat|Feed the cat/i);
      await until(page, () => /ran late/.test(document.querySelector("main")?.innerText ?? ""), undefined, 90_000);
      await inDresses(page, "missed");
      await page.click("main .card:has-text('ran late') >> role=button[name='OK']");
      await until(page, () => !/ran late/.test(document.querySelector("main").innerText));
      clear(w);
    },
  },
  {
    name: "schedules: what the assistant promises is asked for, and planned after a yes only",
    async run(w, open) {
      clear(w);
      const page = await open();
      await ready(page);
      await say(page, "ok. I will look at the build tomorrow at nine");
      await shows(page, "main .card", /Shall I do this\?[^]*look at the build tomorrow at nine/);
      assert.equal(jobsOf(w).length, 0);
      await inDresses(page, "promise");
      await page.click("main .card >> text=Another time");
      await fits(page, "promise-when");
      await page.fill("main .card input", "on Friday at 17:15");
      await page.click("main .card >> text=Plan it");
      await shows(page, "main .card", /look at the build[^]*17:15/);
      assert.equal(jobsOf(w).length, 1);
      await say(page, "ok. I'll remind you tomorrow at nine to call mum");
      await page.click(`${card("call mum")} >> role=button[name='No']`);
      await until(page, () => !/Shall I remind you/.test(document.querySelector("main").innerText));
      assert.equal(jobsOf(w).length, 1);
      clear(w);
    },
  },
  {
    name: "background work: cancelled, done again and taken off the list in its pane",
    async run(w, open) {
      clear(w);
      const page = await open();
      await ready(page);
      await pane(page, "Tasks");
      await page.waitForSelector("dialog section h3");
      cron(w, "add", "--at", "1s", "--name", "Long sleep", "--command", "sleep 300");
      await page.waitForSelector(row("tasks", "Long sleep"));
      await fits(page, "tasks-running");
      await page.click(`${row("tasks", "Long sleep")} >> text=Cancel`);
      await page.waitForSelector(row("tasks-over", "Long sleep"));
      await shows(page, "dialog [data-list=tasks-over]", /Long sleep[^]*cancelled/);
      await page.click(`${row("tasks-over", "Long sleep")} >> text=Do it again`);
      await page.waitForSelector(row("tasks", "Long sleep"));
      await page.click(`${row("tasks", "Long sleep")} >> text=Cancel`);
      await until(page, () => !document.querySelector("dialog [data-list=tasks]"));
      await page.click(`${row("tasks-over", "Long sleep")} >> role=button[name='Take it off the list: Long sleep'] >> nth=0`);
      await fits(page, "tasks-over");
      clear(w);
    },
  },
  {
    name: "schedules and background work: many jobs, long and right-to-left names, broken ones, in every dress",
    async run(w, open) {
      clear(w);
      const first = await open();
      await ready(first);
      const names = ["Summarize what came by mail since yesterday and say which three letters need an answer before noon", "تذكير بالاجتماع الأسبوعي مع الفريق", "喝水", "x".repeat(120)];
      for (let i = 0; i < 60; i++) cron(w, "add", `every day at ${8 + (i % 12)}:${10 + (i % 50)}`, "--remind", `${names[i % names.length]} ${i}`);
      cron(w, "add", "--at", "1s", "--keep-after-run", "--name", "Broken command", "--command", "/no/such/program");
      cron(w, "add", "--at", "1s", "--keep-after-run", "--name", "Broken webhook", "--command", "echo hello", "--webhook", "https://hook.invalid/x");
      await until(first, () => true);
      for (const dress of dresses) {
        const page = await open(dress);
        await ready(page);
        const name = `${dress.width}-${dress.turned ? "turned" : dress.scheme}`;
        if (dress.turned) await turned(page);
        await pane(page, "Schedules");
        await page.waitForSelector("dialog [data-list=jobs] > li:nth-child(40)");
        await fits(page, `schedules-long-${name}`);
        await page.$eval("dialog [data-list=jobs] > li:last-child", (e) => e.scrollIntoView({ block: "center" }));
        await fits(page, `schedules-broken-${name}`);
        if (dress.width === 360) await page.click("dialog .back");
        await page.click(`dialog nav button:has-text("Tasks")`);
        await shows(page, "dialog [data-list=tasks-over]", /Broken command/);
        await fits(page, `tasks-${name}`);
        await page.context().close();
      }
      clear(w);
    },
  },
  {
    name: "phone: a reminder comes as a card and is told later; what was planned stands there",
    async run(w, open) {
      clear(w);
      await reachable(w);
      const qr = scan(w);
      const page = await open(await phone(w, qr.pin, {}));
      await page.goto(qr.phoneUrls[0]);
      await talks(page);
      cron(w, "add", "--at", "1s", "--remind", "Look at the oven");
      await page.waitForSelector(card("Look at the oven"));
      await shows(page, "main", /Reminder\n+Look at the oven/);
      await fits(page, "phone-reminder");
      await page.click(`${card("Look at the oven")} >> text=In an hour`);
      await until(page, () => !document.querySelector(".card.due"));
      assert.equal(jobsOf(w).length, 1);
      await page.fill("#composer", "ok. I will look at the build tomorrow at nine");
      await page.click(".go[type=submit]");
      await shows(page, "main .card", /Shall I do this\?/);
      await fits(page, "phone-promise");
      await page.click("main .card >> role=button[name='Yes']");
      await until(page, () => !/Shall I do this/.test(document.querySelector("main").innerText));
      assert.equal(jobsOf(w).length, 2);
      await fits(page, "phone-planned");
      const planned = card("look at the build");
      await page.click(`${planned} >> role=button[name='Pause']`);
      await page.click(`${planned} >> role=button[name='Resume']`);
      await page.click(`${planned} >> role=button[name='Edit']`);
      await page.fill(`${planned} input`, "on Friday at 17:15");
      await fits(page, "phone-when");
      await page.click(`${planned} >> role=button[name='Save']`);
      await until(page, () => /17:15/.test(document.querySelector("main").innerText));
      await page.click("header button >> nth=-1");
      await page.click("dialog >> text=What is planned");
      await shows(page, "dialog", /look at the build[^]*17:15/);
      await fits(page, "phone-list");
      await turned(page);
      await fits(page, "phone-list-turned");
      const listed = 'dialog .card:has-text("look at the build")';
      await page.click(`${listed} >> role=button[name='Run now']`);
      await until(page, () => /It runs|running/.test(document.body.innerText));
      await page.click(`${listed} >> role=button[name='Delete']`);
      await until(page, () => !/look at the build/.test(document.querySelector("dialog").innerText));
      assert.equal(jobsOf(w).length, 1);
      clear(w);
    },
  },
];
