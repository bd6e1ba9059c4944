// The service worker: the page without the gateway, and notifications.
import assert from "node:assert/strict";
import { answered, axe, ready, say, until } from "./harness.mjs";
import { address, hearth, phone, reachable, scan, talks } from "./phone.mjs";

/** worker is the service worker of a page, at work. */
async function worker(page) {
  const context = page.context();
  const sw = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker", { timeout: 20_000 }));
  await until(page, () => navigator.serviceWorker.controller || navigator.serviceWorker.ready.then(() => true));
  return sw;
}

/** kept waits until the worker can show the page by itself. */
async function kept(page) {
  const can = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active?.state === "activated" && (await caches.keys()).length === 2 && Boolean(await caches.match(location.pathname)));
  for (const end = performance.now() + 30_000; !(await can()); await new Promise((r) => setTimeout(r, 50))) if (performance.now() > end) throw new Error("the page is not kept");
}

/** deliver is what a push service does with a push that was decrypted. */
async function deliver(page, data) {
  const cdp = await page.context().newCDPSession(page);
  const found = new Promise((r) => cdp.on("ServiceWorker.workerRegistrationUpdated", (e) => e.registrations[0] && r(e.registrations[0].registrationId)));
  await cdp.send("ServiceWorker.enable");
  await cdp.send("ServiceWorker.deliverPushMessage", { origin: new URL(page.url()).origin, registrationId: await found, data });
  await cdp.detach();
}

const shown = (sw) =>
  sw.evaluate(async () => (await self.registration.getNotifications()).map((n) => ({ title: n.title, body: n.body, tag: n.tag, ref: n.data?.ref, actions: n.actions.map((a) => a.action) })));

async function notified(sw, count) {
  let now = [];
  for (const end = performance.now() + 20_000; (now = await shown(sw)).length < count; await new Promise((r) => setTimeout(r, 50)))
    if (performance.now() > end) throw new Error(`${count} notifications did not come: ${JSON.stringify(now)}`);
  return now;
}

/** press is a press on a notification, as far as a script can make one. */
const press = (sw, tag) =>
  sw.evaluate(async (t) => {
    const n = (await self.registration.getNotifications()).find((o) => o.tag === t);
    try {
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification: n }));
    } catch {
      // It is no real one, so nothing waits for it.
    }
  }, tag);

/** subscribed stands in for the browser's own push service, which tests cannot reach. */
function subscribed() {
  const text = (b) => btoa(String.fromCharCode(...b)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  let now = null;
  PushManager.prototype.getSubscription = async () => now;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]);
    const keys = { p256dh: text(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey))), auth: text(crypto.getRandomValues(new Uint8Array(16))) };
    const endpoint = "https://push.invalid/wpush/" + text(crypto.getRandomValues(new Uint8Array(12)));
    return (now = { endpoint, options: { applicationServerKey: applicationServerKey.buffer }, toJSON: () => ({ endpoint, keys }), unsubscribe: async () => ((now = null), true) });
  };
}

