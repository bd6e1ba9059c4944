// Which lines of a small text another one adds, and which it takes away.

export interface Line {
  kind: "add" | "del" | "";
  text: string;
}

/** changes lists the differing lines, each run with one line before and after it; none: the texts are the same. */
export function changes(before: string, after: string): Line[] {
  if (before === after) return [];
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const all = [
    ...same(a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
  return all
    .map((l, i) =>
      l.kind !== "" || all[i - 1]?.kind || all[i + 1]?.kind
        ? { ...l, text: (l.kind === "add" ? "+ " : l.kind === "del" ? "- " : "  ") + l.text }
        : null,
    )
    .filter((l) => l !== null);
}

const same = (lines: string[]): Line[] => lines.map((text) => ({ kind: "" as const, text }));

// The longest common lines of what is between; where that would take too long,
// all of it counts as changed.
function middle(a: string[], b: string[]): Line[] {
  if (a.length * b.length > 4_000_000)
    return [...a.map((text) => ({ kind: "del" as const, text })), ...b.map((text) => ({ kind: "add" as const, text }))];
  const w = b.length + 1;
  const best = new Uint32Array((a.length + 1) * w);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * w + j] = a[i] === b[j] ? best[(i + 1) * w + j + 1]! + 1 : Math.max(best[(i + 1) * w + j]!, best[i * w + j + 1]!);
  const out: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) (out.push({ kind: "", text: a[i++]! }), j++);
    else if (i < a.length && (j >= b.length || best[(i + 1) * w + j]! >= best[i * w + j + 1]!)) out.push({ kind: "del", text: a[i++]! });
    else out.push({ kind: "add", text: b[j++]! });
  }
  return out;
}
