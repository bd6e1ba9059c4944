// What the palette finds: anything with a name, in groups, the best first.
import type { Piece } from "../../text/pieces";
import type { IconName } from "../../ui/icons";

export type GroupId = "recent" | "chats" | "commands" | "settings" | "files" | "messages";

export interface Entry {
  /** the same for the same thing, also tomorrow */
  id: string;
  group: GroupId;
  name: string;
  /** its name in pieces, where words in it were found */
  pieces?: readonly Piece[];
  /** more words that it can be found by, shown beside its name */
  hint?: string;
  icon: IconName;
  /** the keys that do the same */
  keys?: readonly string[];
  run(): unknown;
}

const order: readonly GroupId[] = ["recent", "chats", "commands", "settings", "files", "messages"];
const most = 6;
const longest = 120;

const fold = (s: string): string => s.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** score says how well a name has all the words, 0 for not at all. */
export function score(name: string, hint: string, query: string): number {
  const [n, all] = [fold(name), fold(`${name} ${hint}`)];
  let sum = 0;
  for (const w of fold(query).split(/\s+/).filter(Boolean)) {
    const at = n.indexOf(w);
    if (at === 0) sum += 8;
    else if (at > 0) sum += /[\p{L}\p{N}]/u.test(n[at - 1]!) ? 3 : 5;
    else if (all.includes(w)) sum += 1;
    else return 0;
  }
  return sum;
}

/** pick is what stands in the list for a query: without one what was used last, and the rest in its order. */
export function pick(entries: readonly Entry[], query: string, used: readonly string[]): Entry[] {
  const q = query.trim().slice(0, longest);
  const place = (e: Entry): number => (used.includes(e.id) ? used.indexOf(e.id) : used.length);
  if (q === "") {
    const recent = used.flatMap((id) => entries.filter((e) => e.id === id).slice(0, 1)).slice(0, most);
    const rest = entries.filter((e) => !recent.includes(e) && e.group !== "files" && (e.group !== "settings" || e.id.startsWith("pane:")));
    return arrange([...recent.map((e): Entry => ({ ...e, group: "recent" })), ...rest], { commands: 20, settings: 20 });
  }
  const found = entries
    .map((e) => ({ e, points: score(e.name, e.hint ?? "", q) }))
    .filter((x) => x.points > 0)
    .sort((a, b) => b.points - a.points || place(a.e) - place(b.e));
  return arrange(found.map((x) => x.e));
}

/** arrange keeps the order within the groups, and of each the first ones. */
function arrange(list: readonly Entry[], limits: Partial<Record<GroupId, number>> = {}): Entry[] {
  return order.flatMap((g) => list.filter((e) => e.group === g).slice(0, limits[g] ?? most));
}

/** remember puts an entry in front of those that were used. Messages are found anew. */
export const remember = (used: readonly string[], e: Entry): string[] =>
  e.group === "messages" || e.id.startsWith("message:") ? [...used] : [e.id, ...used.filter((id) => id !== e.id)].slice(0, 12);