const all = [
  {
    name: "page: without the gateway it opens, keeps what is written, and sends it when the gateway is back",
    async run(w, open) {
      const page = await open({ serviceWorkers: "allow" });
      await ready(page);
      await worker(page);
      await kept(page);
      await w.killGateway();
      await page.reload();
      await until(page, () => document.querySelector("#composer") && document.querySelector(".banner.link"));
      await say(page, "kept meanwhile");
      await until(page, () => document.querySelector("article[data-state=waiting]"));
      await w.startGateway();
      await answered(page, "kept meanwhile");
    },
  },
  {
    name: "page: a push is shown without its words unless they came, leads to its chat, and approves nothing",
    async run(w, open) {
      const page = await open({ serviceWorkers: "allow", permissions: ["notifications"] });
      await ready(page);
      const sw = await worker(page);
      await deliver(page, JSON.stringify({ v: 1, ref: "A".repeat(27) }));
      const [first] = await notified(sw, 1);
      assert.deepEqual(first, { title: "Hearth", body: "There is news.", tag: "hearth-news", ref: "A".repeat(27), actions: ["open"] });
      await deliver(page, JSON.stringify({ v: 1, ref: "B".repeat(27), kind: "approval", title: "Trip", body: "x".repeat(999) }));
      const second = (await notified(sw, 2)).find((n) => n.tag === "hearth-approval");
      assert.deepEqual([second.title, second.body.length, second.actions], ["Trip", 240, ["open"]]);
      for (const bad of ["", "{", "[]", JSON.stringify({ v: 2, title: "x" }), JSON.stringify({ v: 1, ref: "javascript:alert(1)", kind: "<b>" })]) await deliver(page, bad);
      assert.equal((await notified(sw, 2)).filter((n) => n.ref?.includes(":")).length, 0);
      // A press asks the gateway where the news is.
      await page.evaluate(() => {
        window.asked = [];
        navigator.serviceWorker.addEventListener("message", (e) => window.asked.push(e.data.hearth.news));
      });
      await press(sw, "hearth-approval");
      await until(page, () => window.asked.length === 1);
      assert.deepEqual(await page.evaluate(() => window.asked), ["B".repeat(27)]);
    },
  },
  {
    name: "page: notifications are switched on, say as much as their person wants, are tried out, and off again",
    async run(w, open) {
      hearth(w, "config", "set", "secrets.backend", "plain");
      const page = await open({ serviceWorkers: "allow", permissions: ["notifications"], before: (p) => p.addInitScript(subscribed) });
      await ready(page);
      await worker(page);
      await page.keyboard.press("Control+,");
      await page.click("[data-push=off] button");
      await until(page, () => document.querySelector("[data-push=on]"));
      assert.equal(await page.$eval("[name=push-level]:checked", (e) => e.value), "private");
      await page.click("[name=push-level][value=detailed]");
      await until(page, () => !document.querySelector("[data-push=on] fieldset").disabled);
      assert.deepEqual(await axe(page), []);
      await page.click("[data-push=on] .act button:first-child");
      // There is no such service: that is said, in words.
      await until(page, () => /could not be reached/.test(document.querySelector("[data-push] [role=alert]")?.textContent));
      await page.click("[data-push=on] .act button:last-child");
      await until(page, () => document.querySelector("[data-push=off]"));
      hearth(w, "config", "unset", "secrets.backend");
    },
  },
];

