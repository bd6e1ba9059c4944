// The list of sessions in the side bar.
import type { SessionRow, SessionsChanged } from "../net/wire";
import type { Socket } from "../net/socket";
import { t } from "../i18n/t";

const page = 100;

/** isFrom: the messages of this chat come from a messaging network. */
export const isFrom = (s: SessionRow | undefined): boolean => !!s?.origin?.provider && s.origin.provider !== "webchat";

/** titleOf is what a session is called where it has no name of its own. */
export function titleOf(s: SessionRow | undefined, isMain: boolean): string {
  const own = s?.label || s?.displayName || (isFrom(s) && s?.origin?.label) || s?.derivedTitle;
  return oneLine(own || "") || t(isMain ? "session.main" : "session.untitled");
}

/** oneLine keeps names from moving other words: no breaks, no direction marks. */
export function oneLine(s: string): string {
  return s.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200e\u200f]+/g, " ").replace(/\s+/g, " ").trim().slice(0, 120);
}

const order = (a: SessionRow, b: SessionRow): number =>
  Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1);

/** ended: a row that was read while its run was ending may still call it active. */
function ended(e: SessionsChanged): Partial<SessionRow> {
  const over = (e.phase === "end" || e.phase === "error") && e.session?.activeRunId === e.runId;
  return over ? { hasActiveRun: false, activeRunId: "", status: "done" } : {};
}

export class Sessions {
  list = $state.raw<SessionRow[]>([]);
  loaded = $state(false);
  hasMore = $state(false);
  search = $state("");
  found = $state.raw<SessionRow[] | null>(null);
  private next = 0;
  private searching: ReturnType<typeof setTimeout> | undefined;

  readonly shown = $derived.by(() => {
    const q = this.search.trim().toLowerCase();
    const live = this.list.filter((s) => !s.archived);
    if (q === "") return live;
    const hit = (s: SessionRow): boolean => `${titleOf(s, false)} ${s.lastMessagePreview ?? ""}`.toLowerCase().includes(q);
    const local = live.filter(hit);
    const keys = new Set(local.map((s) => s.key));
    return [...local, ...(this.found ?? []).filter((s) => !keys.has(s.key) && !s.archived)].sort(order);
  });

  constructor(private readonly socket: Socket) {}

  get(key: string): SessionRow | undefined {
    return this.list.find((s) => s.key === key);
  }

  async load(): Promise<void> {
    await this.socket.call("sessions.subscribe", {});
    const r = await this.socket.call("sessions.list", { limit: page, includeDerivedTitles: true, includeLastMessage: true });
    this.list = [...r.sessions].sort(order);
    this.hasMore = r.hasMore;
    this.next = r.nextOffset ?? r.sessions.length;
    this.loaded = true;
  }

  async more(): Promise<void> {
    const r = await this.socket.call("sessions.list", { limit: page, offset: this.next, includeDerivedTitles: true, includeLastMessage: true });
    r.sessions.forEach((s) => this.put(s));
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
      this.socket.call("sessions.list", params).then(
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

  patch(key: string, by: Partial<SessionRow>): void {
    const s = this.get(key);
    if (s) this.put({ ...s, ...by });
  }

  private put(row: SessionRow): void {
    this.list = [...this.list.filter((s) => s.key !== row.key), row].sort(order);
  }
}
