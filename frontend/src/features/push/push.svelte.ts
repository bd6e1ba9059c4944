// Whether this browser is told of news, and what.
import type { Client } from "../../net/client.svelte";
import { CallError } from "../../net/socket";
import type { PushChosen, PushDevicePreferences, PushEffective } from "../../protocol";
import { registered } from "./worker";

/** At is how it stands: what is in the way, or off, or on. */
export type At = "looking" | "insecure" | "unsupported" | "iphone" | "untrusted" | "denied" | "off" | "on";
export type Level = "private" | "identified" | "detailed";

const bytes = (key: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

const same = (a: ArrayBuffer | null | undefined, b: Uint8Array): boolean => {
  const have = a ? new Uint8Array(a) : null;
  return have !== null && have.length === b.length && have.every((v, i) => v === b[i]);
};

export class Push {
  at = $state<At>("looking");
  /** what holds for this browser; null unless it is on */
  holds = $state.raw<PushEffective | null>(null);
  private chosen: PushDevicePreferences | null = null;
  private there: ServiceWorkerRegistration | null = null;

  constructor(private readonly client: Pick<Client, "call">) {}

  /** look finds out how it stands. The gateway is told again what it may have forgotten. */
  async look(): Promise<void> {
    this.at = await this.obstacle();
    if (this.at !== "off" || !this.there) return;
    const sub = await this.there.pushManager.getSubscription();
    if (!sub || Notification.permission !== "granted") return;
    const { vapidPublicKey } = await this.client.call("push.web.vapidPublicKey", {});
    if (!same(sub.options.applicationServerKey, bytes(vapidPublicKey))) return void (await sub.unsubscribe());
    await this.agree(sub);
  }

  private async obstacle(): Promise<At> {
    if (!isSecureContext) return "insecure";
    if (!("PushManager" in globalThis) || !("Notification" in globalThis))
      return /iPhone|iPad/.test(navigator.userAgent) ? "iphone" : "unsupported";
    this.there = await registered();
    if (!this.there) return "untrusted";
    return Notification.permission === "denied" ? "denied" : "off";
  }

  /** agree makes sure that the gateway knows a subscription, and asks what holds for it. */
  private async agree(sub: PushSubscription): Promise<void> {
    const { endpoint } = sub;
    const known = await this.client.call("push.web.preferences.get", { endpoint }).catch((e: unknown) => {
      if (e instanceof CallError && e.detail === "FORBIDDEN") return null;
      throw e;
    });
    const { keys } = sub.toJSON();
    if (!known) {
      const ours = { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" };
      await this.client.call("push.web.subscribe", { endpoint, keys: ours });
    }
    const now = known ?? (await this.client.call("push.web.preferences.get", { endpoint }));
    this.chosen = now.device;
    this.holds = now.effective;
    this.at = now.effective.enabled ? "on" : "off";
  }

  /** enable asks the person, the browser and the gateway, in this order. */
  async enable(): Promise<void> {
    if ((await Notification.requestPermission()) !== "granted") return void (this.at = "denied");
    const key = bytes((await this.client.call("push.web.vapidPublicKey", {})).vapidPublicKey);
    await navigator.serviceWorker.ready;
    const sub = await this.there!.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    await this.agree(sub);
    if (this.at !== "on") await this.set({});
  }

  async disable(): Promise<void> {
    const sub = await this.there?.pushManager.getSubscription();
    this.at = "off";
    this.holds = null;
    if (!sub) return;
    // Where this fails, the push service will say that it is gone.
    await this.client.call("push.web.unsubscribe", { endpoint: sub.endpoint }).catch(() => undefined);
    await sub.unsubscribe();
  }

  /** set changes some of what was chosen for this browser. */
  async set(some: Partial<PushDevicePreferences>): Promise<void> {
    const sub = await this.there?.pushManager.getSubscription();
    if (!sub) return;
    const preferences = { label: "", ...this.chosen, ...some, enabled: true };
    const now = await this.client.call("push.web.preferences.set", { endpoint: sub.endpoint, scope: "device", preferences });
    this.chosen = now.device;
    this.holds = now.effective;
    this.at = "on";
  }

  choose(what: keyof PushChosen, on: boolean): Promise<void> {
    return this.set({ categories: { ...this.chosen?.categories, [what]: on } });
  }

  /** quiet leaves this browser alone at night. */
  quiet(enabled: boolean, from = "22:00", to = "07:00"): Promise<void> {
    const minute = (t: string): number => Number(t.slice(0, 2)) * 60 + Number(t.slice(3, 5));
    const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return this.set({ quietHours: { enabled, startMinute: minute(from), endMinute: minute(to), timeZone } });
  }

  /** test says why it did not arrive; "" when the push service took it. */
  async test(): Promise<string> {
    const { results } = await this.client.call("push.web.test", {});
    return results.find((r) => !r.ok)?.error ?? "";
  }
}
