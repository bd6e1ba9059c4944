// The page's heart: one connection, the sessions, the open chat, the outbox,
// and what a person can do with them. Views read from here and call methods.
import type { Auth, ChatEvent, AgentEvent, CommandInfo, Health, HelloOK, Methods, ModelInfo, Problem, SearchHit, SessionMessage, SessionsChanged, SessionsSearch, Setup, Why } from "../net/wire";
import { CallError, Socket, type LinkState } from "../net/socket";
import { loadIdentity, NoCrypto } from "../net/identity";
import { openCabinet, type Cabinet } from "../storage/storage";
import { Outbox, type Entry, type Picture, type Refusal } from "../session/outbox";
import { keepDraft, prefs } from "../storage/local";
import { t } from "../i18n/t";
import { load } from "../i18n/words.svelte";
import { Chat, type Past } from "../session/chat.svelte";
import { Networks } from "../features/channels/channels.svelte";
import { Safety } from "../features/approvals/approvals.svelte";
import { Sessions } from "../session/sessions.svelte";
import type { PaneId } from "../features/settings/fields";
import { go, pastInUrl, sessionIn, sessionInUrl, takeLaunch } from "../shell/route";

export const version = "0.1.0";

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

/** What is shown over the page. */
export type Panel = { kind: "search"; here?: boolean } | { kind: "why"; runId: string } | { kind: "undelivered" } | { kind: "undo"; runId: string } | { kind: "pause" } | { kind: "guard" } | { kind: "memory" } | { kind: "skill"; name: string } | { kind: "settings"; pane?: PaneId } | { kind: "delete"; key: string; title: string } | { kind: "link"; href: string; host: string } | { kind: "offer"; text: string };

type Later = typeof import("./views");

export class Hearth {
  link = $state.raw<LinkState>({ at: "connecting" });
  /** this browser cannot take part at all, and why */
  broken = $state("");
  sessions!: Sessions;
  chat = $state.raw<Chat | null>(null);
  models = $state.raw<ModelInfo[]>([]);
  problems = $state.raw<Problem[]>([]);
  dismissed = $state.raw<ReadonlySet<string>>(new Set());
  toasts = $state.raw<Toast[]>([]);
  mainKey = $state("");
  /** everything unsent, of all sessions */
  unsent = $state.raw<Entry[]>([]);
  /** words that should go into the composer, with a counter so that the same words count again */
  suggestion = $state.raw({ n: 0, text: "" });

  commands = $state.raw<CommandInfo[]>([]);
  panel = $state.raw<Panel | null>(null);
  /** the list of models is open */
  picking = $state(false);
  /** views that the first sight of the page does not need */
  later = $state.raw<Later | null>(null);
  /** counts what happens with devices that ask to be let in */
  doors = $state(0);
  networks!: Networks;
  safety!: Safety;
  /** the first steps, once they are known */
  setup = $state.raw<Setup | null>(null);
  /** nobody has chosen yet what answers */
  readonly fresh = $derived(this.setup?.steps[0]?.state === "open");

  readonly shownProblems = $derived(this.problems.filter((p) => !this.dismissed.has(p.code + p.message)));
  readonly session = $derived(this.chat ? this.sessions.list.find((s) => s.key === this.chat!.key) : undefined);
  readonly isGuide = $derived.by(() => {
    const s = this.session;
    if (s?.hearthModelOverride) return s.modelProvider === "guide";
    return !this.fresh && this.models.find((m) => m.tags?.includes("default"))?.provider === "guide";
  });

  private socket!: Socket;
  private keep!: Cabinet;
  private outbox!: Outbox;
  private launch = "";
  private agentId = "main";
  private readonly chats = new Map<string, Chat>();
  /** views that want to hear of what happens, as long as they are open */
  readonly ears = new Set<(event: string, payload: unknown) => void>();
  /** the id of this browser's key */
  deviceId = "";
  private toastId = 0;

