// What the gateway says in English, in the language of this person: what goes wrong, and
// what commands and settings of networks are. A sentence is found by its text: what was
// put into it is where a template of the catalogue has a place. So what stands in old
// conversations is understood too, and what is not known stays as it is. texts.go does
// the same for programs.
import { isolated, isolatedRTL } from "../text/oneline";
import { dated } from "./dates";
import { direction, language, put, type Language, type Words } from "./words.svelte";

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

const nested = 6; // how deep an error is looked for in what was put into another one
const sentenceEnd = /[.!?] [\p{Lu}`(]/u;
const longest = 2000; // what is longer is no sentence

/** Part is what of the catalogue is looked into: errors, or what commands, settings of networks and doubts
 *  are, or both for replies of commands, which have errors and reasons in them. */
export type Part = "errors" | "about" | "replies";

class Held {
  catalogue = $state.raw<Catalogue | null>(null);
  asked: Language = "en";
  coming: Promise<void> = Promise.resolve();
}
const parts: Record<Part, Held> = { errors: new Held(), about: new Held(), replies: new Held() };

/** inWords is a text of the gateway in the language of this person: in English until the catalogue is there. */
export function inWords(text: string, part: Part = "errors"): string {
  const wanted = language();
  if (wanted === "en" || text === "" || text.length > longest) return text;
  const { catalogue } = parts[part];
  if (catalogue?.language === wanted) return translated(catalogue, text, nested) ?? text;
  void ready(part);
  return text;
}

/** inReply is what a slash command answered: Markdown, each line of which is found by itself. */
export function inReply(text: string): string {
  if (language() === "en") return text;
  return text.replace(/^([ \t]*- )?(.+)$/gm, (_, mark: string | undefined, line: string) => (mark ?? "") + inWords(line, "replies"));
}

/** ready gets the catalogue, where one is needed. */
export async function ready(part: Part = "errors"): Promise<void> {
  const wanted = language();
  if (wanted === "en") return;
  const held = parts[part];
  if (held.asked !== wanted) held.coming = hold(part, wanted);
  await held.coming;
}

async function hold(part: Part, wanted: Language): Promise<void> {
  const held = parts[part];
  held.asked = wanted;
  try {
    held.catalogue = await (part === "replies" ? both(wanted) : fetched(part, wanted));
  } catch {
    if (held.asked === wanted) held.asked = "en"; // it is tried again with the next text
  }
}

/** both is what the two files have, which come once. */
async function both(wanted: Language): Promise<Catalogue> {
  await Promise.all([ready("about"), ready("errors")]);
  const [about, errors] = [parts.about.catalogue, parts.errors.catalogue];
  if (about?.language !== wanted || errors?.language !== wanted) throw new Error("not there");
  const all = [...about.templates, ...errors.templates];
  return { language: wanted, own: { ...about.own, ...errors.own }, templates: all.sort(longestFirst) };
}

async function fetched(file: string, wanted: Language): Promise<Catalogue> {
  // The page for phones has no other part of the gateway than its own.
  const base = location.pathname.startsWith("/phone") ? "/phone/words" : "/words";
  const get = async (l: Language): Promise<Words> => {
    const res = await fetch(`${base}/${l}/${file}.json`);
    if (!res.ok) throw new Error(`${res.status}`);
    return (await res.json()) as Words;
  };
  const [english, own] = await Promise.all([get("en"), get(wanted)]);
  return { language: wanted, own, templates: templates(english) };
}

/** templates are those with the most text of their own first. */
function templates(english: Words): Template[] {
  const out = Object.entries(english).map(([key, text]): Template => {
    const parts = text.replace(/\.$/, "").split(/\{(\w+)\}/);
    const pieces = parts.filter((_, i) => i % 2 === 0);
    return { key, pieces, places: parts.filter((_, i) => i % 2 === 1), own: pieces.join("").length };
  });
  return out.sort(longestFirst);
}

const longestFirst = (a: Template, b: Template): number => b.own - a.own || (a.key < b.key ? -1 : 1);

/** found is what was put into the template to make text of it, whatever letter begins it. Each piece is
 *  taken where it stands first and the last one at the end, so that the time it takes grows with the text
 *  and no faster; a space alone where a sentence ends, if one does. */
function found(t: Template, text: string): string[] | undefined {
  const [first = "", ...others] = t.pieces;
  if (text.length < t.own || !begins(text, first)) return undefined;
  const last = others.pop();
  if (last === undefined) return text.length === first.length ? [] : undefined;
  const values: string[] = [];
  let rest = text.slice(first.length);
  for (const p of others) {
    const end = p === " " ? rest.search(sentenceEnd) : -1;
    const at = end < 0 ? rest.indexOf(p) : end + 1;
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
    const args = values.map((value, i) => [t.places[i], inside(c, dated(value) ?? translated(c, value, depth - 1)) ?? value]);
    return ended(put(own, Object.fromEntries(args)), text, c.language);
  }
  // Who passed it on has said before it what they were doing.
  const at = text.indexOf(": ");
  const inner = at < 0 ? undefined : translated(c, text.slice(at + 2), depth - 1);
  if (inner !== undefined) return `${foreign(c, text.slice(0, at))}: ${inner}`;
  // Several sentences are found one by one.
  const end = text.search(sentenceEnd);
  if (end < 0) return undefined;
  const [one, rest] = [text.slice(0, end + 1), text.slice(end + 2)];
  const [first, others] = [translated(c, one, depth - 1), translated(c, rest, depth - 1)];
  return first === undefined && others === undefined ? undefined : `${first ?? foreign(c, one)} ${others ?? foreign(c, rest)}`;
}

/** inside is what was said as a part of another sentence, whatever letter it begins with. */
const inside = (c: Catalogue, said: string | undefined): string | undefined =>
  said !== undefined && direction(c.language) === "rtl" ? isolatedRTL(said) : said;

/** foreign is what stays in English beside what was said. */
const foreign = (c: Catalogue, text: string): string => (direction(c.language) === "rtl" ? isolated(text) : text);

const stops: Partial<Record<Language, string>> = { ja: "。", "zh-CN": "。", hi: "।" };

/** ended is what is said, begun and ended as text is: as a sentence or as a part of one. */
function ended(said: string, text: string, l: Language): string {
  const begun = /^\p{Lu}/u.test(text) ? said.replace(/^\p{Ll}/u, (c) => c.toLocaleUpperCase(l)) : said;
  const bare = begun.replace(/[.。।]+$/, "");
  if (!text.endsWith(".")) return bare;
  return bare === begun ? bare + (stops[l] ?? ".") : begun;
}
