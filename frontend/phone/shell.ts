// Notifications while this page is open but not looked at. Those that come while it
// is closed are the service worker's (../worker/worker.js).

/** notify tells something. */
export async function notify(title: string, body: string): Promise<void> {
  if (!("Notification" in globalThis) || Notification.permission !== "granted" || document.visibilityState === "visible") return;
  const there = await navigator.serviceWorker?.getRegistration("/phone/");
  // Who is told by a push service is not told twice.
  if (!there || (await there.pushManager?.getSubscription())) return;
  await there.showNotification(title, { body: body.slice(0, 160), tag: "hearth", icon: "/phone/icon-192.png" }).catch(() => undefined);
}

/** unsubscribe gives up what push services know of this browser. */
export async function unsubscribe(): Promise<void> {
  const there = await navigator.serviceWorker?.getRegistration("/phone/");
  await (await there?.pushManager?.getSubscription())?.unsubscribe().catch(() => undefined);
}
