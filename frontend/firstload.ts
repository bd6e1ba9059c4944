// What a page needs for its first sight is one piece: that compresses better than
// many. Everything else comes in pieces of its own when it is imported.
import type { Rolldown } from "vite";

type Group = Rolldown.CodeSplittingGroup;

/** firstLoad groups all that an entry reaches by static imports. */
export function firstLoad(name: string, entry: URL): Group {
  let reached: Set<string> | undefined;
  return {
    debugName: name,
    name: (id, ctx) => {
      reached ??= reach(entry.pathname, (m) => ctx.getModuleInfo(m)?.importedIds ?? []);
      return reached.has(id) ? name : null;
    },
  };
}

function reach(from: string, imports: (id: string) => string[]): Set<string> {
  const seen = new Set<string>([from]);
  for (const id of seen) for (const other of imports(id)) seen.add(other);
  return seen;
}
