// A Markdown text that grows. Blocks before the last one never change, so they
// are lexed once and keep their identity; only the tail is lexed again. The
// result does not depend on how the text was cut into pieces.
import { lex, limits, plain, takeLinks, type Links, type Token } from "./lexer";

/** Block is one top-level piece of a text; key is stable within its Stream. */
export interface Block {
  key: number;
  token: Token;
}

export class Stream {
  text = "";
  /** Final blocks first; those from index `settled` on may still change. */
  blocks: Block[] = [];
  settled = 0;
  private base = 0;
  private links: Links = Object.create(null);
  private tail: Token[] = [];
  private held = "";
  /** how long the text was when finish settled it */
  private finished = 0;

  append(piece: string): void {
    // A line end may be cut between its two characters.
    let s = this.held + piece;
    this.held = "";
    if (s.endsWith("\r")) {
      this.held = "\r";
      s = s.slice(0, -1);
    }
    this.text += s.includes("\r") ? s.replace(/\r\n?/g, "\n") : s;
  }

  /** flush brings blocks up to date with the text. */
  flush(): void {
    const before = this.blocks.splice(this.settled);
    for (;;) {
      const window = this.text.slice(this.base, this.base + limits.block);
      this.tail = [];
      if (window === "") return;
      const whole = this.base + window.length === this.text.length && window.length < limits.block;
      const tokens = lex(window, this.links);
      const last = firstOpen(tokens, lastLines(window)) || (whole ? 0 : lastBlock(tokens));
      const from = this.base;
      for (let i = 0; i < last; i++) this.settle(tokens[i]!, before);
      if (whole) {
        this.tail = tokens.slice(last);
        for (const t of this.tail) this.add(t, before);
        return;
      }
      if (this.base === from) this.settle(plain(window), before);
    }
  }

  /**
   * finish is called when no more text comes: links whose definitions came
   * late are resolved now.
   */
  finish(): void {
    if (this.held) {
      this.text += "\n";
      this.held = "";
    }
    if (this.finished === this.text.length) return;
    this.flush();
    for (const t of this.tail) takeLinks(t, this.links);
    if (Object.keys(this.links).length > 0) {
      this.blocks = [];
      this.base = 0;
      this.settled = 0;
      this.flush();
    }
    this.settled = this.blocks.length;
    // The tail is settled too: a flush that comes later must not add it again.
    this.base = this.finished = this.text.length;
    this.tail = [];
  }

  private settle(t: Token, before: Block[]): void {
    this.base += t.raw.length;
    takeLinks(t, this.links);
    this.add(t, before);
    this.settled = this.blocks.length;
  }

  private add(token: Token, before: Block[]): void {
    if (token.type === "space" || token.type === "def") return;
    const key = this.blocks.length;
    const old = before.find((b) => b.key === key);
    const same = old && old.token.type === token.type && old.token.raw === token.raw;
    this.blocks.push(same ? old : { key, token });
  }
}

/**
 * firstOpen is the index of the first token that later text may still change:
 * the last block that starts before the last two lines. What an unfinished
 * line grows into decides whether it, and a table head above it, belongs to
 * the block before.
 */
function firstOpen(tokens: Token[], end: number): number {
  let open = 0;
  let at = 0;
  for (let i = 0; i < tokens.length && at < end; i++) {
    const t = tokens[i]!;
    if (t.type !== "space") open = i;
    at += t.raw.length;
  }
  return open;
}

/** lastLines is where the last complete line and the unfinished one begin. */
function lastLines(text: string): number {
  const end = text.lastIndexOf("\n");
  return end <= 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
}

function lastBlock(tokens: Token[]): number {
  return tokens.findLastIndex((t) => t.type !== "space");
}

/** blocksOf lexes a whole text. */
export function blocksOf(text: string): Block[] {
  const s = new Stream();
  s.append(text);
  s.finish();
  return s.blocks;
}
