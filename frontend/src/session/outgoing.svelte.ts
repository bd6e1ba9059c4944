// What a person wrote, on its way to the gateway: the outbox over a connection.
import type { Caller } from "../net/client.svelte";
import { CallError } from "../net/socket";
import type { DeliveryContext, Methods } from "../net/wire";
import type { Database } from "../storage/database";
import { keepPicked, pickedFor } from "../storage/local";
import type { Attachment } from "../protocol";
import { Outbox, type Attached, type Entry, type Refusal } from "./outbox";

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

  async add(sessionKey: string, text: string, mode?: Entry["mode"], files?: Attached[], to?: Entry["to"]): Promise<void> {
    await this.outbox.add(sessionKey, text, mode, files, to);
  }

  discard(id: string): Promise<void> {
    return this.outbox.discard(id);
  }

  private async send(e: Entry): Promise<void> {
    const more = {
      ...(e.mode ? { queueMode: e.mode } : {}),
      ...(e.files ? { attachments: e.files.map(wire) } : {}),
      ...(e.to ? { deliver: true, hearthDeliverTo: place(e.to) } : {}),
    };
    const [key, model] = [e.sessionKey, pickedFor(e.sessionKey)];
    if (model) {
      await this.o.client.call("sessions.patch", { key, model });
      keepPicked(key, "");
    }
    await this.o.client.call("chat.send", { sessionKey: e.sessionKey, message: e.text, idempotencyKey: e.id, ...this.o.each, ...more });
  }
}

/** wire is a file as chat.send takes it. */
const wire = (f: Attached): Attachment =>
  f.type === "image" ? f : { type: "file", mimeType: f.mimeType, fileName: f.fileName, hearthUpload: f.upload };

/** place is where it is, for the gateway. */
const place = ({ name: _, ...at }: NonNullable<Entry["to"]>): DeliveryContext => at;

function explain(err: unknown): Refusal {
  if (!(err instanceof CallError)) return { message: String(err), retryable: true, retryAfterMs: 3_000, offline: false };
  const offline = err.code === "OFFLINE" || err.code === "TIMEOUT";
  return { message: err.message, retryable: err.retryable || offline, retryAfterMs: err.retryAfterMs, offline: err.code === "OFFLINE" };
}
