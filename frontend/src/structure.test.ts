// How the sources lie: what a feature may know, and how long files and lines are.
// A feature is a folder in src/features; src/app (with App.svelte and main.ts) and
// phone put features together; everything else is shared and knows none.
import { describe, expect, test } from "vitest";

const longestFile = 400;
const longestLine = 140;
const generated = new Set(["src/protocol.ts", "src/features/settings/sections.ts"]);

type Sources = Record<string, string>;

/** join resolves a relative import; the names of files have no extension. */
function join(from: string, to: string): string {
  const out = from.split("/").slice(0, -1);
  for (const part of to.split("/")) {
    if (part === "..") out.pop();
    else if (part !== ".") out.push(part);
  }
  return bare(out.join("/"));
}

const bare = (name: string): string => name.replace(/(\.svelte)?(\.ts)?$/, "").replace(/\/index$/, "");

/** imports of a file, as names without extension; lazy ones are left out where they do not count. */
function imports(name: string, text: string, lazy = true): string[] {
  const found = [...text.matchAll(/(?:^|\n|;)\s*(?:import|export)\s[^"';]*?(?:from\s*)?"(\.[^"]*)"/g)].map((m) => m[1]!);
  const later = lazy ? [...text.matchAll(/\bimport\("(\.[^"]*)"\)/g)].map((m) => m[1]!) : [];
  return [...found, ...later].map((to) => join(name, to));
}

const featureOf = (name: string): string => /^src\/features\/([^/]+)/.exec(name)?.[1] ?? "";
const composes = (name: string): boolean => /^(src\/app\/|src\/App\b|src\/main\b|phone\/)/.test(name);

/** strangers are imports that would tie one part to another. */
function strangers(sources: Sources): string[] {
  const out: string[] = [];
  for (const [name, text] of Object.entries(sources)) {
    for (const to of imports(name, text)) {
      const own = featureOf(name);
      const other = featureOf(to);
      if (/^phone\//.test(to) && !/^phone\//.test(name)) out.push(`${name} imports ${to}: the page knows nothing of the phone's`);
      else if (own && other && own !== other) out.push(`${name} imports ${to}: say what you need in ${own} and let src/app pass it`);
      else if (own && composes(to)) out.push(`${name} imports ${to}: what several features need belongs into a shared folder`);
      else if (!own && !composes(name) && (other || composes(to))) out.push(`${name} imports ${to}: shared folders know no feature`);
    }
  }
  return out;
}

/** tooLong are files and lines that nobody reads at a glance. */
function tooLong(sources: Sources): string[] {
  const out: string[] = [];
  for (const [name, text] of Object.entries(sources)) {
    const lines = text.replace(/\n$/, "").split("\n");
    if (lines.length > longestFile) out.push(`${name} has ${lines.length} lines, the limit is ${longestFile}`);
    lines.forEach((l, i) => {
      const n = [...l].length;
      if (n > longestLine) out.push(`${name}:${i + 1} has ${n} columns, the limit is ${longestLine}`);
    });
  }
  return out;
}

/** circle is a way through imports back to where it began; empty: there is none. */
function circle(sources: Sources): string[] {
  const graph = new Map(Object.entries(sources).map(([name, text]) => [bare(name), imports(name, text, false)]));
  const done = new Set<string>();
  const walk = (name: string, path: string[]): string[] => {
    if (path.includes(name)) return name === path.at(-1) ? [] : [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return [];
    for (const to of graph.get(name) ?? []) {
      const found = graph.has(to) ? walk(to, [...path, name]) : [];
      if (found.length > 0) return found;
    }
    done.add(name);
    return [];
  };
  for (const name of graph.keys()) {
    const found = walk(name, []);
    if (found.length > 0) return found;
  }
  return [];
}

const globbed = import.meta.glob<string>(["./**/*.ts", "./**/*.svelte", "../phone/**/*.ts", "../phone/**/*.svelte"], {
  eager: true,
  query: "?raw",
  import: "default",
});
const sources: Sources = {};
for (const [name, text] of Object.entries(globbed)) {
  const path = name.startsWith("../") ? name.slice(3) : `src/${name.slice(2)}`;
  if (!generated.has(path)) sources[path] = text;
}

/** parsers are those who take more of marked than lexeronly.ts leaves of it. */
function parsers(all: Sources): string[] {
  const out: string[] = [];
  for (const [name, text] of Object.entries(all))
    for (const [, clause] of text.matchAll(/import\s([^"';]*?)\sfrom\s*"marked"/g))
      for (const what of clause!.replace(/[{}]/g, "").split(",").map((w) => w.trim()).filter(Boolean))
        if (!/^type\b/.test(clause!) && !/^type /.test(what) && !["Lexer", "Tokenizer", "Token", "Tokens", "MarkedOptions"].includes(what))
          out.push(`${name} imports ${what} of marked, of which lexeronly.ts leaves the lexer`);
  return out;
}

describe("the checks see what they look for", () => {
  test("a feature that knows another one, the page or the phone", () => {
    const found = strangers({
      "src/features/a/A.svelte": 'import B from "../b/B.svelte";\nimport {\n  x,\n} from "../../app/x";\nimport type { Y } from "./y";',
      "src/features/a/lazy.ts": 'const b = () => import("../b/views");',
      "src/ui/Menu.svelte": 'export { z } from "../features/a/z";\nimport "./menu.css";',
      "src/app/all.ts": 'import "../features/a/A.svelte";\nimport "../../phone/code";',
      "phone/App.svelte": 'import "../src/features/a/A.svelte";',
    });
    expect(found.map((f) => f.split(":")[0])).toEqual([
      "src/features/a/A.svelte imports src/features/b/B",
      "src/features/a/A.svelte imports src/app/x",
      "src/features/a/lazy.ts imports src/features/b/views",
      "src/ui/Menu.svelte imports src/features/a/z",
      "src/app/all.ts imports phone/code",
    ]);
  });

  test("long files and long lines, in columns and not in bytes", () => {
    const long = tooLong({ "a.ts": "\n".repeat(longestFile + 1), "b.ts": "x".repeat(longestLine + 1), "c.ts": "ü".repeat(longestLine) });
    expect(long).toEqual([expect.stringMatching(/^a\.ts has/), expect.stringMatching(/^b\.ts:1 has/)]);
  });

  test("more of marked than its lexer", () => {
    expect(parsers({ "a.ts": 'import { Lexer, type Token } from "marked";', "b.ts": 'import type { Renderer } from "marked";' })).toEqual([]);
    expect(parsers({ "a.ts": 'import { Lexer,\n  marked } from "marked";', "b.ts": 'import whole from "marked";' })).toHaveLength(2);
  });

  test("circles", () => {
    expect(circle({ "a.ts": 'import "./b";', "b.ts": 'import type { A } from "./c.svelte";', "c.svelte.ts": 'import "./a";' })).toHaveLength(4);
    expect(circle({ "a.svelte": 'import Self from "./a.svelte";\nimport("./b");', "b.ts": 'import "./a.svelte";' })).toEqual([]);
  });
});

test("all sources are read", () => expect(Object.keys(sources).length).toBeGreaterThan(150));
test("features know only what is shared, and what is shared knows no feature", () => expect(strangers(sources)).toEqual([]));
test("files and lines can be read at a glance", () => expect(tooLong(sources)).toEqual([]));
test("no file imports itself by a detour", () => expect(circle(sources)).toEqual([]));
test("of marked there is the lexer", () => expect(parsers(sources)).toEqual([]));
