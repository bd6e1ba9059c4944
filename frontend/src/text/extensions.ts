// What answers have beside plain Markdown: formulas, footnotes, pictures that come
// with the text. Each is a token of its own, so that Markdown damages nothing of it.
import { Tokenizer, type Lexer, type MarkedOptions, type Token, type Tokens } from "marked";
import { blockMath, blockStart, inlineMath, masked, mathStart, run } from "./math";

/** Footnote is a token of type "footnote", where a note is written. */
export interface Footnote extends Tokens.Generic {
  type: "footnote";
  id: string;
}

type Here = { lexer: Lexer };
type Found = Tokens.Generic | undefined;

/** noteKey is where a note stands among the definitions of links, which no link can name. */
export const noteKey = (id: string): string => `\0^${id}`;

const note = /^ {0,3}\[\^([\p{L}\p{N}_-]{1,32})\]:[ \t]*/u;

/** A note goes on to an empty line or the next note. */
function footnote(this: Here, src: string): Found {
  const m = note.exec(src);
  if (!m) return undefined;
  const stop = src.slice(m[0].length).search(/\n(?:[ \t]*\n|[ \t]*\[\^[\p{L}\p{N}_-]{1,32}\]:)/u);
  const end = stop < 0 ? src.length : m[0].length + stop + 1;
  const raw = src.slice(0, end);
  const tokens: Token[] = [];
  this.lexer.inline(raw.slice(m[0].length).replace(/\n+$/, "").replace(/\n[ \t]+/g, "\n"), tokens);
  this.lexer.tokens.links[noteKey(m[1]!)] ??= { href: "", title: null };
  return { type: "footnote", raw, id: m[1]!, tokens };
}

/** Where a note is meant; without one these are words, as in a regular expression. */
function reference(this: Here, src: string): Found {
  const m = /^\[\^([\p{L}\p{N}_-]{1,32})\](?!:|\()/u.exec(src);
  return m && noteKey(m[1]!) in this.lexer.tokens.links ? { type: "noteref", raw: m[0], id: m[1]! } : undefined;
}

const picture = /^ {0,3}!\[([^\]\n]{0,300})\]\((data:image\/[a-z+.-]{2,20};base64,[A-Za-z0-9+/=]*)(\)[ \t]*(?:\n|$)|$)/;

/** A picture inside of the text, on a line of its own: longer than words may be. */
function dataPicture(src: string): Found {
  const m = picture.exec(src);
  return m ? { type: "picture", raw: m[0], alt: m[1]!, href: m[2]!, open: m[3] === "" } : undefined;
}

const lastOf = (tokens: Token[] | undefined): string => tokens?.at(-1)?.raw.at(-1) ?? "";

const starts: ((src: string) => number)[] = [blockStart, (src) => run(src).search(/\n {0,3}\[\^[\p{L}\p{N}_-]{1,32}\]:/u) + 1 || -1];

/** A line under a paragraph makes no heading of the formulas and notes above it. */
class Underlined extends Tokenizer {
  override lheading(src: string): Tokens.Heading | undefined {
    const t = super.lheading(src);
    return t && starts.some((begin) => begin(t.raw) >= 0) ? undefined : t;
  }
}

export const options = (): MarkedOptions => ({
  tokenizer: new Underlined(),
  gfm: true,
  breaks: true,
  extensions: {
    renderers: {},
    childTokens: {},
    block: [blockMath, footnote, dataPicture],
    inline: [(src, tokens) => inlineMath(src, lastOf(tokens as Token[])), reference],
    startBlock: starts,
    startInline: [mathStart],
  },
  hooks: { emStrongMask: masked } as MarkedOptions["hooks"],
});
