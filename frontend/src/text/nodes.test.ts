import { afterAll, describe, expect, test, vi } from "vitest";
// @ts-expect-error the page's tests are plain JavaScript
import { hostile as corpus, rich } from "../../test/page/texts.mjs";
import { harmless } from "./harmless";
import { blockView } from "../ui/BlockView";
import { language, renderBlock } from "./nodes";
import { blocksOf, Stream } from "./stream";
import { cuts, document as randomDocument, random } from "./random";

vi.mock("../rich/enrich", () => ({ enrich: () => Promise.resolve() })); // what is added later has tests of its own

declare const process: { cpuUsage(since?: object): { user: number; system: number } }; // of Node, whose types the page does not need

// Colours are loaded when code is drawn: what was asked for has to come before jsdom goes.
afterAll(async () => void (await import("./languages")));

const hostile = corpus as string[];

function render(text: string): HTMLElement {
  const div = document.createElement("div");
  // The list only draws what is near the window.
  for (const b of blocksOf(text).slice(0, 600)) div.append(renderBlock(b.token));
  return div;
}

const elements = new Set(
  "DIV P H2 UL OL LI BLOCKQUOTE PRE CODE FIGURE FIGCAPTION BUTTON SPAN TABLE THEAD TBODY TR TH TD BDI HR BR STRONG EM DEL A SUP IMG"
    .split(" "),
);
const attributes = new Set(
  ("class dir type data-copy aria-label tabindex data-lang role scope start href target rel title data-confirm "
    + "data-tex data-after data-note data-noteref data-src data-alt data-name alt src loading").split(" "),
);
const classes = new RegExp("^(?:math|display|footnote|noteref|remote|inside|" +
  "block|h|d[1-6]|plain|code|lang|copy|inline|loose|task|box|done|table|align-(?:left|right|center)|host|mismatch| )*$");

