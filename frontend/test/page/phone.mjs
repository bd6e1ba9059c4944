// A phone for the page's tests: Chromium with a phone's screen, camera and
// position, which reaches the gateway by TLS under one of its own addresses.
// It takes the gateway's key and no other, as a phone does that trusts its
// certificate.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, devices } from "playwright-core";
import { chromiums, until, watch } from "./harness.mjs";

/** address is one by which other machines could reach this one. */
export function address() {
  for (const list of Object.values(networkInterfaces())) for (const a of list) if (!a.internal && a.family === "IPv4") return a.address;
  return "";
}

export const hearth = (w, ...args) => execFileSync(w.bin, args, { env: w.env, encoding: "utf8" });

/** reachable lets other machines in and returns what a new QR code says. */
export async function reachable(w) {
  hearth(w, "config", "set", "gateway.customBindHost", address());
  hearth(w, "config", "set", "gateway.bind", "custom");
  for (let i = 0; i < 100; i++) {
    if (JSON.parse(hearth(w, "lan", "status", "--json")).addresses.length > 0) return;
    await new Promise((r) => setTimeout(r, 50));
  }
  throw new Error("the gateway did not open the address");
}

export const scan = (w, ...args) => JSON.parse(hearth(w, "qr", "--json", ...args));

/** phone is a browser of its own; what it keeps is gone when it is closed. */
export async function phone(w, pin, { scheme = "light", width = 360, locale = "en-GB", permissions = ["camera", "geolocation"] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "hearth-phone-"));
  const { defaultBrowserType, ...pixel } = devices["Pixel 7"];
  const context = await chromium.launchPersistentContext(folder, {
    ...pixel, viewport: { width, height: 740 }, colorScheme: scheme, reducedMotion: "reduce", locale,
    executablePath: chromiums.find((p) => p && existsSync(p)), geolocation: { latitude: 52.5163, longitude: 13.3777, accuracy: 12 }, permissions: [],
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--use-fake-device-for-media-stream", `--ignore-certificate-errors-spki-list=${Buffer.from(pin, "hex").toString("base64")}`,
    ],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const origin = `https://${address()}:${w.port}`;
  await context.grantPermissions(permissions, { origin });
  watch(page, origin);
  const close = context.close.bind(context);
  context.close = async () => (await close(), rmSync(folder, { recursive: true, force: true }));
  return page;
}

/** at waits until the phone stands there. */
export const at = (page, place) => until(page, (p) => document.querySelector(".card")?.dataset.at === p, place);

export const talks = (page) => until(page, () => document.querySelector("#composer") && document.querySelector(".dot.open"));

export const says = (page, want) => until(page, (w) => [...document.querySelectorAll(".md")].at(-1)?.innerText.trim() === w, want);

export async function say(page, text) {
  await page.fill("#composer", text);
  await page.click(".go[type=submit]");
}
