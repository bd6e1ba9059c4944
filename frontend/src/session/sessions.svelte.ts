// The list of sessions, and what is done with one of them.
import { createContext } from "svelte";
import { t } from "../i18n/t";
import type { Client } from "../net/client.svelte";
import type { AgentInfo, HelloOK, SessionRow, SessionsChanged } from "../net/wire";
import type { AgentIdentity, SessionsDeleteParams } from "../protocol";
import { draftOf, keepDraft } from "../storage/local";
import { oneLine } from "../text/oneline";

const page = 100;
const many = 500;

/** isFrom: the messages of this chat come from a messaging network. */
export const isFrom = (s: SessionRow | undefined): boolean => !!s?.origin?.provider && s.origin.provider !== "webchat";

/** titleOf is what a session is called where it has no name of its own. */
export function titleOf(s: SessionRow | undefined, isMain: boolean): string {
  const own = s?.label || s?.displayName || (isFrom(s) && s?.origin?.label) || s?.derivedTitle;
  return oneLine(own || "") || t(isMain ? "session.main" : "session.untitled");
}

const order = (a: SessionRow, b: SessionRow): number =>
  Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1);

/** ended: a row that was read while its run was ending may still call it active. */
function ended(e: SessionsChanged): Partial<SessionRow> {
  const over = (e.phase === "end" || e.phase === "error") && e.session?.activeRunId === e.runId;
  return over ? { hasActiveRun: false, activeRunId: "", status: "done" } : {};
}

/** pictureIn is the picture of an identity that a page can show without asking anybody for it. */
export const pictureIn = (i: AgentIdentity | undefined): string =>
  i?.avatar && /^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/=]+$/.test(i.avatar) ? i.avatar : "";

export class Sessions {
  mainKey = $state("");
  agentId = "main";
  /** who there is to talk to */
  assistants = $state.raw<AgentInfo[]>([]);
  list = $state.raw<SessionRow[]>([]);
  loaded = $state(false);
  hasMore = $state(false);
  search = $state("");
  found = $state.raw<SessionRow[] | null>(null);
  /** what is about to be deleted, and can still be kept */
  private going = $state.raw<ReadonlySet<string>>(new Set());
  private next = 0;
  private searching: ReturnType<typeof setTimeout> | undefined;

  readonly shown = $derived.by(() => {
    const q = this.search.trim().toLowerCase();
    const live = this.list.filter((s) => !s.archived && !this.going.has(s.key));
    if (q === "") return live;
    const hit = (s: SessionRow): boolean => `${titleOf(s, false)} ${s.lastMessagePreview ?? ""}`.toLowerCase().includes(q);
    const local = live.filter(hit);
    const keys = new Set(local.map((s) => s.key));
    return [...local, ...(this.found ?? []).filter((s) => !keys.has(s.key) && !s.archived && !this.going.has(s.key))].sort(order);
  });

  readonly archived = $derived(this.list.filter((s) => s.archived && !this.going.has(s.key)));

  constructor(private readonly client: Client) {
    client.on((name, payload) => {
      if (name === "sessions.changed") this.changed(payload as SessionsChanged);
      else if (name === "config.changed") void this.meet();
    });
  }

  greeted(hello: HelloOK): void {
    this.agentId = hello.snapshot.sessionDefaults?.defaultAgentId || "main";
    this.mainKey = hello.snapshot.sessionDefaults?.mainSessionKey || "agent:main:main";
  }

  get(key: string): SessionRow | undefined {
    return this.list.find((s) => s.key === key);
  }

  /** meet asks who there is to talk to. */
  async meet(): Promise<void> {
    await this.client.call("agents.list", {}).then((r) => (this.assistants = r.agents), () => undefined);
  }

  /** assistant is who answers in a session. */
  assistant(key: string): AgentInfo | undefined {
    return this.assistants.find((a) => key.startsWith(`agent:${a.id}:`));
  }

  /** nameOf is what the one is called who answers in a session. */
  nameOf(key: string): string {
    const a = this.assistant(key);
    return oneLine(a?.identity.name || a?.name || "") || t("chat.hearth");
  }

  /** pictureOf is their picture, "" without one. */
  pictureOf(key: string): string {
    return pictureIn(this.assistant(key)?.identity);
  }