  async start(): Promise<void> {
    const { code, where } = takeLaunch();
    this.launch = code;
    this.keep = await openCabinet();
    let identity;
    try {
      identity = await loadIdentity(this.keep);
      this.deviceId = identity.id;
    } catch (e) {
      this.broken = e instanceof NoCrypto ? "crypto" : "storage";
      return;
    }
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new Socket({
      url: `${scheme}//${location.host}/`, identity, version, platform: navigator.platform || "web",
      credentials: () => this.credentials(),
      onState: (s) => this.linked(s),
      onEvent: (name, payload) => this.event(name, payload),
      onGap: () => void this.refresh(),
    });
    this.sessions = new Sessions(this.socket);
    this.networks = new Networks(this.socket);
    this.safety = new Safety(this.socket);
    this.outbox = new Outbox({
      keep: this.keep,
      send: (e) => this.send(e),
      explain,
      changed: (list) => this.outboxChanged(list),
      accepted: (e) => this.chats.get(e.sessionKey)?.accepted(e),
    });
    await this.outbox.load();
    const [place, part = ""] = where;
    if (place === "settings") this.panel = { kind: place, pane: part as PaneId };
    else if (place === "undelivered") this.panel = { kind: place };
    else if (place === "why") this.panel = { kind: place, runId: part };
    else if (place === "offer") this.panel = { kind: place, text: part };
    const key = (place === "chat" && sessionIn(part)) || sessionInUrl() || prefs.lastSession;
    const past = pastInUrl();
    if (place === "new") this.newChat();
    else if (key && past) this.openPast(key, { sessionId: past });
    else if (key) this.open(key);
    this.socket.start();
    addEventListener("online", () => this.socket.hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.socket.hurry());
    addEventListener("hashchange", () => this.routed());
    addEventListener("pagehide", () => this.outbox.stop());
    addEventListener("pageshow", (e) => e.persisted && this.socket.hurry());
  }

  // ---- connection

  private async credentials(): Promise<Auth | null> {
    if (this.launch) return { bootstrapToken: this.launch };
    const token = await this.keep.get<string>("state", "deviceToken");
    return token ? { deviceToken: token } : null;
  }

  private linked(s: LinkState): void {
    // A used-up link in the history of a browser that is known already.
    if (s.at === "refused" && this.launch) {
      this.launch = "";
      void this.keep.get<string>("state", "deviceToken").then((known) => (known ? this.socket.again() : (this.link = s)));
      return;
    }
    this.link = s;
    this.outbox.setOnline(s.at === "open");
    if (s.at === "open") void this.greeted(s.hello).catch((e) => this.complain(e));
  }

  private async greeted(hello: HelloOK): Promise<void> {
    this.launch = "";
    if (hello.auth.deviceToken) await this.keep.put("state", "deviceToken", hello.auth.deviceToken);
    this.problems = hello.snapshot.health.hearth?.problems ?? [];
    this.agentId = hello.snapshot.sessionDefaults?.defaultAgentId || "main";
    this.mainKey = hello.snapshot.sessionDefaults?.mainSessionKey || "agent:main:main";
    if (!this.chat) this.open(this.mainKey);
    const [models] = await Promise.all([this.socket.call("models.list", {}), this.sessions.load(), this.chat?.attach()]);
    this.models = models.models;
    await this.loadLater();
    this.commands = (await this.socket.call("commands.list", {})).commands;
    await Promise.all([this.networks.load(), this.safety.load(), this.safety.loadUndone().catch(() => undefined)]);
  }

  private async loadLater(): Promise<void> {
    try {
      this.later ??= (await Promise.all([import("./views"), load("later"), load("tools")]))[0];
    } catch {
      // The gateway went away meanwhile; the next hello tries again.
    }
  }

  private async refresh(): Promise<void> {
    await Promise.all([this.sessions.load(), this.chat?.read()]).catch(() => undefined);
  }

  /** connectWith takes a pasted launch link or code; false when it cannot be one. */
  connectWith(pasted: string): boolean {
    const code = /launch=([\w.~-]+)/.exec(pasted)?.[1] ?? pasted.trim();
    if (!/^[\w.~-]{4,512}$/.test(code)) return false;
    this.launch = code;
    this.socket.again();
    return true;
  }

  tryNow(): void {
    this.socket.hurry();
  }

  // ---- events

  private event(name: string, payload: unknown): void {
    for (const ear of this.ears) ear(name, payload);
    const of = (key: string | undefined): Chat | null => (this.chat?.key === key && !this.chat?.past ? this.chat : null);
    if (name === "shutdown" && (payload as { reason?: string }).reason === "quit") {
      // All of Hearth was quit: its native window goes too.
      (window as { hearthWindow?: { quit(): void } }).hearthWindow?.quit();
    } else if (name === "chat") {
      const e = payload as ChatEvent;
      of(e.sessionKey)?.event(e);
    } else if (name === "agent" || name === "session.tool") {
      const e = payload as AgentEvent;
      of(e.sessionKey)?.run(e);
    } else if (name === "session.message") {
      const e = payload as SessionMessage;
      if (e.message) of(e.sessionKey)?.message(e.message);
    } else if (name.startsWith("exec.approval.") || name === "hearth.pause") this.safety.event(name, payload);
    else if (name.startsWith("device.pair.")) this.doors++;
    else if (name === "sessions.changed") this.sessionChanged(payload as SessionsChanged);
    else if (name === "hearth.setup") this.setup = payload as Setup;
    else if (name === "health") this.healthy(payload as Health);
    else if (name === "config.changed") void Promise.all([this.loadModels(), this.checkHealth()]).catch(() => undefined);
    else if (name === "tick" && document.visibilityState === "visible") void this.checkHealth().catch(() => undefined);
  }

