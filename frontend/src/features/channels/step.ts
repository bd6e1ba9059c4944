// A step of setting a network up, as pieces: words, addresses to open, texts to copy.
export interface Piece {
  kind: "words" | "link" | "copy";
  text: string;
}

const pieces = /(https:\/\/[^\s),\x80-\uffff]*[^\s),.;:\x80-\uffff])|`([^`\n]{1,200})`/g;

/** piecesOf cuts a step; an address ends where the sentence around it does, which may be Chinese. */
export function piecesOf(step: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const m of step.matchAll(pieces)) {
    if (m.index > from) out.push({ kind: "words", text: step.slice(from, m.index) });
    out.push(m[1] ? { kind: "link", text: m[1] } : { kind: "copy", text: m[2]! });
    from = m.index + m[0].length;
  }
  if (from < step.length) out.push({ kind: "words", text: step.slice(from) });
  return out;
}