const phones = [
  {
    name: "phone: chats are listed, begun, named, pinned, archived, deleted and found; a model is chosen",
    async run(w, open) {
      await reachable(w);
      const qr = scan(w);
      const page = await open(await phone(w, qr.pin));
      await page.goto(qr.phoneUrls[0]);
      await talks(page);
      const list = () => page.click("header .icon-button:first-child");
      const begin = async (text) => {
        await list();
        await page.click("dialog .top .primary");
        await until(page, () => !document.querySelector("dialog") && document.querySelector(".empty"));
        await page.fill("#composer", text);
        await page.click(".go[type=submit]");
        await answered(page, text);
      };
      await begin("lighthouses of the north");
      await begin("a recipe for soup");
      await list();
      await until(page, () => document.querySelectorAll("dialog .chat").length >= 2);
      assert.deepEqual(await axe(page), []);
      const row = (t) => `dialog .chat:has-text("${t}")`;
      await page.click(`${row("soup")} .icon-button`);
      await page.click("dialog .acts button:nth-child(1)");
      await page.fill("dialog .chat form input", "Soup");
      await page.click("dialog .chat form button");
      await until(page, () => [...document.querySelectorAll("dialog .title")].some((e) => e.textContent === "Soup"));
      await page.click(`${row("Soup")} .icon-button`);
      await page.click("dialog .acts button:nth-child(2)");
      await until(page, () => document.querySelector("dialog .head h3")?.textContent === "Pinned");
      // Words in messages lead to the message.
      await page.fill("dialog input[type=search]", "lighthouses");
      await page.click("dialog .hit");
      await until(page, () => !document.querySelector("dialog") && /lighthouses/.test(document.querySelector(".bubble")?.textContent) && document.querySelector(".lit"));
      await list();
      const listed = () => [...document.querySelectorAll("dialog .chat")].some((e) => e.textContent.includes("lighthouses"));
      await page.click(`${row("lighthouses")} .icon-button`);
      await page.click("dialog .acts button:nth-child(3)");
      await page.waitForFunction(`!(${listed})()`);
      await page.click("dialog .all");
      await page.waitForFunction(`(${listed})()`);
      await page.click(`${row("lighthouses")} .icon-button`);
      await page.click("dialog .acts button:nth-child(4)");
      await page.click("dialog .acts button.danger");
      await until(page, () => !document.querySelector("dialog .chat"));
      await page.keyboard.press("Escape");
      // Another model answers here, and only here.
      await list();
      await page.click(`${row("Soup")} .go`);
      await until(page, () => !document.querySelector("dialog"));
      await page.click("header .icon-button[aria-label=Model]");
      await page.click('dialog li button:has-text("eyes")');
      await until(page, () => !document.querySelector("dialog"));
      await page.fill("#composer", "look");
      await page.click(".go[type=submit]");
      await until(page, () => [...document.querySelectorAll(".md")].at(-1)?.innerText.trim() === "I see 0 pictures");
    },
  },
  {
    name: "phone: a message is edited, an answer made again, its versions reached, and an artifact fills the screen",
    async run(w, open) {
      hearth(w, "config", "set", "agents.defaults.model", "own/answers");
      await reachable(w);
      const qr = scan(w);
      const page = await open(await phone(w, qr.pin));
      await page.goto(qr.phoneUrls[0]);
      await talks(page);
      const say = async (text) => (await page.fill("#composer", text), await page.click(".go[type=submit]"), await answered(page, text));
      await say("/new");
      await say("first words");
      await page.locator("article .acts [aria-label^=Edit]").last().click();
      await page.fill(".acts textarea", "other words");
      await page.click(".acts form .primary");
      await until(page, () => [...document.querySelectorAll("article[data-state=answered] .bubble")].some((e) => e.textContent === "other words"));
      await until(page, () => /2\/2/.test([...document.querySelectorAll("article .versions")].at(-1)?.textContent));
      await page.locator("article .versions button:first-child").last().click();
      await until(page, () => [...document.querySelectorAll("article .bubble")].at(-1)?.textContent === "first words");
      assert.deepEqual(await axe(page), []);
      await say("page1");
      await until(page, () => document.querySelector(".block-host .open"));
      await page.click(".block-host .open");
      await until(page, () => document.querySelector("dialog[open] iframe"));
      const [box, sandbox] = await page.$eval("dialog iframe", (e) => [e.closest("dialog").getBoundingClientRect().toJSON(), e.getAttribute("sandbox")]);
      assert.deepEqual([box.width, box.height, sandbox], [360, 740, "allow-scripts"]);
      await page.click("dialog header .icon-button:last-child");
      await until(page, () => !document.querySelector("dialog"));
      for (const text of ["formulas", "page1"]) await say(text);
      // The field for other words opens with its buttons, and what floats there covers none of them.
      const pencil = page.locator("article .acts [aria-label^=Edit]").nth(2);
      // Formulas that come in late hold the view at the end until somebody has scrolled: a finger goes on, and so does this.
      await pencil.evaluate((e) => (e.style.scrollMarginBlock = "30px"));
      await until(page, () => {
        [...document.querySelectorAll("article .acts [aria-label^=Edit]")][2].scrollIntoView({ block: "end" });
        return document.querySelector(".jump");
      });
      await pencil.evaluate((e) => e.click());
      await until(page, () => {
        const buttons = [...document.querySelectorAll(".acts form button")].map((e) => [e, e.getBoundingClientRect()]);
        const seen = ([e, { x, y, width, height }], at) => e.contains(document.elementFromPoint(x + width * at, y + height * 0.9));
        return buttons.length === 2 && buttons.every((b) => seen(b, 0.1) && seen(b, 0.9));
      });
      hearth(w, "config", "set", "agents.defaults.model", "script/echo");
    },
  },
  {
    name: "phone: without the gateway it opens, keeps what is written, and sends it when the gateway is back",
    async run(w, open) {
      await reachable(w);
      const qr = scan(w);
      const page = await open(await phone(w, qr.pin));
      await page.goto(qr.phoneUrls[0]);
      await talks(page);
      await kept(page);
      await w.killGateway();
      await page.reload();
      await until(page, () => document.querySelector("#composer") && /can't be reached/.test(document.querySelector(".banner")?.textContent));
      await page.fill("#composer", "kept on the phone");
      await page.click(".go[type=submit]");
      await until(page, () => document.querySelector("article[data-state=waiting]"));
      await w.startGateway();
      await answered(page, "kept on the phone");
    },
  },
];

export const cases = address() === "" ? all : [...all, ...phones];
