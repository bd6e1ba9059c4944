// A text with the words that were found in it.

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
