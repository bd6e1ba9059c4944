// The accounts on messaging networks: which there are, how each is, and how one is
// set up, switched and taken out.
import type { Client } from "../../net/client.svelte";
import type { ChannelAccountStatus, ChannelAdded, ChannelKind, WebLogin } from "../../protocol";

export interface Account extends ChannelAccountStatus {
  channel: string;
}

/** at names an account for the gateway. */
const at = (channel: string, accountId: string): { channel: string; accountId: string } => ({ channel, accountId });

export class Accounts {
  kinds = $state.raw<ChannelKind[]>([]);
  list = $state.raw<Account[]>([]);
  loaded = $state(false);

  constructor(private readonly client: Client) {}

  async load(): Promise<void> {
    const [kinds] = await Promise.all([this.client.call("hearth.channels.kinds", {}), this.look()]);
    this.kinds = kinds.kinds;
    this.loaded = true;
  }

  /** look asks how the accounts are. */
  async look(): Promise<void> {
    const s = await this.client.call("channels.status", {});
    this.list = s.channelOrder.flatMap((channel) => (s.channelAccounts[channel] ?? []).map((a) => ({ ...a, channel })));
  }

  kind(id: string): ChannelKind | undefined {
    return this.kinds.find((k) => k.id === id);
  }

  label(id: string): string {
    return this.kind(id)?.label ?? id;
  }

  get(channel: string, accountId: string): Account | undefined {
    return this.list.find((a) => a.channel === channel && a.accountId === accountId);
  }

  /** freeName is a name that no account of a network has. */
  freeName(channel: string): string {
    const taken = this.list.filter((a) => a.channel === channel).map((a) => a.accountId);
    if (!taken.includes("default")) return "default";
    for (let n = 2; ; n++) if (!taken.includes(`account${n}`)) return `account${n}`;
  }

  async add(channel: string, accountId: string, values: Record<string, string>): Promise<ChannelAdded> {
    const added = await this.client.call("hearth.channels.add", { ...at(channel, accountId), values });
    await this.look();
    return added;
  }

  async remove(channel: string, accountId: string, keepRules = false): Promise<void> {
    await this.client.call("hearth.channels.remove", { ...at(channel, accountId), keepRules });
    await this.look();
  }

  /** asked is what an account that logs in asks of a person now; it begins nothing. */
  asked(a: { channel: string; accountId: string }): Promise<WebLogin> {
    return this.client.call("web.login.wait", { ...at(a.channel, a.accountId), timeoutMs: 1 });
  }

  /** answerAsk says whether what was compared is the same, or decides. */
  answerAsk(a: { channel: string; accountId: string }, compared: string, answer: "yes" | "no"): Promise<WebLogin> {
    return this.client.call("web.login.start", { ...at(a.channel, a.accountId), compared, answer, timeoutMs: 1 });
  }

  async turn(a: Account, on: boolean): Promise<void> {
    await this.client.call(on ? "channels.start" : "channels.stop", at(a.channel, a.accountId));
    await this.look();
  }
}

/** pathOf is where the settings of an account stand. */
export const pathOf = (a: { channel: string; accountId: string }): string =>
  a.accountId === "default" ? `channels.${a.channel}` : `channels.${a.channel}.accounts.${a.accountId}`;
