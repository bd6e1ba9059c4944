// The languages: all that English says, with its arguments and the forms of
// number that the language has. What is missing is named, one list for each.
import { expect, test } from "vitest";
import { languages } from "../i18n/words.svelte";

type Words = Record<string, string>;
const files = import.meta.glob<Words>("../i18n/*/*.json", { eager: true, import: "default" });
const folders = [...new Set(Object.keys(files).map((f) => f.split("/").at(-2)!))];
const parts = Object.keys(files)
  .filter((f) => f.startsWith("../i18n/en/"))
  .map((f) => f.slice("../i18n/en/".length, -".json".length));
const others = Object.keys(languages).filter((l) => l !== "en");

/** mark says that no person has read a file yet; it is no word. */
const mark = "@";
const read = (lang: string, part: string): Words | undefined => {
  const words = files[`../i18n/${lang}/${part}.json`];
  return words && Object.fromEntries(Object.entries(words).filter(([key]) => key !== mark));
};

// What is the same in other languages too: names, abbreviations, examples, and in
// some languages the word itself.
const time = "Friday at nine · in 20 minutes · every weekday at 8"; // Hearth reads times in English, German and Chinese.
const same: Record<string, RegExp> = {
  "": RegExp(
    "^(Hearth|OK|Emoji|Shell|Script|Bonjour|Tailscale|hearth open|" +
      "PDF|, \\{1\\} tokens|\\{n\\} [KM]B|\\{n\\} min|Problem: \\{what\\}|Skills & MCP|HTTP|URL|PIN|SHA-256|" +
      "hearth (channels manifest|config set) .*)$",
  ),
  de: /^(Variable|Server|Region|Pause|in \{dir\}|Browser|Details|Name|Text|Audio|Video|Warm|Chats|Skills|Token|Code)$/,
  es: /^(No|Variable|Audio|[Tt]okens?|Chats|General|\{date\}: \{cost\}, \{tokens\} tokens)$/,
  fr: RegExp(
    "^(Versions?|Assistants…?|Variable|Arguments|Machine|Source|important|Document|Archive|" +
      "Audio|Pause|Service|Note \\{id\\}|Conversation|Messages?|Position|Page|Code|Notifications)$",
  ),
  hi: RegExp(`^${time}$`),
  it: /^(in \{dir\}|No|Server|Browser|Backup|Audio|Video|File|[Tt]oken|Skill)$/,
  pl: RegExp(`^(${time}|problem|Audio|[Tt]oken|Model|Stop|Folder|Plan|Region)$`),
  pt: /^(Backup|Chats|[Tt]okens?|\{date\}: \{cost\}, \{tokens\} tokens)$/,
  ru: RegExp(`^${time}$`),
  tr: RegExp(`^(${time}|Video|[Tt]oken|Model|Plan)$`),
};

/** slots are the arguments of a sentence: {name} and {n, plural, …}. */
const slots = (s: string): string[] => [...new Set([...s.matchAll(/\{(\w+)(?:\}|, plural)/g)].map((m) => m[1]!))].sort();
const plurals = (s: string): [string, string][][] =>
  [...s.matchAll(/\{\w+, plural, ((?:\w+ \{[^}]*\} ?)+)\}/g)].map((m) =>
    [...m[1]!.matchAll(/(\w+) \{([^}]*)\}/g)].map((f) => [f[1]!, f[2]!]),
  );
