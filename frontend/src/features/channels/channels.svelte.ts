// Messaging networks as far as the page deals with them: answers that have not
// arrived there, and people who ask to be let in.
import { createContext } from "svelte";
import type { Caller } from "../../net/client.svelte";
import type { AsideMessage, ContactRequest, DeliveryInfo } from "../../net/wire";

/** What somebody gets who is let in: a conversation of their own, the owner's, or all that the owner has. */
export type Gets = "own" | "shared" | "owner";

export class Channels {
  /** the connected networks, by id, as people call them */
  labels = $state.raw<Record<string, string>>({});
  undelivered = $state.raw<DeliveryInfo[]>([]);
  /** messages from networks that could not be handled and wait for a decision */
  aside = $state.raw<AsideMessage[]>([]);
  requests = $state.raw<ContactRequest[]>([]);
  readonly any = $derived(Object.keys(this.labels).length > 0);

  constructor(private readonly client: Caller) {}

  /** load is called after hello: it asks which networks there are. */
  async load(): Promise<void> {
    this.labels = (await this.client.call("channels.status", {})).channelLabels;
    await this.refresh();
  }

  /** refresh asks what waits; without a network it asks nothing. */
  async refresh(): Promise<void> {
    if (!this.any) return;
    const [d, c] = await Promise.all([this.client.call("hearth.deliveries.list", {}), this.client.call("hearth.contacts.list", {})]);
    this.undelivered = d.deliveries;
    this.aside = d.aside ?? [];
    this.requests = c.requests;
  }

  label(id: string): string {
    return this.labels[id] ?? id.charAt(0).toUpperCase() + id.slice(1);
  }

  async settle(d: DeliveryInfo, decision: "resend" | "arrived"): Promise<void> {
    await this.client.call("hearth.deliveries.resolve", { id: d.id, decision });
    this.undelivered = this.undelivered.filter((o) => o.id !== d.id);
    if (decision === "resend") await this.refresh();
  }

  async decide(m: AsideMessage, decision: "retry" | "drop"): Promise<void> {
    await this.client.call("hearth.deliveries.resolve", { id: m.id, decision });
    await this.refresh();
  }

  /** answer lets somebody in, with a conversation of their own unless gets says otherwise. */
  async answer(r: ContactRequest, decision: "approve" | "reject", gets: Gets = "own"): Promise<void> {
    await this.client.call("hearth.contacts.resolve", {
      channel: r.channel,
      code: r.code,
      decision,
      owner: gets === "owner",
      shared: gets === "shared",
    });
    this.requests = this.requests.filter((o) => o.code !== r.code || o.channel !== r.channel);
  }
}

export const [useChannels, provideChannels] = createContext<Channels>();
