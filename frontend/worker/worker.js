// The service worker of both pages (worker.ts puts it into each build). It keeps the
// page itself, so that it opens without a network and says so, and shows the
// notifications that come by a push service. It keeps nothing that was said: that
// goes by a socket, which no service worker sees, and any other request is left alone.
const home = "__HOME__"; // the page, and below it all that is its own
const shell = "hearth-shell:" + home;
const spoken = "hearth-words:" + home;

self.addEventListener("install", (e) => e.waitUntil(keepAll([]).finally(() => self.skipWaiting())));
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));

const isPart = (path) => path.startsWith(home + "assets/");

/** keepAll keeps the page and what it is made of. */
async function keepAll(more) {
  const kept = await caches.open(shell);
  const page = await fetch(home, { cache: "no-store" });
  if (!page.ok) return;
  const named = [...(await page.clone().text()).matchAll(/(?:src|href)="([^"]+)"/g)].map((m) => m[1]);
  await kept.put(home, page);
  const all = new Set([...named, ...more].filter((p) => typeof p === "string" && isPart(p)));
  await Promise.all([...all].slice(0, 200).map(async (p) => (await kept.match(p)) ?? kept.add(p)));
}

/** page asks the gateway first: a kept page must never hide a newer one. */
async function page(request) {
  const kept = await caches.open(shell);
  try {
    const fresh = await fetch(request, { signal: AbortSignal.timeout(4000) });
    if (fresh.ok) {
      const text = await fresh.clone().text();
      const before = await kept.match(home);
      // Another build: what the old one was made of goes.
      if (before && (await before.text()) !== text) await caches.delete(shell);
      await (await caches.open(shell)).put(home, fresh.clone());
    }
    return fresh;
  } catch (e) {
    const old = await kept.match(home);
    if (old) return old;
    throw e;
  }
}

/** part of the page: its name changes with what is in it. */
async function part(request) {
  const kept = await caches.open(shell);
  const old = await kept.match(request);
  if (old) return old;
  const fresh = await fetch(request);
  if (fresh.ok) await kept.put(request, fresh.clone());
  return fresh;
}

self.addEventListener("fetch", (e) => {
  const { request } = e;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin || url.search !== "") return;
  if (request.mode === "navigate" && url.pathname === home) e.respondWith(page(request));
  else if (isPart(url.pathname)) e.respondWith(part(request));
});

// The page says which of its parts it uses, and the words of its language.
self.addEventListener("message", (e) => {
  const m = e.data?.hearth;
  if (m?.keep) e.waitUntil(keepAll(m.keep));
  if (m?.words) e.waitUntil(caches.open(spoken).then((c) => c.put(home + "words", new Response(JSON.stringify(m.words)))));
});

const plain = (v, most) => (typeof v === "string" ? v.slice(0, most) : "");
const english = { news: "There is news.", approval: "Something needs your yes.", answer: "There is an answer.", reminder: "A reminder", failure: "Something that was planned failed.", test: "Notifications work.", open: "Open", look: "Look at it" };

async function words() {
  const kept = await (await caches.open(spoken)).match(home + "words");
  return { ...english, ...(kept ? await kept.json().catch(() => ({})) : {}) };
}

self.addEventListener("push", (e) => {
  let p = {};
  try {
    p = e.data?.json() ?? {};
  } catch {
    // Somebody else's, or damaged: there is news all the same.
  }
  e.waitUntil(show(p?.v === 1 ? p : {}));
});

async function show(p) {
  const w = await words();
  const kind = ["approval", "answer", "reminder", "failure", "test"].includes(p.kind) ? p.kind : "news";
  await self.registration.showNotification(plain(p.title, 80) || "Hearth", {
    body: plain(p.body, 240) || w[kind],
    tag: "hearth-" + kind,
    renotify: true,
    requireInteraction: kind === "approval",
    icon: "/phone/icon-192.png",
    data: { ref: /^[\w-]{20,64}$/.test(p.ref) ? p.ref : "" },
    // Nothing is decided here: a yes needs the request before one's eyes.
    actions: [{ action: "open", title: kind === "approval" ? w.look : w.open }],
  });
}

const isOurs = (c) => {
  const path = new URL(c.url).pathname;
  return home === "/" ? path === home : path.startsWith(home);
};

self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  e.waitUntil(arrive(e.notification.data?.ref ?? ""));
});

async function arrive(ref) {
  const open = (await self.clients.matchAll({ type: "window", includeUncontrolled: true })).find(isOurs);
  if (!open) return self.clients.openWindow(home + (ref ? "#news=" + ref : ""));
  open.postMessage({ hearth: { news: ref } });
  await open.focus();
}

// The browser got another address from its push service; the page tells the gateway
// when it is opened next.
self.addEventListener("pushsubscriptionchange", (e) => e.waitUntil(show({})));