/** prose is a sentence without what one types: `commands`, JSON and lists. */
const prose = (s: string): string =>
  s
    .replace(/`[^`]*`|\{["'][^\n]*\}|\[["'][^\n]*\]/g, "")
    .replace(/"\w+":"\w+"|"NAME: VALUE"|(age1|\}|=)…|="…"/g, "");
/** bare is what stays of a sentence that a translator would change. */
const bare = (s: string): string =>
  s
    .replace(/\{\w+\}/g, "")
    .replace(/[^\p{L} ]/gu, "")
    .trim();

/** wrongForms says what a language's forms of number lack. Forms for millions and fractions need not be written. */
function wrongForms(lang: string, forms: [string, string][]): string[] {
  const rules = new Intl.PluralRules(lang);
  const known: string[] = rules.resolvedOptions().pluralCategories;
  const counted = Array.from({ length: 201 }, (_, n) => rules.select(n) as string);
  const has = forms.map(([name]) => name);
  const out: string[] = [];
  for (const name of new Set([...counted, "other"])) if (!has.includes(name)) out.push(`the form ${name} is missing`);
  for (const name of has) if (!known.includes(name)) out.push(`the form ${name} is none of ${lang}`);
  if (new Set(has).size !== has.length) out.push("a form is there twice");
  for (const [name, text] of forms)
    if (/\d/.test(text) && counted.filter((c) => c === name).length > 1)
      out.push(`the form ${name} is for several numbers: # instead of ${text}`);
  return out;
}

/** without is a text without the words that stand in the English one, such as "$(…)" and "xapp-…". */
const without = (own: string, en: string): string => {
  const there = new Set(en.split(/[\s(),.;:]+/));
  return own.split(/([\s(),.;:]+)/).filter((w) => !there.has(w)).join("");
};

