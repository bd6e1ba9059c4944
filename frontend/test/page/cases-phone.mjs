// The page for phones, in Chromium as a phone, by TLS under an address that other
// machines use too.
import assert from "node:assert/strict";
import { answered, axe, until } from "./harness.mjs";
import { at, hearth, phone, reachable, say, says, scan, talks } from "./phone.mjs";

/** paired is a phone that was let in by a QR code. */
async function paired(w, open, options) {
  await reachable(w);
  const qr = scan(w);
  const page = await open(await phone(w, qr.pin, options));
  await page.goto(qr.phoneUrls[0]);
  await talks(page);
  return { page, qr };
}

export const cases = [
  {
    name: "phone: paired by a scan, it chats, survives a lost link, and is out when it is removed",
    async run(w, open) {
      await reachable(w);
      const qr = scan(w);
      const page = await open(await phone(w, qr.pin));
      const started = performance.now();
      await page.goto(qr.phoneUrls[0]);
      await talks(page);
      await say(page, "hello");
      await says(page, "echo: hello");
      const first = performance.now() - started;
      console.log(`      scan to first answer: ${first.toFixed(0)} ms`);
      assert.ok(first < 5000, `scan to first answer took ${first} ms`);
      await answered(page, "hello");
      // The code is gone from the address, the history and whatever is kept.
      const secret = qr.phoneUrls[0].split("#")[1];
      assert.equal(page.url(), `https://${new URL(qr.phoneUrls[0]).host}/phone/`);
      assert.ok(!w.log.includes(secret));
      assert.deepEqual(await axe(page), []);
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
      await says(page, "echo: still there?", 30_000);
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
];
