// The session that is open: its messages, the answer in progress, and keeping
// both true to what the gateway has.
import { flushSync } from "svelte";
import type { Caller } from "../net/client.svelte";
import { CallError } from "../net/socket";
import type { AgentEvent, ChatEvent, ChatHistory, Earlier, Message, ReceiptState } from "../net/wire";
import { pickedFor } from "../storage/local";
import { Live } from "./live";
import type { Entry } from "./outbox";
import { Pace } from "./pace";
import { layout, liveRows, Parsed, type Row } from "./rows";
import { own, toMsg, turns, under, upsert, waits, withPage, withRunState, type Msg } from "./transcript";

const page = 100;
const silence = 20_000;

/** Past names an earlier conversation of a chat. */
export interface Past {
  sessionId: string;
  title?: string;
  endedAt?: number;
}

export class Chat {
  messages = $state.raw<Msg[]>([]);
  entries = $state.raw<Entry[]>([]);
  live = $state.raw<Live | null>(null);
  loaded = $state(false);
  /** the conversation that stood in this chat before this one began */
  earlier = $state.raw<Earlier | null>(null);
  hasMore = $state(false);
  loadingOlder = $state(false);
  /** the model that was picked before anything was said, "" for none; the gateway hears of it with the first message */
  picked = $state("");
  /** what stood here was deleted elsewhere */
  gone = $state(false);
  /** why the history could not be read, for people */
  problem = $state("");
  /** set when the answer to the last message of this page ended; for the status line */
  ended = $state.raw<{ runId: string; state: string } | null>(null);
  private version = $state(0);

  private readonly parsed = new Parsed();
  /** what was last heard of recent runs */
  private readonly states = new Map<string, { state: ReceiptState; error: string; repair: string }>();
  private sessionId = "";
  /** which branch of the transcript is read */
  private branch = "";
  private reading: Promise<void> | null = null;
  private again = false;
  private readonly pace = new Pace(() => this.show());
  private watch: ReturnType<typeof setInterval> | undefined;

  /** the message that should be looked at, with a counter so that the same one counts again */
  target = $state.raw<{ n: number; id: string } | null>(null);

  /** messages whose turn comes later; they stand above the composer */
  readonly waiting = $derived.by(() => (this.hasQueue() ? waits(this.messages, this.live?.runId ?? "") : []));
  /** unsent ones, but for those that the transcript has before they were acknowledged */
  private readonly unsent = $derived.by(() =>
    this.entries.filter((e) => !this.messages.some((m) => m.role === "user" && m.runId === e.id)),
  );
  /** those of them that will wait too */
  readonly leaving = $derived.by(() =>
    this.hasQueue() && this.busy
      ? this.unsent.filter((e) => e.state === "sending" && e.id !== this.live?.runId && !e.text.startsWith("/"))
      : [],
  );
  private readonly shown = $derived(this.waiting.length > 0 ? this.messages.filter((m) => !this.waiting.includes(m)) : this.messages);
  private readonly still = $derived(
    layout(
      turns(this.shown),
      this.parsed,
      this.live?.runId ?? "",
      this.unsent.filter((e) => !this.leaving.includes(e)),
      this.live?.under,
    ),
  );
  readonly rows: Row[] = $derived.by(() => {
    void this.version;
    const { after } = this.still;
    const begin: Row[] = this.earlier && !this.hasMore ? [{ kind: "begin", key: "begin", earlier: this.earlier }] : [];
    const before = [...begin, ...this.still.before];
    return this.live
      ? [...before, ...liveRows(this.live, this.live.builtIn ?? this.isGuide()), ...after]
      : after.length > 0
        ? [...before, ...after]
        : before;
  });
  /** a run is active or waits for its turn */
  readonly busy = $derived(this.live !== null || this.messages.some((m) => m.state === "answering"));
  readonly queued = $derived(this.messages.filter((m) => m.state === "accepted" && m.runId !== this.live?.runId).length);

  constructor(
    readonly key: string,
    isNew: boolean,
    private readonly client: Caller,
    private readonly isGuide: () => boolean,
    /** the view of waiting messages is there */
    private readonly hasQueue: () => boolean = () => false,
    /** set: an earlier conversation of the chat, to read only */
    readonly past: Past | null = null,
  ) {
    this.loaded = isNew;
    this.picked = pickedFor(key);
  }

  /** attach subscribes and reads; called when the session opens and after each reconnect. */
  async attach(): Promise<void> {
    if (this.past) return void (await this.read().catch((e) => this.fail(e)));
    clearInterval(this.watch);
    this.watch = setInterval(() => this.checkSilence(), 5_000);
    try {
      await this.client.call("sessions.messages.subscribe", { key: this.key });
      await this.read();
    } catch (e) {
      this.fail(e);
    }
  }

  detach(): void {
    clearInterval(this.watch);
    this.pace.stop();
    if (!this.past) void this.client.call("sessions.messages.unsubscribe", { key: this.key }).catch(() => undefined);
  }

