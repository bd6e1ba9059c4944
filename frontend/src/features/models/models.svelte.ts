// The models that there are, and which of them answers in the chat that is shown.
import { createContext } from "svelte";
import type { Client } from "../../net/client.svelte";
import type { ModelInfo, Setup } from "../../net/wire";
import type { Chats } from "../../session/chats.svelte";
import type { Sessions } from "../../session/sessions.svelte";
import { keepPicked } from "../../storage/local";

export interface ModelsOptions {
  client: Client;
  chats: Chats;
  sessions: Sessions;
  /** nobody has chosen yet what answers */
  fresh(): boolean;
  /** the first steps begin anew */
  begun(setup: Setup): void;
}

export class Models {
  list = $state.raw<ModelInfo[]>([]);
  /** the list is open in the header */
  picking = $state(false);
  /** nobody has chosen yet what answers */
  readonly fresh = $derived.by(() => this.o.fresh());
  readonly standard = $derived(this.list.find((m) => m.tags?.includes("default")));
  /** what was picked to answer in the chat that is shown, "" for the standard */
  readonly chosen = $derived.by(() => {
    const { chat, row } = this.o.chats;
    if (!row) return chat?.picked ?? "";
    return row.hearthModelOverride ? `${row.modelProvider}/${row.model}` : "";
  });
  /** the built-in guide answers */
  readonly isGuide = $derived.by(() => {
    if (this.chosen) return this.chosen.startsWith("guide/");
    return !this.fresh && this.standard?.provider === "guide";
  });

  constructor(private readonly o: ModelsOptions) {
    o.client.on((name) => name === "config.changed" && void this.load().catch(() => undefined));
  }

  /** served is a model by its whole name. */
  served(ref: string): ModelInfo | undefined {
    return this.list.find((m) => `${m.provider}/${m.id}` === ref);
  }

  /** load is called after hello, and when something may have changed. */
  async load(): Promise<void> {
    this.list = (await this.o.client.call("models.list", {})).models;
  }

  /** pick chooses what answers in the chat that is shown; null is the standard. */
  async pick(ref: string | null): Promise<void> {
    const { client, chats, sessions } = this.o;
    const chat = chats.chat;
    if (!chat) return;
    // Nobody has begun this chat yet: a pick alone makes none that would stand in the list for ever.
    if (!chats.row && chat.loaded && chat.rows.length === 0 && chat.key !== sessions.mainKey)
      return keepPicked(chat.key, (chat.picked = ref ?? ""));
    const r = await client.act(client.call("sessions.patch", { key: chat.key, model: ref }));
    if (!r) return;
    keepPicked(chat.key, (chat.picked = "")); // one that the gateway did not take with the first message
    const { modelProvider, model } = r.resolved;
    sessions.patch(chat.key, { modelProvider, model, hearthModelOverride: ref !== null });
  }

  /** startOver asks once more what shall answer; false: that did not work. */
  async startOver(): Promise<boolean> {
    const { client, begun } = this.o;
    const setup = await client.act(client.call("hearth.setup.answer", { step: "model", do: "again" }));
    if (setup) begun(setup);
    return setup !== null;
  }
}

export const [useModels, provideModels] = createContext<Models>();
