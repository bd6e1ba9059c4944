// The service worker of this page: it keeps the page for when the gateway is away,
// and shows notifications. What is pressed there comes back here.
import { load } from "../../i18n/words.svelte";
import type { Caller } from "../../net/client.svelte";
import type { PushPlace } from "../../protocol";
import { spokenByWorker } from "./words";

interface Typed {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL(s: string): string }): { createScriptURL(s: string): string } };
}

export type Home = "/" | "/phone/";

let mine: Promise<ServiceWorkerRegistration | null> | undefined;

/** registered is the worker; null where a browser has none for this page: without https, or with a certificate that it does not trust. */
export const registered = (): Promise<ServiceWorkerRegistration | null> => mine ?? Promise.resolve(null);

async function register(home: Home): Promise<ServiceWorkerRegistration | null> {
  if (!("serviceWorker" in navigator)) return null;
  const script = `${home}sw.js`;
  const policy = (globalThis as Typed).trustedTypes?.createPolicy("hearth", { createScriptURL: (s) => (s === script ? s : "") });
  try {
    const address = policy ? policy.createScriptURL(script) : script;
    return await navigator.serviceWorker.register(address, { scope: home, updateViaCache: "none" });
  } catch {
    return null;
  }
}

/** tell gives the worker something to keep. */
async function tell(home: Home, what: { keep?: string[]; words?: Record<string, string> }): Promise<void> {
  await registered();
  if (!("serviceWorker" in navigator)) return;
  const there = await navigator.serviceWorker.getRegistration(home);
  (there?.active ?? there?.waiting ?? there?.installing)?.postMessage({ hearth: what });
}

/** begin is called once; news is what a notification that opened the page carried. */
export function begin(home: Home, client: Caller, news: string, go: (at: PushPlace) => void): void {
  mine ??= register(home);
  const open = async (ref: string): Promise<void> => {
    if (ref === "") return;
    const at = await client.call("hearth.push.open", { ref }).catch(() => null);
    if (at?.found) go(at);
  };
  navigator.serviceWorker?.addEventListener("message", (e) => {
    const ref = (e.data as { hearth?: { news?: unknown } } | null)?.hearth?.news;
    if (typeof ref === "string") void open(ref);
  });
  void open(news);
  void keep(home);
}

/** keep has the worker keep the parts of the page that are in use, and the words of its language. */
async function keep(home: Home): Promise<void> {
  const parts = performance.getEntriesByType("resource").map((r) => new URL(r.name)).filter((u) => u.origin === location.origin);
  await tell(home, { keep: parts.map((u) => u.pathname).filter((p) => p.startsWith(`${home}assets/`)) });
  await load("push");
  await tell(home, { words: spokenByWorker() });
}
