// Words of the page in the language of a picture, so that a scene finds its buttons there too.
import { readFileSync, readdirSync } from "node:fs";

const folder = new URL("../../src/i18n/", import.meta.url);
const known = new Map();

function wordsOf(language) {
  if (known.has(language)) return known.get(language);
  const words = new Map();
  for (const name of readdirSync(new URL("en/", folder))) {
    const [en, other] = ["en", language].map((l) => JSON.parse(readFileSync(new URL(`${l}/${name}`, folder), "utf8")));
    for (const [key, text] of Object.entries(en)) if (!words.has(text) && other[key]) words.set(text, other[key]);
  }
  known.set(language, words);
  return words;
}

/** translator gives, for what stands in the English catalogue, what a locale has in its place. */
export function translator(locale) {
  const words = wordsOf(locale.split("-")[0]);
  return (english, values = {}) => {
    const text = words.get(english);
    if (text === undefined) throw new Error(`no words like “${english}” in the catalogue`);
    return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  };
}