/** complaints is what a sentence of a language lacks. */
function complaints(lang: string, en: string, own: string): string[] {
  const out: string[] = [];
  if (own.trim() !== own || own === "") out.push("begins or ends with a space, or is empty");
  if (own.split("{").length !== own.split("}").length) out.push("a brace is open");
  const [has, wants] = [slots(own).join("} {"), slots(en).join("} {")];
  if (has !== wants) out.push(`has the arguments {${has}} instead of {${wants}}`);
  if (plurals(own).length !== (own.match(/, plural,/g)?.length ?? 0)) out.push("its forms of number cannot be read");
  for (const forms of plurals(own)) out.push(...wrongForms(lang, forms));
  if (own === en && bare(en).length > 1 && !same[""]!.test(en) && !same[lang]?.test(en)) out.push("is English");
  const typed = /\b(Sie haben|Ihr Browser|Bitte)\b|[“"]\w|\S…(?<!\s…)/;
  if (lang === "de" && typed.test(prose(without(own, en)))) out.push("is not written as German is");
  if (lang === "zh-CN" && /[一-鿿] ?[,;!?](?!\d)|[一-鿿]\.|[一-鿿]\.\.\./.test(own)) out.push("is not written as Chinese is");
  return out;
}

/** lacks is what a part of a language lacks. */
function lacks(lang: string, part: string, en: Words, own: Words | undefined): string[] {
  if (!own) return [`${part}.json is missing`];
  const strange = Object.keys(own).filter((key) => !(key in en));
  const out = strange.map((key) => `${part}: ${key} is not in English`);
  for (const [key, text] of Object.entries(en)) {
    const word = own[key];
    if (word === undefined) out.push(`${part}: ${key} is missing`);
    else out.push(...complaints(lang, text, word).map((c) => `${part}: ${key} ${c}: ${word}`));
  }
  return out;
}

test("every folder is a language", () => {
  expect(folders.filter((f) => !(f in languages))).toEqual([]);
});

test("the checks see what they look for", () => {
  const en = { a: "Save", b: "{n, plural, one {1 file} other {# files}}", c: "Hello {name}", d: "Hearth", e: "{a} of {b}", gone: "Away" };
  expect(lacks("ru", "x", en, undefined)).toEqual(["x.json is missing"]);
  const b = "{n, plural, one {1 файл} few {# файла} other {# файлов}}";
  const own = { a: "Save", b, c: "Привет ", d: "Hearth", e: "{a} {b", more: "Ещё" };
  expect(lacks("ru", "x", en, own)).toEqual([
    "x: more is not in English",
    "x: a is English: Save",
    expect.stringMatching(/^x: b the form many is missing/),
    expect.stringMatching(/^x: b the form one is for several numbers/),
    expect.stringMatching(/^x: c begins or ends with a space/),
    expect.stringMatching(/^x: c has the arguments \{\} instead of \{name\}/),
    expect.stringMatching(/^x: e a brace is open/),
    expect.stringMatching(/^x: e has the arguments/),
    "x: gone is missing",
  ]);
  const counted: [string, string][] = [
    ["one", "1件"],
    ["other", "#件"],
  ];
  expect(wrongForms("ja", counted)).toEqual(["the form one is none of ja"]);
  expect(wrongForms("ar", counted)).toHaveLength(4);
});

test("English has the forms of number that it knows, and no brace is open", () => {
  const out = parts.flatMap((part) =>
    Object.entries(read("en", part)!).flatMap(([key, s]) => [
      ...plurals(s)
        .flatMap((f) => wrongForms("en", f))
        .map((c) => `${part}: ${key} ${c}`),
      ...(s.split("{").length === s.split("}").length ? [] : [`${part}: ${key} has an open brace`]),
    ]),
  );
  expect(out).toEqual([]);
});

test.each(others)("%s says all that English says", (lang) => {
  expect(folders, `there is no folder src/i18n/${lang}`).toContain(lang);
  expect(parts.flatMap((part) => lacks(lang, part, read("en", part)!, read(lang, part)))).toEqual([]);
  const strange = Object.keys(files).filter((f) => f.startsWith(`../i18n/${lang}/`) && !files[f.replace(`/${lang}/`, "/en/")]);
  expect(strange).toEqual([]);
});

test.each(others)("the mark of %s stands first in its files, or nowhere", (lang) => {
  for (const part of parts) {
    const keys = Object.keys(files[`../i18n/${lang}/${part}.json`] ?? {});
    expect(keys.indexOf(mark), part).toBeLessThan(1);
  }
});

test("every key is said somewhere", () => {
  const sources = import.meta.glob<string>(
    ["../**/*.ts", "../**/*.svelte", "../../phone/**/*.ts", "../../phone/**/*.svelte", "!../**/*.test.ts", "!../protocol.ts"],
    { eager: true, query: "?raw", import: "default" },
  );
  const text = Object.values(sources).join("\n");
  const literal = new Set([...text.matchAll(/["'`]([\w.-]+)["'`]/g)].map((m) => m[1]!));
  const made = [...text.matchAll(/`([\w.-]*(?:\$\{[^`}]*\}[\w.-]*)+)`/g)].map((m) => m[1]!.split(/\$\{[^}]*\}/));
  const patterns = made // of something and not only of holes
    .filter((pieces) => /\w/.test(pieces.join("")))
    .map((pieces) => new RegExp(`^${pieces.map((p) => p.replace(/[.-]/g, "\\$&")).join(".+")}$`));
  const added = [...text.matchAll(/["']([\w.-]+\.)["'] \+|named\("([\w.-]+)"/g)].map((m) => m[1] ?? `${m[2]}.`);
  // What programs say is looked for by the tests of src/i18n/words.go and app/cli.
  const unused = parts.filter((part) => !["tray", "help", "errors", "about"].includes(part)).flatMap((part) =>
    Object.keys(read("en", part)!)
      .filter((key) => !literal.has(key) && !patterns.some((p) => p.test(key)) && !added.some((a) => key.startsWith(a)))
      .map((key) => `${part}: ${key}`),
  );
  expect(unused).toEqual([]);
});

// Somebody who says what stands on a button must reach it: its label has those words
// in it (WCAG 2.5.3), in every language where it has them in English.
const labels = parts.flatMap((part) =>
  Object.keys(read("en", part)!).flatMap((key) => {
    const en = read("en", part)!;
    const own = /^(.*?)(?:Label|\.label|For|Named)$/.exec(key)?.[1] ?? "";
    return own in en && en[key]!.toLowerCase().includes(en[own]!.toLowerCase()) ? [{ part, key, own }] : [];
  }),
);

test.each(others)("%s: labels have the words that stand on their buttons", (lang) => {
  expect(labels.length).toBeGreaterThan(10);
  const lacking = labels.filter(({ part, key, own }) => {
    const words = read(lang, part)!;
    return !words[key]!.toLocaleLowerCase(lang).includes(words[own]!.toLocaleLowerCase(lang));
  });
  expect(lacking.map(({ part, key, own }) => `${part}: ${key} lacks ${own}`)).toEqual([]);
});
