// The page for phones, for pictures of it.
import { answered, until } from "./harness.mjs";
import { hearth, phone, reachable, say, scan, talks } from "./phone.mjs";

const list = (page) => page.click("header .icon-button:first-child");

const scenes = {
  async empty() {},
  async chat(page) {
    await say(page, "notes");
    await answered(page, "notes");
  },
  async list(page) {
    await list(page);
    await page.waitForSelector("dialog .chat");
  },
  async acts(page) {
    await scenes.list(page);
    await page.click("dialog .chat .icon-button >> nth=0");
    await page.waitForSelector("dialog .acts");
  },
  async search(page) {
    await scenes.list(page);
    await page.fill("dialog input[type=search]", "notes");
    await page.waitForSelector("dialog .hit");
  },
  async models(page) {
    await page.click("header .icon-button >> nth=1");
    await page.waitForSelector("dialog li button");
  },
  async attach(page) {
    const name = "notes of the whole long year.txt";
    await page.setInputFiles("input[type=file]", [{ name, mimeType: "text/plain", buffer: Buffer.from("hello") }]);
    await page.waitForSelector("form li");
    await page.waitForTimeout(700);
  },
  async artifact(page) {
    await say(page, "page1");
    await answered(page, "page1");
    await page.locator(".block-host .open").last().click();
    await page.waitForSelector("dialog[open] iframe");
    await page.waitForTimeout(500);
  },
  async settings(page) {
    await page.click("header button >> nth=-1");
    await page.waitForSelector("dialog[open]");
  },
  async approval(page, { w }) {
    hearth(w, "config", "set", "agents.defaults.model", "own/hands");
    await list(page);
    await page.click("dialog .top .primary");
    await until(page, () => !document.querySelector("dialog"));
    await say(page, JSON.stringify([{ name: "exec", args: { command: "ls -la" } }]));
    await page.waitForSelector(".act .button.primary");
  },
};

/** phones takes the pictures in one dress. */
export async function phones(w, { scheme, locale }, x, keep, wanted) {
  if (![...Object.keys(scenes), "unpaired"].some((n) => wanted(`phone-${n}`))) return;
  hearth(w, "config", "set", "agents.defaults.model", "own/answers");
  await reachable(w);
  const qr = scan(w);
  const page = await phone(w, qr.pin, { scheme, locale });
  try {
    await page.goto(new URL("/phone/", qr.phoneUrls[0]).href);
    await page.waitForSelector(".card");
    await keep(page, "phone-unpaired");
    await page.goto("about:blank");
    await page.goto(qr.phoneUrls[0]);
    await talks(page);
    for (const [name, act] of Object.entries(scenes)) {
      if (!wanted(`phone-${name}`)) continue;
      await keep(page, `phone-${name}`, () => act(page, { ...x, w }));
      await page.reload();
      await talks(page);
    }
  } finally {
    await page.context().close();
    hearth(w, "config", "set", "agents.defaults.model", "script/echo");
  }
}
