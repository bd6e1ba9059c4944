// What the gateway says in English when something goes wrong, in the language of this
// person. A sentence is found by its text: what was put into it is where a template of
// the catalogue has a place. So what stands in old conversations is understood too, and
// what is not known stays as it is. errors.go does the same for programs.
import { language, put, type Language, type Words } from "./words.svelte";

interface Template {
  key: string;
  /** in English, around what is put in, without a full stop */
  pieces: string[];
  /** the names of what is put in, one fewer */
  places: string[];
  /** how much text of its own it has */
  own: number;
}

interface Catalogue {
  language: Language;
  own: Words;
  templates: Template[];
}

const nested = 4; // how deep an error is looked for in what was put into another one
const longest = 2000; // what is longer is no sentence

let catalogue = $state.raw<Catalogue | null>(null);
let asked: Language = "en";

/** inWords is a text of the gateway in the language of this person: in English until the catalogue is there. */
export function inWords(text: string): string {
  const wanted = language();
  if (wanted === "en" || text === "" || text.length > longest) return text;
  if (catalogue?.language === wanted) return translated(catalogue, text, nested) ?? text;
  if (asked !== wanted) void fetched((asked = wanted));
  return text;
}

/** ready gets the catalogue, where one is needed. */
export async function ready(): Promise<void> {
  const wanted = language();
  if (wanted !== "en" && asked !== wanted) await fetched((asked = wanted));
}

async function fetched(wanted: Language): Promise<void> {
  // The page for phones has no other part of the gateway than its own.
  const base = location.pathname.startsWith("/phone") ? "/phone/words" : "/words";
  const get = async (l: Language): Promise<Words> => {
    const res = await fetch(`${base}/${l}/errors.json`);
    if (!res.ok) throw new Error(`${res.status}`);
    return (await res.json()) as Words;
  };
  try {
    const [english, own] = await Promise.all([get("en"), get(wanted)]);
    catalogue = { language: wanted, own, templates: templates(english) };
  } catch {
    if (asked === wanted) asked = "en"; // it is tried again with the next error
  }
}

/** templates are those with the most text of their own first. */
function templates(english: Words): Template[] {
  const out = Object.entries(english).map(([key, text]): Template => {
    const parts = text.replace(/\.$/, "").split(/\{(\w+)\}/);
    const pieces = parts.filter((_, i) => i % 2 === 0);
    return { key, pieces, places: parts.filter((_, i) => i % 2 === 1), own: pieces.join("").length };
  });
  return out.sort((a, b) => b.own - a.own || (a.key < b.key ? -1 : 1));
}

/** found is what was put into the template to make text of it, whatever letter begins it. Each piece is
 *  taken where it stands first and the last one at the end, so that the time it takes grows with the text
 *  and no faster. */
function found(t: Template, text: string): string[] | undefined {
  const [first = "", ...others] = t.pieces;
  if (text.length < t.own || !begins(text, first)) return undefined;
  const last = others.pop();
  if (last === undefined) return text.length === first.length ? [] : undefined;
  const values: string[] = [];
  let rest = text.slice(first.length);
  for (const p of others) {
    const at = rest.indexOf(p);
    if (at < 0) return undefined;
    values.push(rest.slice(0, at));
    rest = rest.slice(at + p.length);
  }
  return rest.endsWith(last) ? [...values, rest.slice(0, rest.length - last.length)] : undefined;
}

/** begins: text begins with piece, whose first letter may be a capital or not. */
const begins = (text: string, piece: string): boolean =>
  text.slice(0, 1).toLowerCase() === piece.slice(0, 1).toLowerCase() ? text.startsWith(piece.slice(1), 1) : piece === "";

function translated(c: Catalogue, text: string, depth: number): string | undefined {
  if (depth === 0) return undefined;
  const bare = text.replace(/\.$/, "");
  for (const t of c.templates) {
    const values = found(t, bare);
    const own = c.own[t.key];
    if (!values || own === undefined) continue;
    const args = values.map((value, i) => [t.places[i], translated(c, value, depth - 1) ?? value]);
    return ended(put(own, Object.fromEntries(args)), text, c.language);
  }
  // Who passed it on has said before it what they were doing.
  const at = text.indexOf(": ");
  const inner = at < 0 ? undefined : translated(c, text.slice(at + 2), depth - 1);
  return inner === undefined ? undefined : text.slice(0, at + 2) + inner;
}

const stops: Partial<Record<Language, string>> = { ja: "。", "zh-CN": "。", hi: "।" };

/** ended is what is said, begun and ended as text is: as a sentence or as a part of one. */
function ended(said: string, text: string, l: Language): string {
  const begun = /^\p{Lu}/u.test(text) ? said.replace(/^\p{Ll}/u, (c) => c.toLocaleUpperCase(l)) : said;
  const bare = begun.replace(/[.。।]+$/, "");
  if (!text.endsWith(".")) return bare;
  return bare === begun ? bare + (stops[l] ?? ".") : begun;
}