  private async checkHealth(): Promise<void> {
    this.healthy(await this.socket.call("health", {}));
  }

  private healthy(h: Health): void {
    this.problems = h.hearth?.problems ?? [];
    void this.networks.refresh().catch(() => undefined);
  }

  private sessionChanged(e: SessionsChanged): void {
    this.sessions.changed(e);
    if (e.reason === "delete" && e.sessionKey === this.chat?.key) this.leave(e.sessionKey);
    if (e.reason === "send" && e.sessionKey === this.chat?.key && !this.chat.past) this.chat.sent(e.runId ?? "");
    if (e.session?.sessionId) this.chats.get(e.sessionKey)?.isNow(e.session.sessionId);
  }

  async loadModels(): Promise<void> {
    this.models = (await this.socket.call("models.list", {})).models;
  }

  // ---- sessions

  private routed(): void {
    const key = sessionInUrl();
    const past = pastInUrl();
    if (key && past) this.openPast(key, { sessionId: past });
    else if (key) this.open(key);
  }

  open(key: string, isNew = false): void {
    if (this.chat?.key === key && !this.chat.past) return;
    this.chat?.detach();
    const chat = this.chats.get(key) ?? new Chat(key, isNew, this.socket, () => this.isGuide, () => this.later !== null);
    this.chats.delete(key);
    this.chats.set(key, chat);
    if (this.chats.size > 8) this.chats.delete(this.chats.keys().next().value!);
    chat.entries = this.unsent.filter((e) => e.sessionKey === key);
    this.chat = chat;
    prefs.lastSession = key;
    go(key);
    if (this.link.at === "open") void chat.attach();
  }

  /** openPast shows what stood in a chat before it began anew, to read only. */
  openPast(key: string, past: Past): void {
    if (this.chat?.key === key && this.chat.past?.sessionId === past.sessionId) return;
    this.chat?.detach();
    this.chat = new Chat(key, false, this.socket, () => this.isGuide, undefined, past);
    go(key, past.sessionId);
    if (this.link.at === "open") void this.chat.attach();
  }

  /** continuePast makes the earlier conversation that is open a chat of its own. */
  async continuePast(): Promise<void> {
    const chat = this.chat;
    if (!chat?.past) return;
    const r = await this.act(this.socket.call("hearth.sessions.continue", { key: chat.key, sessionId: chat.past.sessionId }));
    if (!r) return;
    this.sessions.changed({ sessionKey: r.key, reason: "create", ts: Date.now(), session: r.session });
    this.open(r.key);
  }

  newChat(): void {
    if (this.chat?.loaded && this.chat.rows.length === 0 && this.chat.key !== this.mainKey) return;
    this.open(`agent:${this.agentId}:chat:${crypto.randomUUID()}`, true);
  }

  private leave(key: string): void {
    this.chats.delete(key);
    const next = this.sessions.shown.find((s) => s.key !== key)?.key ?? this.mainKey;
    if (next === key || next === "") this.newChat();
    else this.open(next);
  }

  async rename(key: string, label: string): Promise<void> {
    this.sessions.patch(key, { label });
    await this.act(this.socket.call("sessions.patch", { key, label: label.trim() || null }));
  }

  async pin(key: string, pinned: boolean): Promise<void> {
    this.sessions.patch(key, { pinned });
    await this.act(this.socket.call("sessions.patch", { key, pinned }));
  }

  async remove(key: string): Promise<void> {
    if (!(await this.act(this.socket.call("sessions.delete", { key })))) return;
    this.sessions.changed({ sessionKey: key, reason: "delete", ts: Date.now() });
    keepDraft(key, "");
    if (this.chat?.key === key) this.leave(key);
  }

  async pickModel(ref: string | null): Promise<void> {
    const chat = this.chat;
    if (!chat) return;
    const r = await this.act(this.socket.call("sessions.patch", { key: chat.key, model: ref }));
    if (!r) return;
    const { modelProvider, model } = r.resolved;
    this.sessions.patch(chat.key, { modelProvider, model, hearthModelOverride: ref !== null });
  }

  // ---- messages

