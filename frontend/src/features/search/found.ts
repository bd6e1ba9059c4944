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
