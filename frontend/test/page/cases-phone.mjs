// The page for phones, in Chromium as a phone, by TLS under an address that other
// machines use too.
import assert from "node:assert/strict";
import { answered, axe, ready, until } from "./harness.mjs";
import { address, at, hearth, phone, reachable, say, says, scan, talks } from "./phone.mjs";

/** paired is a phone that was let in by a QR code. */
async function paired(w, open, options) {
  await reachable(w);
  const qr = scan(w);
  const page = await open(await phone(w, qr.pin, options));
  await page.goto(qr.phoneUrls[0]);
  await talks(page);
  return { page, qr };
}

/** photo is a picture that a phone might have taken. */
const photo = (page) =>
  page.evaluate(() => {
    const c = Object.assign(document.createElement("canvas"), { width: 3000, height: 2000 });
    const g = c.getContext("2d");
    for (let i = 0; i < 60; i++) ((g.fillStyle = `hsl(${i * 6} 60% 50%)`), g.fillRect(i * 50, 0, 50, 2000));
    return c.toDataURL("image/jpeg", 0.9).split(",")[1];
  });

/** up goes to the begin. What comes in before the page heard of that may bring the end back into view, so it goes there until the page did. */
const up = (page) => until(page, () => ((document.querySelector("[role=log]").scrollTop = 0), document.querySelector("button.jump")));

/** cuttable lets a test drop every connection of a page. */
async function cuttable(page) {
  const live = new Set();
  await page.routeWebSocket(/.*/, (ws) => {
    const server = ws.connectToServer();
    live.add(ws);
    ws.onMessage((m) => server.send(m));
    server.onMessage((m) => ws.send(m));
    server.onClose((code, reason) => (live.delete(ws), ws.close({ code, reason })));
    ws.onClose(() => (live.delete(ws), server.close()));
  });
  return () => Promise.all([...live].map((ws) => ws.close({ code: 1001 })));
}