  async say(text: string, mode?: Entry["mode"], files?: Picture[]): Promise<void> {
    if (!this.chat && this.mainKey === "") this.open("agent:main:main");
    const chat = this.chat!;
    await this.outbox.add(chat.key, text, mode, files);
  }

  private async send(e: Entry): Promise<void> {
    const more = { ...(e.mode ? { queueMode: e.mode } : {}), ...(e.files ? { attachments: e.files } : {}) };
    await this.socket.call("chat.send", { sessionKey: e.sessionKey, message: e.text, idempotencyKey: e.id, hearthAwaitModel: true, ...more });
  }

  async stop(): Promise<void> {
    if (this.chat) await this.act(this.socket.call("chat.abort", { sessionKey: this.chat.key }));
  }

  /** cancel takes back a message that waits. */
  async cancel(runId: string): Promise<void> {
    if (this.chat) await this.act(this.socket.call("chat.abort", { sessionKey: this.chat.key, runId }));
  }

  /** reword changes a message that waits; false: it does not wait any more. */
  async reword(runId: string, text: string): Promise<boolean> {
    const chat = this.chat;
    if (!chat || !(await this.act(this.socket.call("hearth.queue.edit", { key: chat.key, runId, message: text })))) {
      void chat?.read().catch(() => undefined);
      return false;
    }
    chat.reworded(runId, text);
    return true;
  }

  why(runId: string): Promise<Why> {
    return this.ask("hearth.why", { runId });
  }

  private readonly shown = new Map<string, Promise<string>>();

  /** picture is an address for a picture of a conversation. */
  picture(id: string): Promise<string> {
    let url = this.shown.get(id);
    if (!url) {
      url = this.socket.call("hearth.media.get", { id }).then((m) => `data:${m.mimeType};base64,${m.content}`);
      this.shown.set(id, url);
      url.catch(() => this.shown.delete(id));
      if (this.shown.size > 60) this.shown.delete(this.shown.keys().next().value!);
    }
    return url;
  }

  /** ask calls a method for a view that shows the answer and its failure itself. */
  ask<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    return this.socket.call(method, params);
  }

  // ---- search in everything that was said

  search(query: string, key = ""): Promise<SessionsSearch> {
    return this.socket.call("sessions.search", { query, limit: 60, ...(key ? { key } : {}) });
  }

  /** isPast: the message stands in a transcript that was put aside. */
  isPast(hit: SearchHit): boolean {
    const now = this.sessions.get(hit.sessionKey)?.sessionId;
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

  /** again sends the words of a failed message under a new key. */
  async again(text: string, entryId = "", files?: Picture[]): Promise<void> {
    if (entryId) await this.outbox.discard(entryId);
    await this.say(text, undefined, files);
  }

  /** againAll sends the words of several stopped messages again, in their order. */
  async againAll(list: readonly { text: string }[]): Promise<void> {
    for (const m of list) await this.say(m.text);
  }

  async edit(text: string, entryId = ""): Promise<void> {
    if (entryId) await this.outbox.discard(entryId);
    this.suggestion = { n: this.suggestion.n + 1, text };
  }

  async discard(entryId: string): Promise<void> {
    await this.outbox.discard(entryId);
  }

  private outboxChanged(list: Entry[]): void {
    this.unsent = list;
    for (const c of this.chats.values()) c.entries = list.filter((e) => e.sessionKey === c.key);
  }

  // ---- small things

  dismiss(p: Problem): void {
    this.dismissed = new Set([...this.dismissed, p.code + p.message]);
  }

  toast(text: string, bad = false): void {
    const id = ++this.toastId;
    this.toasts = [...this.toasts.slice(-2), { id, text, bad }];
    setTimeout(() => (this.toasts = this.toasts.filter((x) => x.id !== id)), bad ? 8_000 : 2_500);
  }

  /** act does what a person asked for and says it when it did not work. */
  async act<T>(p: Promise<T>): Promise<T | null> {
    try {
      return await p;
    } catch (e) {
      this.complain(e);
      return null;
    }
  }

  private complain(e: unknown): void {
    if (e instanceof CallError && e.code === "OFFLINE") this.toast(t("toast.offline"), true);
    else this.toast(e instanceof Error ? e.message : String(e), true);
  }
}

function explain(err: unknown): Refusal {
  if (!(err instanceof CallError)) return { message: String(err), retryable: true, retryAfterMs: 3_000, offline: false };
  const offline = err.code === "OFFLINE" || err.code === "TIMEOUT";
  return { message: err.message, retryable: err.retryable || offline, retryAfterMs: err.retryAfterMs, offline: err.code === "OFFLINE" };
}
