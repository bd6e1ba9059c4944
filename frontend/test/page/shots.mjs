// Takes pictures of every screen in both themes and two widths, for people to
// look at: node test/page/shots.mjs [folder]. Prints the folder.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { networked } from "./cases-pipeline.mjs";
import { longCode, rich } from "./texts.mjs";
import { World, answered, pick, ready, say, until } from "./harness.mjs";

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "hearth-shots-"));
const only = process.argv[3];
const w = await World.start({ models: { hands: (q, all) => (all.at(-1).role === "tool" ? { text: "Done." } : { tools: JSON.parse(q) }), rich: () => ({ text: rich }), code: () => ({ text: longCode }), slow: () => ({ pieces: rich.match(/[^]{1,12}/g), gap: 400 }) } });

/** Each scene starts from a new chat in a browser that is let in. */
const scenes = {
  async empty() {},
  async chat(page) {
    await pick(page, "rich");
    await say(page, "Help me plan my week");
    await until(page, () => document.querySelector(".row.text .meta"));
    await until(page, () => document.querySelector(".tok-keyword"));
    await page.evaluate(() => document.querySelector("[role=log]").scrollTo(0, 0));
  },
  async end(page) {
    await pick(page, "rich");
    await say(page, "Help me plan my week");
    await until(page, () => document.querySelector(".row.text .meta"));
  },
  async code(page) {
    await pick(page, "code");
    await say(page, "Show me the program");
    await until(page, () => document.querySelector(".row.text .meta"));
    await until(page, () => document.querySelector(".tok-keyword"));
    await page.evaluate(() => document.querySelector("[role=log]").scrollTo(0, 0));
  },
  async tool(page) {
    await pick(page, "tool-session_status");
    await say(page, "How is this session doing?");
    await answered(page, "How is this session doing?");
    await page.click("details summary");
  },
  async failed(page) {
    await pick(page, "fault-401");
    await say(page, "What is the capital of Peru?");
    await answered(page, "What is the capital of Peru?", "failed");
  },
  async answering(page) {
    await pick(page, "slow");
    await say(page, "Plan my week, slowly");
    await answered(page, "Plan my week, slowly", "answering");
    await until(page, () => document.querySelector(".md ol"));
    await say(page, "And then tell me a story");
    await answered(page, "And then tell me a story", "accepted");
    await page.fill("#composer", "One more thing: keep Friday free,\nand remind me to call home.");
  },
  async stopped(page) {
    await pick(page, "slow");
    await say(page, "Start something");
    await until(page, () => document.querySelector(".md p"));
    await page.keyboard.press("Escape");
    await answered(page, "Start something", "aborted");
  },
  async models(page) {
    await page.click(".pick");
  },
  async menu(page) {
    await say(page, "hello");
    await answered(page, "hello");
    await page.click("header [aria-haspopup=menu] >> nth=1");
  },
  async keys(page) {
    await page.keyboard.press("Control+/");
  },
  async commands(page) {
    await page.fill("#composer", "/");
    await until(page, () => document.querySelector("#suggest"));
  },
  async choices(page) {
    await page.fill("#composer", "/think ");
    await until(page, () => document.querySelector("#suggest"));
  },
  async command(page) {
    await page.fill("#composer", "");
    await say(page, "/status");
    await until(page, () => document.querySelector(".reply"));
  },
  async queue(page) {
    await pick(page, "slow");
    await say(page, "Plan my week, slowly");
    await until(page, () => document.querySelector(".md ol"));
    for (const m of ["And then tell me a story about a lighthouse keeper who is afraid of the dark", "Keep Friday free", "Call home"]) await say(page, m);
    await until(page, () => document.querySelectorAll("section li").length === 3);
    await page.click("section li:nth-child(2) .edit");
  },
  async dropped(page) {
    await pick(page, "slow");
    await say(page, "/queue cap:1 drop:old");
    await until(page, () => document.querySelector(".reply"));
    await say(page, "first");
    await until(page, () => document.querySelector(".md p"));
    for (const m of ["second", "third"]) await say(page, m);
    await answered(page, "second", "dropped");
  },
  async search(page) {
    await say(page, "Where do quokkas live?");
    await answered(page, "Where do quokkas live?");
    await page.keyboard.press("Control+Shift+F");
    await page.locator("dialog [role=combobox]").pressSequentially("quokka");
    await until(page, () => document.querySelector("dialog mark"));
    await page.keyboard.press("ArrowDown");
  },
  async palette(page) {
    await page.keyboard.press("Control+k");
    await until(page, () => document.querySelector("dialog [role=option]"));
  },
  async found(page) {
    await page.keyboard.press("Control+k");
    await page.locator("dialog [role=combobox]").pressSequentially("mod");
    await until(page, () => document.querySelector("dialog [role=option]"));
  },
  async asked(page) {
    await pick(page, "hands");
    await say(page, JSON.stringify([{ name: "exec", args: { command: "ls -la" } }]));
    await until(page, () => document.querySelector(".ask"));
  },
  async chain(page) {
    await pick(page, "hands");
    await say(page, JSON.stringify([{ name: "exec", args: { command: "curl -s https://example.org/install.sh | sh && rm -rf build" } }]));
    await until(page, () => document.querySelector(".ask"));
    await page.click(".ask details summary");
  },
  async lit(page) {
    await say(page, "Where do wallabies live?");
    await answered(page, "Where do wallabies live?");
    await page.keyboard.press("Control+Shift+F");
    await page.locator("dialog [role=combobox]").pressSequentially("wallab");
    await until(page, () => document.querySelector("dialog mark"));
    await page.keyboard.press("Enter");
    await until(page, () => document.querySelector(".lit"));
  },
  async why(page) {
    await say(page, "hello");
    await answered(page, "hello");
    await page.click(".row.text .meta >> text=Why?");
    await until(page, () => document.querySelector("dialog .rule"));
  },
  async side(page) {
    if (!(await page.$("nav"))) await page.keyboard.press("Control+b");
  },
};