const all = [
  {
    name: "phone: your own message comes into view, the end is one press away, blocks stand apart, an earlier conversation is read",
    async run(w, open) {
      const { page } = await paired(w, open);
      const long = Array.from({ length: 30 }, (_, i) => `Paragraph ${i}`).join("\n\n");
      await say(page, long);
      await answered(page, long);
      await until(page, () => document.querySelectorAll(".md .block-host").length > 20);
      const gap = await page.$$eval(".md .block-host", ([a, b]) => b.getBoundingClientRect().top - a.getBoundingClientRect().bottom);
      assert.ok(gap >= 8, `blocks stand ${gap} px apart`);
      await up(page);
      assert.deepEqual(await axe(page), []);
      await say(page, "where am I?");
      await until(page, () => {
        const log = document.querySelector("[role=log]");
        const mine = [...document.querySelectorAll(".row.user .bubble")].at(-1);
        return /where am I/.test(mine.innerText) && mine.getBoundingClientRect().bottom <= log.getBoundingClientRect().bottom + 1 && !document.querySelector("button.jump");
      });
      await answered(page, "where am I?");
      await up(page);
      await page.click("button.jump");
      await until(page, () => {
        const log = document.querySelector("[role=log]");
        return log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      });
      await say(page, "/new fresh words");
      await answered(page, "/new fresh words");
      await page.click("text=Earlier conversation");
      await until(page, () => /Paragraph 29/.test(document.querySelector("[role=log]").innerText) && !document.querySelector("#composer"));
      assert.deepEqual(await axe(page), []);
      await page.click("text=Back to the chat");
      await until(page, () => document.querySelector("#composer") && !/Paragraph/.test(document.querySelector("[role=log]").innerText));
    },
  },
  {
    name: "phone: a file that did not reach the gateway holds the message until it is there or taken out",
    async run(w, open) {
      const { page } = await paired(w, open);
      const chip = (name, is) => until(page, ([n, s]) => [...document.querySelectorAll("form .chip")].some((e) => e.innerText.includes(n) && new RegExp(s).test(e.innerText)), [name, is]);
      const notes = (n) => ({ name: `notes-${n}.txt`, mimeType: "text/plain", buffer: Buffer.from("walnut") });
      await page.setInputFiles("input[type=file]", notes(0));
      await chip("notes-0.txt", "Read$");
      await w.killGateway();
      await until(page, () => document.querySelector(".banner"));
      await page.setInputFiles("input[type=file]", [notes(1), notes(2)]);
      await chip("notes-1.txt", "Not attached");
      await chip("notes-2.txt", "Not attached");
      await say(page, "with all of them");
      // It did not go; where to press is shown, and nothing is lost.
      assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Try again");
      assert.match(await page.textContent("form .hint"), /is not attached\. Try it again or take it out/);
      assert.equal(await page.inputValue("#composer"), "with all of them");
      assert.equal(await page.$$eval("article .bubble", (all) => all.some((e) => e.textContent === "with all of them")), false);
      assert.deepEqual(await axe(page), []);
      await w.startGateway();
      await talks(page);
      await page.locator("form .again").first().click();
      await chip("notes-1.txt", "Read$");
      await page.click(".go[type=submit]");
      assert.equal(await page.inputValue("#composer"), "with all of them");
      await page.click('button[aria-label="Take “notes-2.txt” out"]');
      await until(page, () => !document.querySelector("form .hint"));
      await page.click(".go[type=submit]");
      await answered(page, "with all of them");
      assert.deepEqual(await page.$$eval("article .chip .name", (all) => all.slice(-2).map((e) => e.innerText)), ["notes-0.txt", "notes-1.txt"]);
    },
  },
  {
    name: "phone: files that were chosen stay with their chat while another one is shown, and go into no other",
    async run(w, open) {
      const { page } = await paired(w, open);
      const chips = () => page.$$eval("form .chip .name", (all) => all.map((e) => e.innerText));
      const shown = async (title) => {
        await page.click("header [aria-label=Chats]");
        await page.click(`dialog .chat .go:has-text("${title}")`);
        await answered(page, title);
      };
      for (const title of ["a chat with files", "a chat without"]) {
        await page.click("header [aria-label=Chats]");
        await page.click("dialog .top button.primary");
        await until(page, () => document.querySelector(".empty"));
        await say(page, title);
        await answered(page, title);
      }
      await shown("a chat with files");
      await page.setInputFiles("input[type=file]", { name: "fern.txt", mimeType: "text/plain", buffer: Buffer.from("fern") });
      await until(page, () => /Read$/.test(document.querySelector("form .chip")?.innerText));
      await page.fill("#composer", "what is this?");
      await shown("a chat without");
      assert.deepEqual([await chips(), await page.inputValue("#composer")], [[], ""]);
      await say(page, "nothing with it");
      await answered(page, "nothing with it");
      assert.deepEqual(await page.$$eval("article .chip", (all) => all.length), 0);
      await shown("a chat with files");
      await until(page, () => document.querySelector("form .chip .name")?.innerText === "fern.txt");
      assert.equal(await page.inputValue("#composer"), "what is this?");
      assert.deepEqual(await axe(page), []);
      await page.click(".go[type=submit]");
      await answered(page, "what is this?");
      await until(page, () => document.querySelector("article .chip .name")?.innerText === "fern.txt");
      assert.deepEqual(await chips(), []);
      // And it is not there a second time.
      await shown("a chat without");
      await shown("a chat with files");
      assert.deepEqual(await chips(), []);
    },
  },
  {
    name: "phone: a chat that is deleted elsewhere says so, and what was being written is kept",
    async run(w, open) {
      const { page } = await paired(w, open);
      const desk = await open();
      await ready(desk);
      await desk.keyboard.press("Control+Shift+O");
      await say(page, "/new"); // what others wrote at home is no matter here
      await desk.fill("#composer", "a chat for a while");
      await desk.press("#composer", "Enter");
      await answered(desk, "a chat for a while");
      await page.click("header [aria-label=Chats]");
      await page.click('dialog .chat .go:has-text("a chat for a while")');
      await answered(page, "a chat for a while");
      await page.fill("#composer", "half a thought");
      await desk.click("header [aria-label='Chat menu']");
      await desk.click("[role=menuitem]:has-text('Delete')");
      await until(page, () => /^This chat was deleted elsewhere/.test(document.querySelector("[role=log] p[role=status]")?.textContent));
      assert.equal(await page.inputValue("#composer"), "half a thought");
      assert.deepEqual(await axe(page), []);
      await page.click(".go[type=submit]");
      await answered(page, "half a thought");
      assert.equal(await page.$("[role=log] p[role=status]"), null);
    },
  },
  {
    name: "phone: paired by a scan, it chats, survives a lost link, and is out when it is removed",
    async run(w, open) {
      await reachable(w);
      const qr = scan(w);
      const page = await open(await phone(w, qr.pin));
      const cut = await cuttable(page);
      const started = performance.now();
      await page.goto(qr.phoneUrls[0]);
      await talks(page);
      await say(page, "hello");
      await says(page, "echo: hello");
      const first = performance.now() - started;
      console.log(`      scan to first answer: ${first.toFixed(0)} ms`);
      await answered(page, "hello");
      // The code is gone from the address, the history and whatever is kept.
      const secret = qr.phoneUrls[0].split("#")[1];
      assert.equal(page.url().split("#")[0], `https://${new URL(qr.phoneUrls[0]).host}/phone/`);
      assert.ok(!page.url().includes(secret));
      assert.ok(!w.log.includes(secret));
      assert.deepEqual(await axe(page), []);
      const lost = performance.now();
      await cut();
      await until(page, () => !document.querySelector(".dot.open"));
      await talks(page);
      console.log(`      link lost to back: ${(performance.now() - lost).toFixed(0)} ms`);
      // Nobody else gets in by it.
      const second = await open(await phone(w, qr.pin));
      await second.goto(qr.phoneUrls[0]);
      await at(second, "expired");
      // It comes back by its own key, and what was written meanwhile is sent.
      await w.killGateway();
      await until(page, () => document.querySelector(".banner"));
      await say(page, "still there?");
      await until(page, () => document.querySelector("article[data-state=waiting]"));
      await w.startGateway();
      await says(page, "echo: still there?");
      const device = JSON.parse(hearth(w, "devices", "list", "--json")).paired.find((d) => d.clientId === "hearth-phone");
      const removed = performance.now();
      hearth(w, "devices", "remove", device.deviceId);
      await at(page, "removed");
      console.log(`      removed to refused, with the command's own start: ${(performance.now() - removed).toFixed(0)} ms`);
      await page.reload();
      await at(page, "unpaired");
      assert.equal(await page.evaluate(() => document.body.innerText.includes("still there?")), false);
    },
  },
  {
    name: "phone: photos, approvals, and a picture and the position for the assistant's nodes tool",
    async run(w, open) {
      hearth(w, "config", "set", "gateway.nodes.commands.allow", '["camera.snap"]');
      hearth(w, "config", "set", "agents.defaults.model", "own/reader");
      const { page } = await paired(w, open);
      await say(page, "/new");
      await until(page, () => document.querySelectorAll("article").length <= 1);
      const use = (args) => say(page, JSON.stringify([{ name: "nodes", args }]));
      const ripe = (selector) => page.click(`${selector}:enabled`);
      // The assistant may not even ask the phone without a yes.
      await use({ action: "location_get" });
      await ripe(".act .button.primary");
      await ripe("[data-sense=location] .primary");
      await until(page, () => /"?lat"?.*52\.5163/s.test([...document.querySelectorAll(".md")].at(-1)?.innerText ?? ""));
      await use({ action: "camera_snap", facing: "front" });
      await ripe(".act .button.primary");
      await until(page, () => document.querySelector("[data-sense=camera]"));
      assert.deepEqual(await axe(page), []);
      await ripe("[data-sense=camera] .primary");
      await until(page, () => document.querySelector(".row.tools img")?.naturalWidth >= 640);
      // A no on the phone is told to the assistant, and nothing leaves.
      await use({ action: "location_get" });
      await ripe(".act .button.primary");
      await ripe("[data-sense=location] .button:first-child");
      await until(page, () => /said no/.test([...document.querySelectorAll(".md")].at(-1)?.innerText ?? ""));
      // A photo of the person.
      hearth(w, "config", "set", "agents.defaults.model", "own/eyes");
      await page.setInputFiles("input[type=file]", { name: "cat.jpg", mimeType: "image/jpeg", buffer: Buffer.from(await photo(page), "base64") });
      await until(page, () => document.querySelector("form li img"));
      await page.click(".go[type=submit]");
      await says(page, "I see 1 pictures");
      await until(page, () => document.querySelector("article img")?.naturalWidth > 0);
      hearth(w, "config", "set", "agents.defaults.model", "script/echo");
    },
  },
];

if (address() === "") console.log("skipped: the page for phones needs an address that other machines could use, and this machine has only its own loopback");
export const cases = address() === "" ? [] : all;
