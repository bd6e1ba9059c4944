// The service worker: it keeps the page, and shows notifications.
interface Typed {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL(s: string): string }): { createScriptURL(s: string): string } };
}

const worker = "/phone/sw.js";

export async function keepShell(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const policy = (globalThis as Typed).trustedTypes?.createPolicy("hearth", { createScriptURL: (s) => (s === worker ? s : "") });
  try {
    await navigator.serviceWorker.register(policy ? policy.createScriptURL(worker) : worker, { scope: "/phone/" });
  } catch {
    // A certificate that the phone does not trust: everything else works.
  }
}

/** notify tells something while the page is open but not looked at. */
export async function notify(title: string, body: string): Promise<void> {
  if (!("Notification" in globalThis) || Notification.permission !== "granted" || document.visibilityState === "visible") return;
  const there = await navigator.serviceWorker?.getRegistration("/phone/");
  const about = { body: body.slice(0, 160), tag: "hearth", icon: "/phone/icon-192.png" };
  if (there) await there.showNotification(title, about).catch(() => undefined);
}
