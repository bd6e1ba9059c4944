// Search results as they are shown: by session, with the found words marked.
import type { SearchHit } from "../../net/wire";

export interface Group {
  key: string;
  title: string;
  /** with the place of each in the whole list, which the arrow keys walk */
  hits: { hit: SearchHit; at: number }[];
}

/** groups keeps the order: a session stands where its newest hit stands. */
export function groups(hits: SearchHit[]): Group[] {
  const by = new Map<string, SearchHit[]>();
  for (const h of hits) by.set(h.sessionKey, [...(by.get(h.sessionKey) ?? []), h]);
  let at = 0;
  return [...by].map(([key, list]) => ({
    key,
    title: list.find((h) => h.title)?.title ?? "",
    hits: list.map((hit) => ({ hit, at: at++ })),
  }));
}

export interface Piece {
  text: string;
  hit: boolean;
}

/** pieces cuts a snippet at its ranges; ranges that make no sense are left out. */
export function pieces(snippet: string, ranges: number[][]): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const [a = 0, b = 0] of [...ranges].sort((x, y) => x[0]! - y[0]!)) {
    if (a < from || b <= a || b > snippet.length) continue;
    if (a > from) out.push({ text: snippet.slice(from, a), hit: false });
    out.push({ text: snippet.slice(a, b), hit: true });
    from = b;
  }
  if (from < snippet.length) out.push({ text: snippet.slice(from), hit: false });
  return out;
}