  /** faceOf is their emoji, "" where Hearth's flame stands. */
  faceOf(key: string): string {
    const emoji = oneLine(this.assistant(key)?.identity.emoji ?? "");
    return emoji === "🔥" ? "" : emoji;
  }

  async load(): Promise<void> {
    void this.meet();
    await this.client.call("sessions.subscribe", {});
    const r = await this.client.call("sessions.list", { limit: page, includeDerivedTitles: true, includeLastMessage: true });
    this.list = [...r.sessions].sort(order);
    this.hasMore = r.hasMore;
    this.next = r.nextOffset ?? r.sessions.length;
    this.loaded = true;
  }

  async more(): Promise<void> {
    const r = await this.client.call("sessions.list", {
      limit: many,
      offset: this.next,
      includeDerivedTitles: true,
      includeLastMessage: true,
    });
    const fresh = new Set(r.sessions.map((s) => s.key));
    this.list = [...this.list.filter((s) => !fresh.has(s.key)), ...r.sessions].sort(order);
    this.hasMore = r.hasMore;
    this.next = r.nextOffset ?? this.next + r.sessions.length;
  }

  /** find also asks the gateway when not every session is here. */
  find(text: string): void {
    this.search = text;
    this.found = null;
    clearTimeout(this.searching);
    if (text.trim() === "" || !this.hasMore) return;
    this.searching = setTimeout(() => {
      const params = { search: text.trim(), limit: 50, includeDerivedTitles: true, includeLastMessage: true };
      this.client.call("sessions.list", params).then(
        (r) => {
          if (this.search === text) this.found = r.sessions;
        },
        () => undefined,
      );
    }, 200);
  }

  changed(e: SessionsChanged): void {
    if (e.reason === "delete") this.list = this.list.filter((s) => s.key !== e.sessionKey);
    else if (e.session) this.put({ ...e.session, ...ended(e) });
    else if (e.phase) this.patch(e.sessionKey, { hasActiveRun: e.phase === "start" });
  }

  async rename(key: string, label: string): Promise<void> {
    this.patch(key, { label });
    await this.client.act(this.client.call("sessions.patch", { key, label: label.trim() || null }));
  }

  async pin(key: string, pinned: boolean): Promise<void> {
    this.patch(key, { pinned });
    await this.client.act(this.client.call("sessions.patch", { key, pinned }));
  }

  /** archive takes chats out of the list, or back into it; they can be found and read all the same. */
  async archive(keys: readonly string[], archived: boolean): Promise<void> {
    for (const key of keys) {
      this.patch(key, { archived });
      if (!(await this.client.act(this.client.call("sessions.patch", { key, archived })))) return this.patch(key, { archived: !archived });
    }
  }

  /** move puts a chat into a folder of the list; "" takes it out. */
  async move(key: string, category: string): Promise<void> {
    this.patch(key, { category });
    await this.client.act(this.client.call("sessions.patch", { key, category: category || null }));
  }

  /** hide leaves a chat out of the list until it is deleted, or kept after all. */
  hide(key: string, hidden: boolean): void {
    const going = new Set(this.going);
    if (hidden) going.add(key);
    else going.delete(key);
    this.going = going;
  }

  /** what is deleted here, with what was being written in it */
  removing = "";

  /** remove deletes a session for good, if asked so only one of the archive; false: that did not work. */
  async remove(key: string, archivedOnly = false): Promise<boolean> {
    this.removing = key;
    return (await this.client.act(this.delete({ key, archivedOnly }).then(() => true))) ?? false;
  }

  /** delete is remove for whoever says themselves what became of it, and of what the chat must be. */
  async delete(which: SessionsDeleteParams): Promise<void> {
    const { key } = which;
    // Before it is gone: another window that writes there keeps its words when it hears of it.
    const words = draftOf(key);
    keepDraft(key, "");
    try {
      await this.client.call("sessions.delete", which);
    } catch (e) {
      if (draftOf(key) === "") keepDraft(key, words);
      throw e;
    }
    this.changed({ sessionKey: key, reason: "delete", ts: Date.now() });
  }

  patch(key: string, by: Partial<SessionRow>): void {
    const s = this.get(key);
    if (s) this.put({ ...s, ...by });
  }

  private put(row: SessionRow): void {
    this.list = [...this.list.filter((s) => s.key !== row.key), row].sort(order);
  }
}

export const [useSessions, provideSessions] = createContext<Sessions>();
