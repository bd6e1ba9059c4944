// The conversations that are open in this page: one is shown, some more are
// kept as they were.
import { createContext } from "svelte";
import type { Client } from "../net/client.svelte";
import type { SearchHit, SessionRow, SessionsChanged } from "../net/wire";
import { go, pastInUrl, sessionInUrl } from "../shell/route";
import { prefs } from "../storage/local";
import { Chat, type Past } from "./chat.svelte";
import { feed } from "./events";
import type { Entry } from "./outbox";
import type { Sessions } from "./sessions.svelte";

const mostKept = 8;

export interface ChatsOptions {
  client: Client;
  sessions: Sessions;
  /** the unsent messages of a session */
  unsent(key: string): Entry[];
  /** the built-in guide answers in the chat that is shown */
  isGuide(): boolean;
  /** the view of waiting messages is there */
  hasQueue(): boolean;
}

export class Chats {
  /** the conversation that is shown */
  chat = $state.raw<Chat | null>(null);
  private readonly kept = new Map<string, Chat>();
  /** what the list of sessions says of it */
  readonly row: SessionRow | undefined = $derived.by(() => (this.chat ? this.o.sessions.get(this.chat.key) : undefined));

  constructor(private readonly o: ChatsOptions) {
    o.client.on((name, payload) => this.event(name, payload));
    addEventListener("hashchange", () => this.routed());
  }

  private get online(): boolean {
    return this.o.client.link.at === "open";
  }

  /** routed shows what the address names. */
  private routed(): void {
    const key = sessionInUrl();
    const past = pastInUrl();
    if (key && past) this.openPast(key, { sessionId: past });
    else if (key) this.open(key);
  }

  open(key: string, isNew = false): void {
    if (this.chat?.key === key && !this.chat.past) return;
    this.chat?.detach();
    const chat = this.kept.get(key) ?? new Chat(key, isNew, this.o.client, this.o.isGuide, this.o.hasQueue);
    this.kept.delete(key);
    this.kept.set(key, chat);
    if (this.kept.size > mostKept) this.kept.delete(this.kept.keys().next().value!);
    chat.entries = this.o.unsent(key);
    this.chat = chat;
    prefs.lastSession = key;
    go(key);
    if (this.online) void chat.attach();
  }

  /** openPast shows what stood in a chat before it began anew, to read only. */
  openPast(key: string, past: Past): void {
    if (this.chat?.key === key && this.chat.past?.sessionId === past.sessionId) return;
    this.chat?.detach();
    this.chat = new Chat(key, false, this.o.client, this.o.isGuide, undefined, past);
    go(key, past.sessionId);
    if (this.online) void this.chat.attach();
  }

  /** continuePast makes the earlier conversation that is open a chat of its own. */
  async continuePast(): Promise<void> {
    const { client, sessions } = this.o;
    const chat = this.chat;
    if (!chat?.past) return;
    const r = await client.act(client.call("hearth.sessions.continue", { key: chat.key, sessionId: chat.past.sessionId }));
    if (!r) return;
    sessions.changed({ sessionKey: r.key, reason: "create", ts: Date.now(), session: r.session });
    this.open(r.key);
  }

  /** begin opens an empty chat, with the assistant that answers first or another one. */
  begin(agentId = this.o.sessions.agentId): void {
    const { chat } = this;
    const own = chat?.key.startsWith(`agent:${agentId}:`) && chat.key !== this.o.sessions.mainKey;
    if (own && chat?.loaded && chat.rows.length === 0) return void (chat.gone = false);
    this.open(`agent:${agentId}:chat:${crypto.randomUUID()}`, true);
  }

  /** leave goes elsewhere when a session is gone. */
  leave(key: string): void {
    const { shown, mainKey } = this.o.sessions;
    this.kept.delete(key);
    if (this.chat?.key !== key) return;
    const next = shown.find((s) => s.key !== key)?.key ?? mainKey;
    if (next === key || next === "") this.begin();
    else this.open(next);
  }

  /** deleted: who writes in a chat that is deleted elsewhere keeps the place and the words; the chat says what happened. */
  private deleted(key: string): void {
    if (this.chat?.key !== key || this.o.sessions.removing === key) this.leave(key);
    else if (this.chat.past) this.open(key);
    else void this.chat.attach();
  }

  /** isPast: the message stands in a transcript that was put aside. */
  isPast(hit: SearchHit): boolean {
    const now = this.o.sessions.get(hit.sessionKey)?.sessionId;
    return now !== undefined && now !== hit.sessionId;
  }

  /** reveal opens the conversation of a message and shows the message; false: it is gone. */
  async reveal(hit: SearchHit): Promise<boolean> {
    const past = { sessionId: hit.sessionId, title: hit.title };
    if (this.isPast(hit)) this.openPast(hit.sessionKey, past);
    else this.open(hit.sessionKey);
    await this.chat!.read();
    if (!this.chat!.past && this.chat!.transcript !== hit.sessionId) {
      this.openPast(hit.sessionKey, past);
      await this.chat!.read();
    }
    const chat = this.chat!;
    return chat.transcript === hit.sessionId && (await chat.reveal(hit.messageId, hit.seq));
  }

  accepted(e: Entry): void {
    this.kept.get(e.sessionKey)?.accepted(e);
  }

  /** unsentChanged gives each chat its part of what is unsent. */
  unsentChanged(list: Entry[]): void {
    for (const c of this.kept.values()) c.entries = list.filter((e) => e.sessionKey === c.key);
  }

  private event(name: string, payload: unknown): void {
    if (name === "sessions.changed") return this.changed(payload as SessionsChanged);
    feed((key) => (this.chat?.key === key && !this.chat?.past ? this.chat : null), name, payload);
  }

  private changed(e: SessionsChanged): void {
    if (e.reason === "delete") this.deleted(e.sessionKey);
    if (e.reason === "send" && e.sessionKey === this.chat?.key && !this.chat.past) this.chat.sent(e.runId ?? "");
    if (e.session?.sessionId) this.kept.get(e.sessionKey)?.isNow(e.session.sessionId, e.session.hearthBranch ?? "");
  }
}

export const [useChats, provideChats] = createContext<Chats>();
