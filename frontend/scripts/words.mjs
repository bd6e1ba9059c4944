// The words of a language as they are downloaded: what the first sight needs is
// one file and the rest another, without keys, in the order of English. That is
// half of what thirty files with keys are, and two names in the first load
// instead of thirty for each language.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

function read(folder, part) {
  const file = join(folder, `${part}.json`);
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (e) {
    throw new Error(`${file}: ${e.message}`, { cause: e });
  }
}

/** pack puts the words of some parts of a language into one, in the order of English's keys; null is said in English. */
export function pack(folder, parts) {
  const english = join(dirname(folder), "en");
  const of = (part) => {
    const own = read(folder, part);
    return Object.keys(read(english, part)).map((key) => own[key] ?? null);
  };
  return Object.fromEntries(parts.map((part) => [part, of(part)]));
}

// What other pages and programs say: the phone, the icon and the command line
// (src/i18n/words.go), and what errors.svelte.ts asks for when it is needed.
const elsewhere = ["phone", "tray", "help", "errors", "about"];

/** words answers imports of <language>/page.json?first and ?rest; rest names its parts, all but those of the first sight and of elsewhere where it does not. */
export function words(rest) {
  return {
    name: "words",
    enforce: "pre",
    load(id) {
      const [, folder, which] = /^(.*\/i18n\/[\w-]+)\/page\.json\?(first|rest)$/.exec(id) ?? [];
      if (!folder) return undefined;
      const all = readdirSync(join(dirname(folder), "en")).map((f) => f.slice(0, -".json".length));
      const parts = which === "first" ? ["page"] : (rest ?? all.filter((p) => p !== "page" && !elsewhere.includes(p)));
      for (const part of parts) this.addWatchFile(join(folder, `${part}.json`));
      return `export default ${JSON.stringify(pack(folder, parts))}`;
    },
  };
}

/** wordsName is what the file of a language is called in dist, "" for other files. */
export function wordsName(id) {
  const [, language, which] = /\/i18n\/([\w-]+)\/page\.json\?(first|rest)$/.exec(id ?? "") ?? [];
  return language ? `words-${language}-${which}` : "";
}
