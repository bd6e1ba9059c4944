import { describe, expect, test } from "vitest";
import { lex, type Token, type Tokens } from "./lexer";
import { blocksOf } from "./stream";

/** found are the formulas of a text, in their order, "D:" before those on lines of their own. */
function found(text: string): string[] {
  const out: string[] = [];
  const walk = (tokens: Token[]): void => {
    for (const token of tokens) {
      const t = token as Tokens.Generic;
      if (t.type === "math" && t["open"]) out.push("open");
      else if (t.type === "math") out.push((t["display"] ? "D:" : "") + String(t["source"]).trim());
      if (t.tokens) walk(t.tokens);
      for (const i of (t["items"] ?? []) as Token[]) walk([i]);
      const rows = [t["header"], ...((t["rows"] ?? []) as unknown[])] as { tokens: Token[] }[][];
      for (const r of rows) for (const c of r ?? []) walk(c.tokens);
    }
  };
  walk(lex(text, {}));
  return out;
}

describe("where formulas are", () => {
  const cases: Record<string, [string, string[]]> = {
    "one dollar": ["so $x_1$ is $a*b$ and *c*", ["x_1", "a*b"]],
    "stars and underscores of two": ["$a_1*b_1$ and $a_2*b_2$", ["a_1*b_1", "a_2*b_2"]],
    "emphasis around": ["*so $a*b$ is*", ["a*b"]],
    brackets: ["\\(x_1\\) and \\[y\\_2 \\\\ z\\]", ["x_1", "D:y\\_2 \\\\ z"]],
    "two dollars in a line": ["so $$x_1$$ is", ["D:x_1"]],
    "lines of its own": ["text\n$$\na & b \\\\\n- c_1 & d\n$$\nmore", ["D:a & b \\\\\n- c_1 & d"]],
    "brackets on lines of their own": ["\\[\nx = 1\n\\]", ["D:x = 1"]],
    "a point behind it": ["$$x$$.", ["D:x"]],
    "in a list": ["1. first\n   $$\n   x_1\n   $$\n2. $y$", ["D:x_1", "y"]],
    "in a table": ["| a |\n|---|\n| $x_1*2*3$ |", ["x_1*2*3"]],
    "in a quote": ["> \\(a\\)", ["a"]],
    "a dollar in it": ["$a \\$ b$", ["a \\$ b"]],
    "as GitHub has it": ["$`a_1`$", ["a_1"]],
    "letters behind it": ["the $n$th and $k$-means", ["n", "k"]],
    money: ["It costs $5 and $10, or $5-$10, US$5 to US$6, $3.50/mo, 10$ and 20$.", []],
    "money of a range": ["between $5 and 10$", []],
    shell: ["$HOME/bin:$PATH and $HOME/$USER, $user:$group", []],
    code: ["`$x$` and `\\(y\\)`", []],
    fence: ["```\n$$\nx\n$$\n```", []],
    escaped: ["\\$x\\$ and a lone $ or $$", []],
    "an empty line": ["$$\nx\n\ny\n$$", ["open", "open"]],
    "brackets that are only brackets": ["\\[citation needed\\]", []],
  };
  for (const [name, [text, want]] of Object.entries(cases)) test(name, () => expect(found(text)).toEqual(want));
});

test("a note needs its definition; without one the brackets are words", () => {
  const inside = (t: Token): string[] => ((t as { tokens?: Token[] }).tokens ?? []).map((c) => c.type);
  const types = (text: string): string[] => blocksOf(text).flatMap((b) => [b.token.type, ...inside(b.token)]);
  const text = "see[^1]\n\n[^1]: there *it* is\n  and goes on\n";
  expect(types(text)).toEqual(["paragraph", "text", "noteref", "footnote", "text", "em", "text", "br", "text"]);
  expect(types("a class [^abc] of letters")).not.toContain("noteref");
});
