// Words that the person has sent and the gateway has not acknowledged. Each is
// on disk before it is on the wire, keeps its key until it is acknowledged, and
// leaves in the order it was written; so a lost connection or a closed tab
// neither loses nor doubles it.
import type { DeliveryContext } from "../net/wire";
import type { AttachedFile } from "../protocol";
import type { Database } from "../storage/database";
import { jot, jotted } from "../storage/local";

export interface Entry {
  /** the idempotency key, which becomes the run id */
  id: string;
  sessionKey: string;
  text: string;
  at: number;
  state: "waiting" | "sending" | "refused";
  /** why it is still here, for people */
  error: string;
  /** what it does while another is answered; absent = as the session is set */
  mode?: "followup";
  /** pictures, as the wire takes them, and files that were uploaded */
  files?: Attached[];
  /** where on a messaging network the answer goes too, and who that is */
  to?: DeliveryContext & { name: string };
}

export interface Picture {
  type: "image";
  mimeType: string;
  fileName: string;
  /** base64 */
  content: string;
}

/** Upload is a file that the gateway has, or is being given. */
export interface Upload {
  type: "file";
  mimeType: string;
  fileName: string;
  size: number;
  /** what the gateway calls it; "" before it has it */
  upload: string;
  /** 0…1 of it is there */
  progress: number;
  /** what the gateway found in it */
  file?: AttachedFile;
  /** why it cannot be sent */
  failed?: string;
}

export type Attached = Picture | Upload;

export interface Refusal {
  message: string;
  retryable: boolean;
  retryAfterMs: number;
  offline: boolean;
}

export interface OutboxOptions {
  keep: Database;
  send(e: Entry): Promise<void>;
  /** turns what send threw into what to do about it */
  explain(err: unknown): Refusal;
  changed(list: Entry[]): void;
  accepted(e: Entry): void;
  now?: () => number;
  newId?: () => string;
}

export class Outbox {
  private list: Entry[] = [];
  private online = false;
  private readonly busy = new Set<string>(); // sessions
  private readonly keeping = new Set<string>(); // entries that are on their way to disk
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();
  private lastAt = 0;

  constructor(private readonly o: OutboxOptions) {}

  /** load brings back what an earlier visit could not send. */
  async load(): Promise<void> {
    const stored = await this.o.keep.all<Entry>("outbox");
    for (const e of jotted<Entry>()) {
      if ([...stored, ...this.list].some((x) => x.id === e.id)) continue;
      stored.push(e);
      await this.keep(e);
    }
    const known = new Set(this.list.map((e) => e.id));
    const back = stored
      .filter((e) => !known.has(e.id))
      .map((e) => ({ ...e, state: e.state === "refused" ? e.state : ("waiting" as const) }));
    for (const e of back) this.lastAt = Math.max(this.lastAt, e.at);
    this.set([...back, ...this.list].sort((a, b) => a.at - b.at));
    this.pump();
  }

  /** add returns null when there is nothing to send. */
  async add(sessionKey: string, text: string, mode?: Entry["mode"], files: Attached[] = [], to?: Entry["to"]): Promise<Entry | null> {
    if (text.trim() === "") return null;
    // Two messages of one millisecond still have an order.
    const at = (this.lastAt = Math.max((this.o.now ?? Date.now)(), this.lastAt + 1));
    const id = (this.o.newId ?? (() => crypto.randomUUID()))();
    const e: Entry = {
      id,
      sessionKey,
      text,
      at,
      state: "waiting",
      error: "",
      ...(mode ? { mode } : {}),
      ...(files.length > 0 ? { files } : {}),
      ...(to ? { to } : {}),
    };
    // It is not said to wait before it would outlive this tab.
    this.keeping.add(id);
    this.set([...this.list, { ...e, state: "sending" }]);
    jot(id, e); // a tab that is reloaded at once does not wait for the disk
    await this.keep(e);
    this.keeping.delete(id);
    this.change(id, { state: "waiting" });
    this.pump();
    return e;
  }

  /** keep writes it to disk. A full disk must not stop the message: it is sent, only not kept here. */
  private async keep(e: Entry): Promise<void> {
    await this.o.keep.put("outbox", e.id, e).catch(() => undefined);
    jot(e.id);
  }

  async discard(id: string): Promise<void> {
    this.set(this.list.filter((e) => e.id !== id));
    await this.o.keep.remove("outbox", id).catch(() => undefined);
  }

  /** setOnline is called when the connection opens or is lost. */
  setOnline(yes: boolean): void {
    this.online = yes;
    if (yes) this.pump();
    else this.list.forEach((e) => e.state === "sending" && this.change(e.id, { state: "waiting" }));
  }

  stop(): void {
    this.online = false;
    this.timers.forEach(clearTimeout);
    this.timers.clear();
  }

  private set(list: Entry[]): void {
    this.list = list;
    this.o.changed(list);
  }

  private change(id: string, by: Partial<Entry>): void {
    this.set(this.list.map((e) => (e.id === id ? { ...e, ...by } : e)));
  }

  private pump(): void {
    if (!this.online) return;
    for (const key of new Set(this.list.map((e) => e.sessionKey))) if (!this.busy.has(key)) void this.drain(key);
  }

  /** drain sends the entries of one session, one after the other. */
  private async drain(key: string): Promise<void> {
    this.busy.add(key);
    try {
      for (;;) {
        const e = this.list.find((x) => x.sessionKey === key && x.state !== "refused");
        if (!e || !this.online || this.keeping.has(e.id)) return;
        this.change(e.id, { state: "sending" });
        try {
          await this.o.send(e);
        } catch (err) {
          if (!(await this.failed(e, this.o.explain(err)))) return;
          continue;
        }
        this.o.accepted(e);
        await this.discard(e.id);
      }
    } finally {
      this.busy.delete(key);
    }
  }

  /** failed says whether the next entry may go. */
  private async failed(e: Entry, why: Refusal): Promise<boolean> {
    if (!why.retryable) {
      const refused = { ...e, state: "refused" as const, error: why.message };
      this.change(e.id, refused);
      await this.o.keep.put("outbox", e.id, refused).catch(() => undefined);
      return true;
    }
    this.change(e.id, { state: "waiting", error: why.offline ? "" : why.message });
    if (why.offline) return false;
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        this.pump();
      },
      Math.max(500, why.retryAfterMs || 3_000),
    );
    this.timers.add(timer);
    return false;
  }
}
