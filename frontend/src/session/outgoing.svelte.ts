// What a person wrote, on its way to the gateway: the outbox over a connection.
import type { Caller } from "../net/client.svelte";
import { CallError } from "../net/socket";
import type { Methods } from "../net/wire";
import type { Database } from "../storage/database";
import { Outbox, type Entry, type Picture, type Refusal } from "./outbox";

type Sent = Methods["chat.send"]["params"];

export interface OutgoingOptions {
  keep: Database;
  client: Caller;
  /** what every message of this page carries */
  each?: Partial<Sent>;
  changed(list: Entry[]): void;
  accepted(e: Entry): void;
}

export class Outgoing {
  /** everything unsent, of all sessions */
  unsent = $state.raw<Entry[]>([]);
  private readonly outbox: Outbox;

  constructor(private readonly o: OutgoingOptions) {
    this.outbox = new Outbox({
      keep: o.keep,
      explain,
      send: (e) => this.send(e),
      accepted: (e) => o.accepted(e),
      changed: (list) => {
        this.unsent = list;
        o.changed(list);
      },
    });
  }

  load(): Promise<void> {
    return this.outbox.load();
  }

  setOnline(yes: boolean): void {
    this.outbox.setOnline(yes);
  }

  stop(): void {
    this.outbox.stop();
  }

  /** of are the unsent messages of a session. */
  of(sessionKey: string): Entry[] {
    return this.unsent.filter((e) => e.sessionKey === sessionKey);
  }

  async add(sessionKey: string, text: string, mode?: Entry["mode"], files?: Picture[]): Promise<void> {
    await this.outbox.add(sessionKey, text, mode, files);
  }

  discard(id: string): Promise<void> {
    return this.outbox.discard(id);
  }

  private async send(e: Entry): Promise<void> {
    const more = { ...(e.mode ? { queueMode: e.mode } : {}), ...(e.files ? { attachments: e.files } : {}) };
    await this.o.client.call("chat.send", { sessionKey: e.sessionKey, message: e.text, idempotencyKey: e.id, ...this.o.each, ...more });
  }
}

function explain(err: unknown): Refusal {
  if (!(err instanceof CallError)) return { message: String(err), retryable: true, retryAfterMs: 3_000, offline: false };
  const offline = err.code === "OFFLINE" || err.code === "TIMEOUT";
  return { message: err.message, retryable: err.retryable || offline, retryAfterMs: err.retryAfterMs, offline: err.code === "OFFLINE" };
}