  /** read brings the newest page; calls while one is on its way are folded into one more. */
  async read(): Promise<void> {
    if (this.reading) {
      this.again = true;
      return this.reading;
    }
    this.reading = this.readOnce().finally(() => {
      this.reading = null;
      if (!this.again) return;
      this.again = false;
      void this.read().catch((e) => this.fail(e));
    });
    return this.reading;
  }

  private async readOnce(): Promise<void> {
    this.take(await this.client.call("chat.history", { sessionKey: this.key, limit: page, ...this.which }));
  }

  private get which(): { sessionId?: string } {
    return this.past ? { sessionId: this.past.sessionId } : {};
  }

  private take(h: ChatHistory): void {
    // Another transcript: of the old one only what is on its way stays.
    const branch = h.hearthBranch ?? "";
    if (this.sessionId !== "" && (this.sessionId !== h.sessionId || this.branch !== branch))
      this.messages = this.messages.filter((m) => m.seq === Infinity && m.state === "accepted");
    this.gone = h.sessionId === "" && (this.gone || this.sessionId !== "");
    this.sessionId = h.sessionId;
    this.branch = branch;
    const msgs = (h.messages ?? []).map(toMsg);
    const reaches = msgs.length > 0 && this.messages.some((m) => m.seq < msgs[0]!.seq);
    if (!reaches) this.hasMore = h.hasMore;
    this.messages = withPage(this.messages, msgs);
    this.earlier = h.hearthEarlier ?? null;
    this.takeRun(h);
    this.loaded = true;
    this.problem = "";
  }

  private takeRun(h: ChatHistory): void {
    const run = h.inFlightRun;
    if (!run) {
      if (this.live && this.ended?.runId !== this.live.runId) this.finish(this.live.runId);
      this.live = null;
      return;
    }
    // What arrived while the page was on its way may be ahead of the page.
    const last = under(this.messages, run.runId);
    if (this.live?.runId === run.runId && this.live.under === last && this.live.end >= run.end) return;
    const from = last === run.runId ? 0 : this.messages.find((m) => m.role === "user" && m.runId === last)!.seq;
    const stored = this.messages.filter((m) => m.runId === run.runId && m.role !== "user" && m.seq > from);
    const builtIn = this.live?.runId === run.runId ? this.live.builtIn : null;
    this.live = Live.resume(run, stored, Date.now(), last);
    this.live.builtIn ??= builtIn;
    this.mark(run.runId, "answering");
    this.pace.soon();
  }

  /** isNow hears which transcript the session has; another one is read at once. */
  isNow(sessionId: string, branch = this.branch): void {
    if (this.sessionId === "") this.sessionId = sessionId;
    else if (this.sessionId !== sessionId || this.branch !== branch) this.reread();
  }

  /** which transcript of the session is open */
  get transcript(): string {
    return this.sessionId;
  }

  /** reveal brings a message into the view, reading back as far as it must; false: it is not there. */
  async reveal(id: string, seq: number): Promise<boolean> {
    const most = 1000;
    for (let i = 0; i < 60 && this.hasMore && (this.messages[0]?.seq ?? 0) > seq; i++) {
      const n = this.messages.length;
      await this.older(most);
      if (this.messages.length === n) break;
    }
    if (!this.messages.some((m) => m.id === id)) return false;
    this.target = { n: (this.target?.n ?? 0) + 1, id };
    return true;
  }

  /** reworded: the person changed a message that waits. */
  reworded(runId: string, text: string): void {
    this.messages = this.messages.map((m) =>
      m.role === "user" && m.runId === runId ? { ...m, text, content: [{ type: "text", text }] } : m,
    );
  }

  async older(limit = page): Promise<void> {
    const first = this.messages[0];
    if (!this.hasMore || this.loadingOlder || !first || first.seq === Infinity) return;
    this.loadingOlder = true;
    try {
      const h = await this.client.call("chat.history", { sessionKey: this.key, limit, hearthBefore: first.seq, ...this.which });
      if (this.sessionId !== h.sessionId || this.branch !== (h.hearthBranch ?? "")) return;
      this.messages = withPage(this.messages, (h.messages ?? []).map(toMsg));
      this.hasMore = h.hasMore;
    } catch {
      // Scrolling up again asks again.
    } finally {
      this.loadingOlder = false;
    }
  }

  accepted(e: Entry): void {
    this.picked = "";
    if (this.messages.some((m) => m.role === "user" && m.runId === e.id)) return;
    this.messages = upsert(this.messages, own(e.id, e.text, e.at, e.to));
    if (e.files) this.reread(); // the gateway says where it keeps the pictures
    // The run may have begun, or even ended, before its acknowledgement was read.
    const known = this.states.get(e.id);
    if (known) this.messages = withRunState(this.messages, e.id, known.state, known.error, known.repair);
  }

