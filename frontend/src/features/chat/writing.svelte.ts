// What a person says in the conversation that is shown, and takes back.
import { createContext } from "svelte";
import { t } from "../../i18n/t";
import type { Client } from "../../net/client.svelte";
import type { CommandInfo } from "../../net/wire";
import type { PromptTemplate } from "../../protocol";
import type { Chats } from "../../session/chats.svelte";
import { Chosen } from "../../session/chosen.svelte";
import type { Entry, Attached } from "../../session/outbox";
import type { Outgoing } from "../../session/outgoing.svelte";
import type { Sessions } from "../../session/sessions.svelte";
import type { Database } from "../../storage/database";
import { draftOf, keepDraft } from "../../storage/local";

export interface WritingOptions {
  keep: Database;
  client: Client;
  chats: Chats;
  sessions: Sessions;
  outgoing: Outgoing;
}

export class Writing {
  /** words that should go into the composer, with a counter so that the same words count again */
  suggestion = $state.raw({ n: 0, text: "" });
  readonly chosen: Chosen;
  /** the slash commands that there are */
  commands = $state.raw<CommandInfo[]>([]);

  /** the prompts that the person keeps */
  templates = $state.raw<PromptTemplate[]>([]);

  constructor(private readonly o: WritingOptions) {
    this.chosen = new Chosen(o.keep, () => t("call.lost"));
    o.client.on((name) => name === "config.changed" && void this.load().catch(() => undefined));
  }

  /** load is called after hello. */
  async load(): Promise<void> {
    const { client } = this.o;
    const [commands, kept] = await Promise.all([client.call("commands.list", {}), client.call("hearth.prompts.list", {})]);
    this.commands = commands.commands;
    this.templates = kept.prompts;
  }

  async say(text: string, mode?: Entry["mode"], files?: Attached[], to?: Entry["to"]): Promise<void> {
    const { chats, sessions, outgoing } = this.o;
    if (!chats.chat && sessions.mainKey === "") chats.open("agent:main:main");
    await outgoing.add(chats.chat!.key, text, mode, files, to);
  }

  /** again sends the words of a failed message under a new key. */
  async again(text: string, entryId = "", files?: Attached[]): Promise<void> {
    const going = this.say(text, undefined, files); // kept anew before the old one goes
    if (entryId) await this.discard(entryId);
    await going;
  }

  /** againAll sends the words of several stopped messages again, in their order. */
  async againAll(list: readonly { text: string }[]): Promise<void> {
    for (const m of list) await this.say(m.text);
  }

  /** suggest puts words into the composer, to be sent or not. */
  suggest(text: string): void {
    this.suggestion = { n: this.suggestion.n + 1, text };
  }

  /** rescue keeps words for a message that is gone: in the composer, below what stands there. */
  rescue(words: string, key: string): void {
    const text = [draftOf(key), words].filter((s) => s.trim()).join("\n\n");
    keepDraft(key, text);
    if (key === this.o.chats.chat?.key) this.suggest(text);
  }

  async edit(text: string, entryId = ""): Promise<void> {
    this.suggest(text);
    if (entryId) await this.discard(entryId);
  }

  discard(entryId: string): Promise<void> {
    return this.o.outgoing.discard(entryId);
  }

  async stop(): Promise<void> {
    const { client, chats } = this.o;
    if (chats.chat) await client.act(client.call("chat.abort", { sessionKey: chats.chat.key }));
  }

  /** cancel takes back a message that waits. */
  async cancel(runId: string): Promise<void> {
    const { client, chats } = this.o;
    if (chats.chat) await client.act(client.call("chat.abort", { sessionKey: chats.chat.key, runId }));
  }

  /** reword changes a message that waits; false: it does not wait any more. */
  async reword(runId: string, text: string): Promise<boolean> {
    const { client, chats } = this.o;
    const chat = chats.chat;
    if (!chat || !(await client.act(client.call("hearth.queue.edit", { key: chat.key, runId, message: text })))) {
      void chat?.read().catch(() => undefined);
      return false;
    }
    chat.reworded(runId, text);
    return true;
  }
}

export const [useWriting, provideWriting] = createContext<Writing>();