function check(root: HTMLElement, from: string): void {
  for (const e of root.querySelectorAll("*")) {
    expect(elements.has(e.tagName), `<${e.tagName}> from ${from}`).toBe(true);
    for (const a of e.attributes) expect(attributes.has(a.name), `${a.name}=${a.value} from ${from}`).toBe(true);
    expect(e.className, from).toMatch(classes);
    if (e.hasAttribute("data-lang")) expect(e.getAttribute("data-lang")).toMatch(/^[a-z0-9+#._-]*$/);
    if (e.tagName === "IMG") expect(harmless(e.getAttribute("src")!), from).toBe(true);
    if (e.tagName !== "A") continue;
    expect(e.getAttribute("href"), from).toMatch(/^(?:https?:\/\/[^@\s]+|mailto:[^?\s]+)$/);
    expect(e.getAttribute("rel")).toBe("noopener noreferrer");
    expect(e.getAttribute("target")).toBe("_blank");
  }
}

describe("nodes of a message", () => {
  test("tables are told apart by their columns, and are no landmarks", () => {
    const boxes = [...render("| Day | **Rain** |\n|---|---|\n| 1 | 2 |\n\nand\n\n| Name |\n|---|\n| x |").querySelectorAll("div.table")];
    expect(boxes.map((b) => b.querySelector("table")!.dir)).toEqual(["ltr", "ltr"]);
    expect(boxes.map((b) => b.getAttribute("aria-label"))).toEqual(["Table: Day, Rain", "Table: Name"]);
    expect(boxes.map((b) => b.getAttribute("role"))).toEqual(["group", "group"]);
  });

  test("a table has the direction of its words, and a cell of another one keeps its own", () => {
    const table = render("| שם | סכום |\n|---|---|\n| דנה | -5 |\n| Ann | 12 % |").querySelector("table")!;
    expect(table.dir).toBe("rtl");
    expect([...table.querySelectorAll("th, td")].filter((c) => c.hasAttribute("dir"))).toEqual([]);
    expect([...table.querySelectorAll("bdi")].map((b) => b.textContent)).toEqual(["-5", "Ann", "12 %"]);
    expect(render("| Name |\n|---|\n| דנה |\n| 5 |").querySelector("table")!.querySelectorAll("bdi")).toHaveLength(1);
  });

  test("Sec A-UI-02, 03, 04, 07: hostile Markdown only makes harmless nodes", () => {
    for (const text of hostile) check(render(text), text);
    check(render(hostile.join("\n\n")), "all together");
    for (let seed = 1; seed <= 300; seed++) {
      const rnd = random(seed);
      const mixed = Array.from({ length: 6 }, () =>
        rnd() < 0.6 ? hostile[Math.floor(rnd() * hostile.length)]! : randomDocument(rnd, 4),
      ).join(rnd() < 0.5 ? "" : "\n");
      check(render(mixed), `seed ${seed}`);
    }
  });

  test("raw HTML is shown as it was written", () => {
    for (const html of ["<b>bold</b>", "<script>alert(1)</script>", "<div id=app>x</div>"])
      expect(render(html).textContent).toContain(html);
    expect(render("a<br>b").querySelectorAll("br")).toHaveLength(1);
    expect(render("a<br onclick=x>b").textContent).toContain("<br onclick=x>");
  });

  test("links show where they lead", () => {
    const a = (text: string): HTMLAnchorElement | null => render(text).querySelector("a");
    expect(a("[docs](https://example.com/a)")?.href).toBe("https://example.com/a");
    expect(render("[docs](https://example.com/a)").textContent).toBe("docs (example.com)");
    expect(render("https://example.com/a").textContent).toBe("https://example.com/a");
    expect(a("[https://bank.example](https://evil.example/)")?.dataset.confirm).toBe("evil.example");
    expect(a("[mail](mailto:me@example.com?body=x)")?.href).toBe("mailto:me@example.com");
    expect(render("![a cat](https://example.com/cat.png)").querySelector("img")).toBeNull();
    expect(a("![a cat](https://example.com/cat.png)")?.textContent).toBe("Picture: a cat");
  });

  test("a block is drawn anew when the language changes, and only then", () => {
    const [block] = blocksOf("```js\na\n```");
    const host = document.createElement("div");
    const view = blockView(host, { block: block!, settled: true, language: "en" });
    const drawn = host.firstChild;
    view.update({ block: block!, settled: true, language: "en" });
    expect(host.firstChild).toBe(drawn);
    view.update({ block: block!, settled: true, language: "de" });
    expect(host.firstChild).not.toBe(drawn);
    expect(host.childNodes).toHaveLength(1);
  });

  test("an info string only names a language", () => {
    expect(language("js")).toBe("js");
    expect(language("C++ {1,2}")).toBe("c++");
    expect(language('x" onclick="y')).toBe("");
    expect(language("<img>")).toBe("");
    expect(language(undefined)).toBe("");
  });

  test("text that grows ends as the same nodes as text that came at once", () => {
    const texts = [rich as string, ...Array.from({ length: 60 }, (_, i) => randomDocument(random(i + 1), 40))];
    texts.forEach((text, i) => {
      const rnd = random(i * 13 + 5);
      const hosts: { host: HTMLElement; view: ReturnType<typeof blockView> }[] = [];
      const s = new Stream();
      const draw = (): void =>
        s.blocks.forEach((block, n) => {
          const params = { block, settled: n < s.settled };
          const known = hosts[n];
          if (known) return known.view.update(params);
          const host = document.createElement("div");
          hosts[n] = { host, view: blockView(host, params) };
        });
      for (const p of cuts(rnd, text)) {
        s.append(p);
        s.flush();
        draw();
      }
      s.finish();
      draw();
      const got = hosts.slice(0, s.blocks.length).map((h) => h.host.innerHTML);
      const want = blocksOf(text).map((b) => renderBlock(b.token).outerHTML);
      expect(got, `text ${i}: ${JSON.stringify(text)}`).toEqual(want);
    });
  });
});

describe("Sec A-UI-06: a message cannot stop the page", () => {
  const bombs: Record<string, string> = {
    "deep quotes": ">".repeat(100_000) + " x",
    "deep quotes with spaces": "> ".repeat(50_000) + "x",
    "deep lists": Array.from({ length: 2000 }, (_, i) => " ".repeat(i) + "- x").join("\n"),
    "list in one line": "- ".repeat(50_000) + "x",
    "numbered in one line": "1. ".repeat(30_000) + "x",
    "open brackets": "[".repeat(1_000_000),
    "bracket pairs": "[]".repeat(200_000),
    "links without end": "[a](b".repeat(50_000),
    "image starts": "![".repeat(200_000),
    "one long line": "word ".repeat(1_000_000),
    stars: "*".repeat(300_000) + "a",
    emphasis: "*a **b ".repeat(60_000),
    underscores: "_a".repeat(150_000),
    backticks: Array.from({ length: 1200 }, (_, i) => "`".repeat(i % 300) + "x").join(" "),
    tildes: "~a~~".repeat(60_000),
    "angle brackets": "<".repeat(300_000),
    "tags without end": "<a ".repeat(100_000),
    "comments without end": "<!--".repeat(100_000),
    entities: "&amp;".repeat(100_000),
    "a long table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n".repeat(10_000),
    "a wide table": "|a".repeat(20_000) + "|\n" + "|-".repeat(20_000) + "|\n" + "|1".repeat(20_000) + "|",
    definitions: "[a]: b\n".repeat(20_000),
    "many rules": "---\n".repeat(30_000),
    "many items": "- x\n".repeat(60_000),
    "many headings": "# x\n".repeat(30_000),
    setext: "x\n=\n".repeat(20_000),
    autolinks: "http://a.b ".repeat(20_000),
    "mail addresses": "a@b.c ".repeat(20_000),
    "at signs": "a@".repeat(100_000),
    escapes: "\\*".repeat(150_000),
    "combining marks": "a" + "\u0301".repeat(100_000),
    dollars: "$a ".repeat(60_000),
    "dollars in pairs": "$$a".repeat(60_000),
    "formulas without end": "\\(x ".repeat(40_000),
    "displays without end": "\\[x\n".repeat(40_000),
    "display lines": "$$\nx\n$$\n".repeat(10_000),
    "a display without end": "$$\n" + "x\n".repeat(60_000),
    "paragraphs and displays": "words\n$$ and\n\n".repeat(8_000),
    notes: "[^a]: b\n".repeat(20_000),
    "marks of notes": "[^a]: b\n\n" + "[^a]".repeat(30_000),
    "a picture in the text": "![x](data:image/png;base64," + "A".repeat(300_000) + ")",
    "pictures without end": "![x](data:image/png;base64,AAAA\n".repeat(8_000),
    "an open fence": "```js\n" + "x = 1;\n".repeat(100_000),
    "line ends": "\n".repeat(300_000),
    spaces: " ".repeat(500_000) + "x",
    tabs: "\t".repeat(200_000) + "x",
    pipes: "|".repeat(100_000) + "\n" + "|-".repeat(50_000),
  };
  for (const [name, text] of Object.entries(bombs)) {
    test(name, () => {
      const start = process.cpuUsage();
      const root = render(text);
      const { user, system } = process.cpuUsage(start);
      const took = (user + system) / 1000; // of the processor: a busy machine is not the text's fault
      check(root, name);
      // Each takes well under half a second alone.
      expect(took, `${name} took ${took.toFixed(0)} ms`).toBeLessThan(3_000);
    });
  }
});
