// Which language the page speaks, and how a sentence is put together. English
// is built in and stands in for whatever is missing; another language comes in
// two files (scripts/words.mjs makes them): the words of the
// first sight, and all others with the first part that needs some of them.
import { prefs } from "../storage/local";
import { isIsolatedRTL, isolated } from "../text/oneline";

export type Words = Record<string, string>;
export type Args = Record<string, string | number>;
/** Packed has for each part the words of English's keys, in their order; null is said in English. */
type Packed = Record<string, (string | null)[]>;
/** Part is a file of words: of the first sight, of a page, of a feature. */
type Part = string;

/** Languages there are, in their own words. */
export const languages = {
  en: "English",
  ar: "العربية",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  he: "עברית",
  hi: "हिन्दी",
  it: "Italiano",
  ja: "日本語",
  ko: "한국어",
  pl: "Polski",
  pt: "Português",
  ru: "Русский",
  tr: "Türkçe",
  "zh-CN": "简体中文",
};
export type Language = keyof typeof languages;

/** direction is the way a language is written. */
export const direction = (l: Language): "ltr" | "rtl" => (l === "ar" || l === "he" ? "rtl" : "ltr");

const first = import.meta.glob<Packed>(["./*/page.json", "!./en/*"], { import: "default", query: "?first" });
const rest = import.meta.glob<Packed>(["./*/page.json", "!./en/*"], { import: "default", query: "?rest" });
const known = Object.keys(languages) as Language[];

// zh-SG is written as zh-CN is, zh-TW is not.
const writing = (tag: string): string => {
  try {
    const l = new Intl.Locale(tag).maximize();
    return `${l.language}-${l.script}`;
  } catch {
    return "";
  }
};

/** pick is the language for a person who wants these, the best first. */
export function pick(wanted: readonly string[]): Language {
  for (const w of wanted) for (const l of known) if (writing(w) === writing(l)) return l;
  return "en";
}

// What is loaded, and the same as a signal: load must not follow itself.
let held: { language: Language; words: Partial<Packed> } = { language: "en", words: {} };
let spoken = $state.raw(held);
const parts = new Set<Part>();

/** language is the one that is spoken now. */
export const language = (): Language => spoken.language;

/** locale is the language with the region of this person, for numbers and dates. */
export const locale = (): string => navigator.languages.find((l) => writing(l) === writing(spoken.language)) ?? spoken.language;

/** load gets the words of a part, and those of the other parts again when the language changed. */
export async function load(part: Part): Promise<void> {
  parts.add(part);
  const language = pick([prefs.language, ...navigator.languages]);
  const words = language === held.language ? held.words : {};
  const got = await Promise.all([...parts].map(async (p) => [p, words[p] ?? (await fetched(language, p))] as const));
  spoken = held = { language, words: { ...(language === held.language ? held.words : {}), ...Object.fromEntries(got) } };
  document.documentElement.lang = language;
  document.documentElement.dir = direction(language);
}

const fetched = async (language: Language, part: Part): Promise<Packed[Part] | undefined> =>
  (await (part === "page" ? first : rest)[`./${language}/page.json`]?.().catch(() => undefined))?.[part];

/** speak changes the language; "" is what the browser asks for. */
export function speak(choice: Language | ""): Promise<void> {
  prefs.language = choice;
  return load("page");
}

/** say finds the words of a key. {name} becomes the argument of that name, and
 *  {n, plural, one {a day} other {# days}} what the language says for a number. */
export function say(part: Part, english: Words, key: string, args?: Args): string {
  const s = spoken.words[part]?.[place(english, key)] ?? english[key] ?? key;
  return args ? put(s, args) : s;
}

/** put puts the arguments into a sentence. */
export const put = (s: string, args: Args): string =>
  s.replace(/\{(\w+)(?:, plural, ((?:\w+ \{[^}]*\} ?)+))?\}/g, (whole, name: string, forms: string | undefined, at: number) =>
    formed(args[name] ?? whole, forms, inCode(s, at)),
  );

/** inCode says whether a place lies between backquotes: what stands there is copied as it is. */
const inCode = (s: string, at: number): boolean => s.slice(0, at).split("`").length % 2 === 0;

const places = new WeakMap<Words, Map<string, number>>();

/** place is where a key stands in English, and so in every other language. */
function place(english: Words, key: string): number {
  let all = places.get(english);
  if (!all) places.set(english, (all = new Map(Object.keys(english).map((k, i) => [k, i]))));
  return all.get(key) ?? -1;
}

// A name or path of the other direction must not move the words around it.
const apart = (arg: string): string => (direction(spoken.language) === "rtl" && arg !== "" && !isIsolatedRTL(arg) ? isolated(arg) : arg);

function formed(arg: string | number, forms: string | undefined, code: boolean): string {
  const s = typeof arg === "number" ? number(arg) : code ? arg : apart(arg);
  if (!forms) return s;
  const want = new Intl.PluralRules(locale()).select(Number(arg));
  return (RegExp(`\\b${want} \\{(.*?)\\}`).exec(forms) ?? /other \{(.*?)\}/.exec(forms))![1]!.replace("#", s);
}

/** wordsOf makes the words of a part: keys of t are checked by the compiler, word looks for one that was put together. */
export function wordsOf<E extends Words>(part: Part, english: E) {
  return {
    t: (key: keyof E & string, args?: Args): string => say(part, english, key, args),
    word: (key: string): string | undefined => (key in english ? say(part, english, key) : undefined),
  };
}

/** number writes a number as this language does. */
export const number = (n: number): string => new Intl.NumberFormat(locale()).format(n);
