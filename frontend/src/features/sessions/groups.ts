// The list of chats as it is drawn: pinned ones, folders, and the rest by day.
import type { SessionRow } from "../../net/wire";

export type Group = "pinned" | "folder" | "today" | "yesterday" | "week" | "month" | "older" | "archived";

export type SideRow =
  | { kind: "head"; key: string; group: Group; name: string; year: number; chats: readonly SessionRow[]; shut: boolean }
  | { kind: "chat"; key: string; s: SessionRow };

const day = 86_400_000;

/** groupOf says under which heading a chat of that time stands. */
export function groupOf(ts: number, now: number): Group {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (ts >= midnight) return "today";
  // A day of the clock's change has 23 or 25 hours.
  if (ts >= new Date(midnight - day / 2).setHours(0, 0, 0, 0)) return "yesterday";
  if (ts >= midnight - 7 * day) return "week";
  return ts >= midnight - 30 * day ? "month" : "older";
}

/**
 * rowsOf lays a list out that is in its order: pinned first, then the last used.
 * shut names the headings whose chats are not shown; flat leaves headings out.
 */
export function rowsOf(list: readonly SessionRow[], now: number, shut: ReadonlySet<string>, flat = false): SideRow[] {
  if (flat) return list.map((s) => ({ kind: "chat", key: s.key, s }));
  const groups = new Map<string, { group: Group; name: string; year: number; chats: SessionRow[] }>();
  const into = (group: Group, name: string, year: number, s: SessionRow): void => {
    const key = `${group}/${name}${year || ""}`;
    const g = groups.get(key);
    if (g) g.chats.push(s);
    else groups.set(key, { group, name, year, chats: [s] });
  };
  for (const s of list) if (s.pinned) into("pinned", "", 0, s);
  const folders = list.filter((s) => !s.pinned && s.category);
  for (const name of [...new Set(folders.map((s) => s.category!))].sort((a, b) => a.localeCompare(b)))
    for (const s of folders) if (s.category === name) into("folder", name, 0, s);
  for (const s of list) {
    if (s.pinned || s.category) continue;
    const group = groupOf(s.updatedAt, now);
    into(group, "", group === "older" ? new Date(s.updatedAt).getFullYear() : 0, s);
  }
  const rows: SideRow[] = [];
  for (const [key, g] of groups) {
    const closed = shut.has(key);
    rows.push({ kind: "head", key, ...g, shut: closed });
    if (!closed) for (const s of g.chats) rows.push({ kind: "chat", key: s.key, s });
  }
  return rows;
}
