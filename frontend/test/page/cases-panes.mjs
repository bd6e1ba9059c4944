// People and devices, and what each part of the settings looks like in every
// dress: light and dark, narrow and wide, in another language, from right to left.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axe, ready, shows, until } from "./harness.mjs";

const row = (list, name) => `dialog [data-list=${list}] > li:has(bdi:text-is("${name}"))`;

async function part(open, id, o) {
  const page = await open(o);
  await ready(page);
  await page.keyboard.press("Control+,");
  await page.click(`dialog nav [data-pane=${id}]`);
  await page.waitForSelector("dialog section h2");
  return page;
}

/** settled waits until nothing of a part is still on its way. */
const settled = async (page) => {
  await until(page, () => !/One moment|Einen Moment|请稍候/.test(document.querySelector("dialog section")?.innerText ?? ""));
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
};

export const cases = [
  {
    name: "updates say which version runs, and why this build has none",
    async run(w, open) {
      const page = await part(open, "health");
      await shows(page, "dialog section", /Hearth \S+ is running\./);
      await shows(page, "dialog section", /This build of Hearth has no source of updates/);
      assert.equal(await page.locator("dialog section button:has-text('Update now')").count(), 0);
    },
  },
  {
    name: "another browser is among the devices, gets a name, and is out at once when it is removed",
    async run(w, open) {
      const other = await open();
      await ready(other);
      const page = await part(open, "people");
      const mine = "dialog [data-list=devices] > li:has-text('this browser')";
      await page.waitForSelector(mine);
      const before = await page.$$eval("dialog [data-list=devices] > li", (all) => all.length);
      // The newest two are these; the other one is connected and is not this one.
      const its = page.locator("dialog [data-list=devices] > li").filter({ hasNotText: "this browser" }).filter({ hasText: "connected" }).first();
      await its.locator("summary").click();
      await its.locator("form input").fill("Kitchen tablet");
      await its.locator("form button").click();
      await page.waitForSelector(row("devices", "Kitchen tablet"));
      await page.click(`${row("devices", "Kitchen tablet")} >> role=button[name='Remove Kitchen tablet']`);
      await shows(page, "dialog .sure", /disconnected at once/);
      const began = Date.now();
      await page.click("dialog .sure .danger");
      await until(other, () => /isn’t connected to Hearth yet/.test(document.querySelector("main")?.innerText ?? ""));
      assert.ok(Date.now() - began < 20_000, "the removed browser stayed in");
      await until(page, (n) => document.querySelectorAll("dialog [data-list=devices] > li").length === n, before - 1);
      await shows(other, "main", /access has ended/);
    },
  },
  {
    name: "the network is let in by a switch, a device by a code with a picture, and both end again",
    async run(w, open) {
      const page = await part(open, "people");
      await shows(page, "dialog section", /Turn on “Let other devices reach Hearth” first/);
      const lan = "dialog [role=switch][aria-checked]";
      let node;
      const home = mkdtempSync(join(tmpdir(), "hearth-device-"));
      try {
        await page.click(lan);
        await until(page, () => /Reachable at|can reach it now/.test(document.querySelector("dialog section").innerText));
        // A machine without a network has no address to show a code for; it says so instead.
        if (/Reachable at/.test(await page.innerText("dialog section"))) {
          await page.click("text=Show a code");
          await until(page, () => document.querySelector("dialog .code img")?.naturalWidth > 100);
          const code = (await page.textContent("dialog .code pre")).replace("hearth connect ", "").trim();
          execFileSync(w.bin, ["connect", code], { env: { ...w.env, HOME: home, HEARTH_HOME: join(home, "state"), HEARTH_CONFIG: join(home, "hearth.json") }, stdio: "pipe" });
          await until(page, () => !document.querySelector("dialog .code"));
          await shows(page, ".toasts", /was let in/);
          await shows(page, "dialog [data-list=devices] > li:first-child", /let in by a code/);
          assert.match(await page.innerText("dialog [data-list=devices] > li:first-child"), /talks, reads, decides approvals/);
        }
        if (/Reachable at/.test(await page.innerText("dialog section"))) {
          // Another computer offers to run commands: that waits for a person.
          await page.selectOption("dialog .check select", "node");
          await page.click("text=Show a code");
          await until(page, () => /^hearth node run /.test(document.querySelector("dialog .code pre")?.textContent ?? ""));
          const [, , , ...code] = (await page.textContent("dialog .code pre")).trim().split(" ");
          const there = join(home, "node");
          mkdirSync(there);
          node = spawn(w.bin, ["node", "run", ...code], { env: { ...w.env, HOME: there, HEARTH_HOME: join(there, "state"), HEARTH_CONFIG: join(there, "hearth.json") }, stdio: "pipe" });
          await until(page, () => /system\.run/.test(document.querySelector("dialog [data-list=nodes]")?.innerText ?? ""));
          await page.click("dialog [data-list=nodes] button.primary");
          await until(page, () => !document.querySelector("dialog [data-list=nodes] button") && /connected[^]*system\.run/.test(document.querySelector("dialog [data-list=nodes]")?.innerText ?? ""));
          assert.deepEqual(await axe(page), []);
          node.kill("SIGKILL");
          await until(page, () => !/connected/.test(document.querySelector("dialog [data-list=nodes]")?.innerText ?? ""));
        }
        await page.click("dialog nav >> text=Network & exposure");
        await until(page, () => /Paired devices, encrypted|should reach it/.test(document.querySelector("dialog section").innerText));
      } finally {
        node?.kill("SIGKILL");
        await page.click("dialog nav >> text=People & devices");
        await page.click(`${lan}[aria-checked=true]`);
        await until(page, () => document.querySelector("dialog [role=switch]:not([disabled])")?.getAttribute("aria-checked") === "false");
        rmSync(home, { recursive: true, force: true });
      }
    },
  },
  {
    name: "every part of the settings: no axe findings and nothing wider than the screen, in every dress",
    async run(w, open) {
      const dresses = [
        { width: 1280, scheme: "light", check: true },
        { width: 1280, scheme: "dark", check: true },
        { width: 360, scheme: "light", check: true },
        { width: 360, scheme: "dark", check: true },
        { width: 360, scheme: "light", locale: "de-DE" },
        { width: 1280, scheme: "light", locale: "de-DE" },
        { width: 360, scheme: "dark", locale: "zh-CN" },
        { width: 360, scheme: "light", dir: "rtl" },
        { width: 1280, scheme: "dark", dir: "rtl" },
      ];
      for (const { dir, check, ...dress } of dresses) {
        const page = await open(dress);
        await ready(page);
        if (dir) await page.evaluate((d) => (document.documentElement.dir = d), dir);
        await page.keyboard.press("Control+,");
        await page.waitForSelector("dialog nav li");
        const parts = await page.$$eval("dialog nav li", (all) => all.length);
        for (let i = 1; i <= parts; i++) {
          await page.click(`dialog nav li:nth-child(${i}) button`);
          await page.waitForSelector("dialog section h2");
          await settled(page);
          const where = `part ${i}, ${JSON.stringify({ ...dress, dir })}`;
          const wider = await page.$eval("dialog section", (e) => Math.max(e.scrollWidth - e.clientWidth, document.documentElement.scrollWidth - innerWidth));
          assert.equal(wider, 0, `${where}: wider than the screen`);
          if (check) assert.deepEqual(await axe(page), [], where);
          if (dress.width === 360) await page.click("dialog .back");
        }
        await page.context().close();
      }
    },
  },
];