  private mark(runId: string, state: ReceiptState, error = "", repair = ""): void {
    this.states.delete(runId);
    this.states.set(runId, { state, error, repair });
    if (this.states.size > 50) this.states.delete(this.states.keys().next().value!);
    this.messages = withRunState(this.messages, runId, state, error, repair);
  }

  message(m: Message): void {
    this.messages = upsert(this.messages, toMsg(m));
  }

  event(e: ChatEvent): void {
    if (e.state === "status" || e.state === "delta") return this.progress(e);
    const ends = { final: "answered", aborted: e.stopReason === "dropped" ? "dropped" : "aborted", error: "failed" } as const;
    const done = ends[e.state as keyof typeof ends];
    if (!done) return;
    // Answered together with another message: there is nothing more to it.
    if (e.stopReason === "merged") return this.mark(e.runId, done, e.errorMessage, e.hearthRepair);
    const live = this.live?.runId === e.runId ? this.live : null;
    const hadTools = live?.parts.some((p) => p.kind === "tools") ?? false;
    if (live) this.close(live);
    if (e.message) this.messages = upsert(this.messages, this.last(e, live));
    this.mark(e.runId, done, e.errorMessage, e.hearthRepair);
    this.ended = { runId: e.runId, state: done };
    // Tool entries come as events of their own; where one was missed, or the place
    // of the answer is not known, the history tells.
    const missed = hadTools && !this.messages.some((m) => m.runId === e.runId && m.content.some((b) => b.type === "toolCall"));
    if (missed || (e.message && !e.message.__openclaw)) this.reread();
  }

  /** last is the final message of a run; its parsed text is what was streamed. */
  private last(e: ChatEvent, live: Live | null): Msg {
    const m = toMsg(e.message!);
    const runId = m.runId || e.runId;
    const id = e.message!.__openclaw ? m.id : `end:${e.runId}`;
    return { ...m, id, runId, builtIn: m.builtIn || (!e.message!.provider && live?.builtIn === true) };
  }

  private progress(e: ChatEvent): void {
    if (e.state === "status" && e.phase === "queued") return;
    if (this.ended?.runId === e.runId) return;
    if (this.live?.runId !== e.runId && (e.offset ?? 0) > 0) return this.reread();
    const live = this.begin(e.runId);
    // At these points waiting messages may have been taken into the run.
    const joins = e.state === "status" ? e.phase === "starting_model" : live.parts.at(-1)?.kind === "tools";
    if (joins && this.queued > 0) this.reread();
    if (e.state === "status") live.phase = e.phase ?? "";
    else if (live.delta(e, Date.now()) === "gap") this.reread();
    this.pace.soon();
  }

  private begin(runId: string): Live {
    if (this.live?.runId === runId) return this.live;
    this.mark(runId, "answering");
    // Someone else's message: its words are in the history.
    if (!this.knows(runId)) this.reread();
    return (this.live = new Live(runId, Date.now()));
  }

  private knows(runId: string): boolean {
    return this.messages.some((m) => m.role === "user" && m.runId === runId) || this.entries.some((e) => e.id === runId);
  }

  /** sent says that a message was accepted, perhaps from elsewhere. */
  sent(runId: string): void {
    if (runId !== "" && this.loaded && !this.knows(runId)) this.reread();
  }

  private reread(): void {
    void this.read().catch((e) => this.fail(e));
  }

  run(e: AgentEvent): void {
    if (this.ended?.runId === e.runId) return;
    if (e.stream === "lifecycle" && e.data["phase"] === "start") this.begin(e.runId);
    if (this.live?.runId !== e.runId) return;
    this.live.happened(e, Date.now());
    this.pace.soon();
  }

  private show(): void {
    for (const p of this.live?.parts ?? []) if (p.kind === "text") p.stream.flush();
    // Drawn here and now, so that Pace sees what it costs.
    flushSync(() => this.version++);
  }

  /** close keeps the blocks that were streamed, so that nothing is drawn again. */
  private close(live: Live): void {
    for (const p of live.parts) {
      if (p.kind !== "text") continue;
      p.stream.finish();
      this.parsed.keep(p.stream.text, p.stream.blocks);
    }
    this.live = null;
  }

  private finish(runId: string): void {
    const state = this.messages.find((m) => m.role === "user" && m.runId === runId)?.state ?? "";
    if (state !== "accepted" && state !== "answering") this.ended = { runId, state };
  }

  /** An answer that went quiet may have ended unseen: ask. */
  private checkSilence(): void {
    if (!this.live || Date.now() - this.live.heardAt < silence) return;
    this.live.heardAt = Date.now();
    this.reread();
  }

  private fail(e: unknown): void {
    if (e instanceof CallError && (e.code === "OFFLINE" || e.code === "TIMEOUT")) return;
    if (!this.loaded) this.problem = e instanceof Error ? e.message : String(e);
  }
}