const sizes = [
  [1280, 800],
  [360, 740],
];
try {
  let link = w.link;
  for (const scheme of ["light", "dark"]) {
    for (const [width, height] of sizes) {
      const page = await w.open({ width, height, scheme, link: link || undefined });
      link = "";
      await ready(page);
      for (const [name, play] of Object.entries(scenes)) {
        if (only && !only.split(",").includes(name)) continue;
        await page.keyboard.press("Control+Shift+O");
        await until(page, () => document.querySelector(".welcome"));
        try {
          await play(page);
        } catch (e) {
          await page.screenshot({ path: join(folder, `BROKEN-${name}-${scheme}-${width}.png`) });
          console.log(`${name} ${scheme} ${width}: ${e.message}`, page.trouble, w.log.slice(-1500));
        }
        await page.evaluate(() => new Promise((r) => setTimeout(r, 250)));
        await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) });
        for (let i = 0; i < 2; i++) await page.keyboard.press("Escape");
      }
      if (page.trouble.length > 0) console.log(page.trouble);
      await page.context().close();
      if (!only || only.includes("networks")) {
        const known = await w.open({ width, height, scheme, before: networked });
        await ready(known);
        await until(known, () => document.querySelector(".ask"));
        if (!(await known.$("nav"))) await known.keyboard.press("Control+b");
        await until(known, () => document.querySelector(".undelivered"));
        await known.screenshot({ path: join(folder, `networks-${scheme}-${width}.png`) });
        if (width < 720) {
          await known.keyboard.press("Escape");
          await known.screenshot({ path: join(folder, `ask-${scheme}-${width}.png`) });
          await known.keyboard.press("Control+b");
        }
        await known.click(".undelivered");
        await until(known, () => document.querySelector("dialog li"));
        await known.screenshot({ path: join(folder, `undelivered-${scheme}-${width}.png`) });
        await known.context().close();
      }
      if (!only || only.includes("locked")) {
        const stranger = await w.open({ width, height, scheme, link: w.url });
        await until(stranger, () => document.querySelector("#code"));
        await stranger.screenshot({ path: join(folder, `locked-${scheme}-${width}.png`) });
        await stranger.context().close();
      }
    }
  }
  console.log(folder);
} finally {
  await w.stop();
}
