// The Markdown lexer with guards: hostile text must cost no more than plain
// text does. What is too deep, too long or too dense for Markdown becomes a
// token that is shown as it was written.
import { Lexer, type Token, type Tokens } from "marked";
import { noteKey, options } from "./extensions";

export type { Token, Tokens };
export type Links = Record<string, { href: string; title?: string | null }>;

export const limits = {
  /** nesting of quotes, lists and inline marks */
  depth: 24,
  /** one block, in UTF-16 units; longer ones are shown as plain text */
  block: 256 * 1024,
  /** one run of words with marks inside */
  inline: 32 * 1024,
  /** characters in one inline run that can open or close a mark */
  marks: 2000,
  /** rows of one table; the rest is shown as plain text */
  rows: 400,
};

const marks = /[*_~`[\]<!&\\|@:$]/g;

class GuardedLexer extends Lexer {
  private blockDepth = 0;
  private inlineDepth = 0;

  override blockTokens(src: string, tokens?: Token[], clipped?: boolean): Token[] & { links: Links };
  override blockTokens(src: string, tokens: Token[] = [], clipped = false): Token[] {
    if (this.blockDepth >= limits.depth || (this.blockDepth > 0 && src.length > limits.inline * 2)) {
      tokens.push(plain(src));
      return tokens;
    }
    this.blockDepth++;
    try {
      return super.blockTokens(src, tokens, clipped);
    } finally {
      this.blockDepth--;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.inlineDepth >= limits.depth || tooDense(src)) {
      tokens.push({ type: "text", raw: src, text: src, escaped: false });
      return tokens;
    }
    this.inlineDepth++;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.inlineDepth--;
    }
  }
}

function tooDense(src: string): boolean {
  if (src.length <= limits.marks) return false;
  if (src.length > limits.inline) return true;
  let n = 0;
  marks.lastIndex = 0;
  while (marks.exec(src)) if (++n > limits.marks) return true;
  return false;
}

/** plain is a block that is shown exactly as it was written. */
export function plain(raw: string): Tokens.Generic {
  return { type: "plain", raw, text: raw };
}

export function isPlain(t: Token): boolean {
  return t.type === "plain";
}

/**
 * lex splits text into block tokens. links holds the definitions known so far;
 * those of this text count within it too, but are not added to links.
 */
export function lex(text: string, links: Links): Token[] {
  const lexer = new GuardedLexer(options());
  Object.assign(lexer.tokens.links, links);
  try {
    return lexer.lex(text);
  } catch {
    // Only a defect of the lexer gets here; the words are still shown.
    return [plain(text)];
  }
}

/** takeLinks adds the link definitions inside a token; the first one wins. */
export function takeLinks(t: Tokens.Generic, links: Links): void {
  if (!t.raw.includes("]:")) return;
  if (t.type === "def") links[t.tag as string] ??= { href: t.href, title: t.title };
  if (t.type === "footnote") links[noteKey(t.id as string)] ??= { href: "", title: null };
  for (const c of t.tokens ?? []) takeLinks(c, links);
  for (const c of (t.items as Token[] | undefined) ?? []) takeLinks(c, links);
}
