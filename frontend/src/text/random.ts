// Seeded generators for the property tests: the same seed gives the same text.
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const pieces = [
  "word ", "two words ", "\n", "\n", "\n\n", "\n\n\n", "\r\n", "# Head\n", "## Head two", "\n---\n", "===\n", "- item\n", "  - nested\n",
  "    more\n", "1. one\n", "2) two\n", "> quote\n", ">> deeper\n", "> - list in quote\n",
  "```js\nlet a = 1;\n", "```\n", "~~~\n", "````\n",
  "`code`", "``", "**bold**", "**", "*em*", "_", "~~gone~~", "[text](https://example.com)", "[ref]", "[ref]: https://example.com/r\n",
  "[ref]: <https://other.example> \"title\"\n", "![alt](https://example.com/a.png)", "<https://example.com>", "https://example.com/x_y ",
  "www.example.com ", "a@b.example ", "| a | b |\n", "|---|:-:|\n", "| 1 | 2 |\n", "<div>\n", "</div>\n", "<b>x</b>", "<!-- note", "-->\n",
  "<script>alert(1)</script>\n", "<pre>\n", "</pre>\n",
  "\t", "    ", "- [ ] task\n", "- [x] done\n", "\\*", "&amp;", "&#60;", "é", "🙂", "\u202e",
  "***\n", "* * *\n", "+ plus\n", "   ", "\\\n", "  \n", "[", "]", "(", ")", "!", "|", "<", ">", "]: ", "^", "$x$",
  "$$", "$$\n", "$a_1*b_2$", "\\(x_1\\)", "\\[\n", "\\]\n", "\\(", "$", "$5 ", "\\\\", "[^1]", "[^1]: a note\n", "\n[^n]: ",
  "![p](data:image/png;base64,iVBORw0KGgo=)\n", "```mermaid\n",
];

/** document is a random text made of pieces that matter to Markdown. */
export function document(rnd: () => number, length: number): string {
  let s = "";
  for (let i = 0; i < length; i++) s += pieces[Math.floor(rnd() * pieces.length)];
  return s;
}

/** cuts splits s at random places, often into single characters. */
export function cuts(rnd: () => number, s: string): string[] {
  const out: string[] = [];
  const longest = rnd() < 0.3 ? 1 : rnd() < 0.5 ? 8 : 60;
  for (let i = 0; i < s.length; ) {
    const n = 1 + Math.floor(rnd() * longest);
    out.push(s.slice(i, i + n));
    i += n;
  }
  return out;
}
