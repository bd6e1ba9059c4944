// Answering a message again, and going between its versions.
import { useClient, type Client } from "../../net/client.svelte";
import { useChats, type Chats } from "../../session/chats.svelte";
import { useSessions, type Sessions } from "../../session/sessions.svelte";
import type { Msg } from "../../session/transcript";
import { useWriting, type Writing } from "./writing.svelte";

export class Branching {
  constructor(
    private readonly client: Client,
    private readonly chats: Chats,
    private readonly sessions: Sessions,
    private readonly writing: Writing,
  ) {}

  /** nothing can be answered again while something is answered */
  get busy(): boolean {
    return this.chats.chat?.busy ?? true;
  }

  /** entry is the id of a message in the transcript; what was just said here may not have been read from there. */
  private async entry(msg: Msg): Promise<string> {
    if (msg.seq < Infinity) return msg.id;
    const chat = this.chats.chat!;
    await chat.read().catch(() => undefined);
    return chat.messages.find((m) => m.role === msg.role && m.runId === msg.runId && m.seq < Infinity)?.id ?? msg.id;
  }

  /** again answers a message once more, in other words or by another model; false: that was refused. */
  async again(msg: Msg, other: { message?: string; model?: string } = {}): Promise<boolean> {
    const chat = this.chats.chat!;
    const entryId = await this.entry(msg);
    const r = await this.client.act(
      this.client.call("hearth.chat.again", { sessionKey: chat.key, entryId, idempotencyKey: crypto.randomUUID(), ...other }),
    );
    await chat.read().catch(() => undefined);
    return r !== null;
  }

  /** version goes to the branch of another version. */
  async version(entryId: string): Promise<void> {
    const chat = this.chats.chat!;
    await this.client.act(this.client.call("sessions.branches.switch", { sessionKey: chat.key, leafEntryId: entryId }));
    await chat.read().catch(() => undefined);
  }

  /** fork makes a new chat of what was said up to a message. */
  async fork(msg: Msg): Promise<void> {
    const sessionKey = this.chats.chat!.key;
    const r = await this.client.act(this.client.call("sessions.fork", { sessionKey, entryId: await this.entry(msg) }));
    if (!r) return;
    this.sessions.changed({ sessionKey: r.sessionKey, reason: "create", ts: Date.now(), session: r.hearthSession });
    this.chats.open(r.sessionKey);
    if (r.editorText) await this.writing.edit(r.editorText);
  }
}

export const useBranching = (): Branching => new Branching(useClient(), useChats(), useSessions(), useWriting());
