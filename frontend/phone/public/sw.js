// Keeps the page itself, so that it opens without a network and says so. It keeps
// nothing else: what is said goes by a socket, which no service worker sees, and
// any other request is left alone.
const shell = "hearth-phone-shell";
const home = "/phone/";

self.addEventListener("install", (e) => e.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));

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
  else if (url.pathname.startsWith("/phone/assets/")) e.respondWith(part(request));
});

self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  e.waitUntil(
    self.clients.matchAll({ type: "window", includeUncontrolled: true }).then((all) => {
      const open = all.find((c) => new URL(c.url).pathname.startsWith(home));
      return open ? open.focus() : self.clients.openWindow(home);
    }),
  );
});
