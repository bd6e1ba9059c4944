// What a gateway shows that nobody has used, or whose keys are locked, and one that is away.
import { networked } from "./cases-pipeline.mjs";
import { World, ready, say, until } from "./harness.mjs";

const passphrase = "quiet river horse battery staple";

/** begun takes the pictures of a first start and of keys without a keychain. */
export async function begun(w, dress, { t }, keep) {
  const f = await World.fresh(w);
  try {
    const page = await f.open(dress);
    await ready(page);
    await keep(page, "first", async () => page.waitForSelector(".first button"));
    await keep(page, "first-held", async () => {
      await say(page, "Plan my week");
      await page.waitForTimeout(500);
    });
    await keep(page, "first-key", async () => {
      await page.click(`.first button:has-text("${t("Paste a key")}")`);
      await page.waitForSelector(".first .place");
    });
    await page.reload();
    await ready(page);
    await page.keyboard.press("Control+,");
    await page.click("dialog nav [data-pane=models]");
    await page.waitForSelector("dialog .place");
    await keep(page, "keys-place");
    await keep(page, "keys-passphrase", async () => {
      await page.click("dialog .place button >> nth=0");
      await page.fill("dialog .place input >> nth=0", "passwort");
      await page.fill("dialog .place input >> nth=1", "passwor");
      await page.locator("dialog .place .primary").scrollIntoViewIfNeeded();
    });
    await page.fill("dialog .place input >> nth=0", passphrase);
    await page.fill("dialog .place input >> nth=1", passphrase);
    await page.click("dialog .place .primary");
    await page.waitForSelector("dialog .kept");
    await page.keyboard.press("Escape");
    await f.killGateway();
    await page.waitForTimeout(1500);
    await say(page, "sent while it is away").catch(() => {});
    await keep(page, "away", async () => page.waitForSelector(".banner"));
    await f.startGateway();
    await until(page, () => document.querySelector(".banner.problem button"));
    await keep(page, "vault-locked");
    await keep(page, "vault-unlock", async () => {
      await page.click(".banner.problem button");
      await page.waitForSelector("dialog input");
    });
    await page.context().close();
  } finally {
    await f.stop();
  }
}

/** others are the pictures with people of a network, and of a browser that is not let in. */
export async function others(w, dress, keep) {
  const known = await w.open({ ...dress, before: networked });
  await ready(known);
  await until(known, () => document.querySelector(".ask"));
  if (dress.width < 720) await keep(known, "ask");
  if (!(await known.$("nav"))) await known.keyboard.press("Control+b");
  await until(known, () => document.querySelector(".undelivered"));
  await keep(known, "networks");
  await known.click(".undelivered");
  await until(known, () => document.querySelector("dialog li"));
  await keep(known, "undelivered");
  await known.context().close();
  const stranger = await w.open({ ...dress, link: w.url });
  await until(stranger, () => document.querySelector("#code"));
  await keep(stranger, "locked");
  await stranger.context().close();
}
