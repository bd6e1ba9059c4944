// Where formulas begin and end in a text, before Markdown takes their underscores,
// stars and backslashes for its own. What they look like is rich/formula.ts's work.
import type { Tokens } from "marked";

/** Formula is a token of type "math": source is what stands between the marks. */
export interface Formula extends Tokens.Generic {
  type: "math";
  source: string;
  display: boolean;
  /** its end has not come: it is shown as it was written */
  open?: boolean;
}

/** The longest formula; longer ones are words. */
const longest = 6000;

const close: Record<string, string> = { $$: "$$", "\\[": "\\]", "\\(": "\\)" };

/** end is where a mark stands next that no backslash takes away, or -1. A formula has no empty line inside. */
function end(src: string, mark: string, from: number, limit = longest): number {
  const most = Math.min(src.length, from + limit);
  for (let i = from; i < most; i++) {
    const c = src[i]!;
    if (c === "\n" && /^[ \t]*\n/.test(src.slice(i + 1, i + 80))) return -1;
    if (src.startsWith(mark, i)) return i;
    if (c === "\\") i++;
  }
  return -1;
}

const math = (raw: string, source: string, display: boolean): Formula => ({ type: "math", raw, text: raw, source, display });

/** One dollar: what looks like money, a variable of a shell or a lone mark stays words. */
function dollar(src: string, before: string): Formula | undefined {
  if (/[\p{L}\p{N}$\\]/u.test(before) || !/^\$[^\s$]/.test(src)) return undefined;
  const at = end(src, "$", 1, 1500);
  if (at < 0) return undefined;
  const source = src.slice(1, at);
  // "$5 and $10", "$HOME/$USER": the second one begins something of its own.
  if (/\s$/.test(source) || /^[\p{Lu}\p{N}_{$]/u.test(src.slice(at + 1, at + 3))) return undefined;
  const ticks = /^`([^`]+)`$/.exec(source);
  if (ticks) return math(src.slice(0, at + 1), ticks[1]!, false);
  if (source.includes("`") || /[/:;=,-]$/.test(source) || amount(source)) return undefined;
  return math(src.slice(0, at + 1), source, false);
}

/** amount says whether it begins with a number and goes on in words, as a price does. */
const amount = (source: string): boolean => /^\d\S*\s/.test(source) && !/[\\^_=+*<>]/.test(source);

/** inlineMath is the formula that src begins with; before is the character in front of it. */
export function inlineMath(src: string, before: string): Formula | undefined {
  const mark = src.slice(0, 2);
  if (!(mark in close)) return src[0] === "$" ? dollar(src, before) : undefined;
  if (mark === "$$" && before === "$") return undefined;
  const at = end(src, close[mark]!, 2, 3000);
  const source = at < 0 ? "" : src.slice(2, at);
  // "\[x\]" without anything a formula would have is how people escape brackets.
  if (source.trim() === "" || (mark === "\\[" && /^[\p{L} ]{2,}$/u.test(source))) return undefined;
  return math(src.slice(0, at + 2), source, mark !== "\\(");
}

/** The next place where a formula may begin, or -1. */
export const mathStart = (src: string): number => src.search(/\$|\\[([]/);

/** masked hides formulas from the search for stars and underscores that belong together. */
export function masked(src: string): string {
  const begin = /\$|\\[([]?/g;
  let out = "";
  let done = 0;
  for (let m = begin.exec(src); m; m = begin.exec(src)) {
    const found = inlineMath(src.slice(m.index, m.index + longest), src[m.index - 1] ?? "");
    if (found) {
      out += src.slice(done, m.index) + "a".repeat(found.raw.length);
      done = begin.lastIndex = m.index + found.raw.length;
    } else if (m[0] === "\\") begin.lastIndex++; // what it takes away begins nothing
  }
  return out + src.slice(done);
}

const opener = /^ {0,3}(\$\$|\\\[)/;

/**
 * blockMath is the formula that stands on lines of its own at the begin of src. One
 * whose end has not come takes what there is up to the next empty line, so that a
 * text ends as the same blocks however it came in pieces.
 */
export function blockMath(src: string): Formula | undefined {
  const m = opener.exec(src);
  if (!m) return undefined;
  const mark = m[1]!;
  const line = src.slice(0, (src.indexOf("\n") + 1 || src.length + 1) - 1);
  const from = m[0].length;
  const inLine = end(line, close[mark]!, from);
  if (inLine >= 0) {
    const rest = /^[ \t]*([.,;:]?)[ \t]*$/.exec(line.slice(inLine + 2));
    const source = line.slice(from, inLine);
    if (!rest || source.trim() === "" || (mark === "\\[" && /^[\p{L} ]{2,}$/u.test(source))) return undefined;
    return block(src, line.length, source, rest[1]!);
  }
  const empty = /\n[ \t]*\n/.exec(src);
  const run = empty ? src.slice(0, empty.index) : src;
  const at = run.length > longest ? -1 : end(run, close[mark]!, from);
  if (at < 0) {
    const raw = run.replace(/\n+$/, "") + (empty || run.endsWith("\n") ? "\n" : "");
    return { ...math(raw, "", true), open: true };
  }
  const rest = /^[ \t]*([.,;:]?)[ \t]*(?=\n|$)/.exec(run.slice(at + 2));
  return block(src, at + 2 + (rest?.[0].length ?? 0), run.slice(from, at), rest?.[1] ?? "");
}

function block(src: string, length: number, source: string, after: string): Formula {
  const raw = src.slice(0, length) + (src[length] === "\n" ? "\n" : "");
  return { ...math(raw, source, true), after };
}

/** run is what may be one paragraph: all up to an empty line. */
export function run(src: string): string {
  const empty = src.search(/\n[ \t]*\n/);
  return empty < 0 ? src : src.slice(0, empty);
}

/** The next line that begins such a formula, or -1: it ends the paragraph above it. */
export function blockStart(src: string): number {
  for (const m of run(src).matchAll(/\n {0,3}(?:\$\$|\\\[)/g)) {
    if (blockMath(src.slice(m.index + 1, m.index + 1 + longest))) return m.index + 1;
  }
  return -1;
}
