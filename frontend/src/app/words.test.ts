// How a language is chosen and spoken. Whether its words are whole is asked in languages.test.ts.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { t as chat } from "../features/chat/words";
import { t as devices } from "../features/devices/words";
import { fields } from "../features/settings/fields";
import { t as settings } from "../features/settings/words";
import { t } from "../i18n/t";
import { dayName, dayOf, list, shortTime, span } from "../i18n/time";
import { direction, language, languages, load, number, pick, say, speak, type Language } from "../i18n/words.svelte";
import type { PaneId } from "../shell/panels.svelte";
import { panes } from "./panes";

type Words = Record<string, string>;
const files = import.meta.glob<Words>("../i18n/en/*.json", { eager: true, import: "default" });
const read = (lang: string, part: string): Words => files[`../i18n/${lang}/${part}.json`]!;
test("every setting that is drawn has its words", () => {
  const en = read("en", "settings");
  for (const id of Object.keys(panes) as PaneId[]) {
    expect(en).toHaveProperty([`pane.${id}.what`]);
    for (const f of fields(id)) {
      expect(en).toHaveProperty([`f.${f.path}`]);
      expect(en).toHaveProperty([`f.${f.path}.what`]);
      if (f.kind === "choice" && f.of) expect(en).toHaveProperty([`f.${f.path}.unset`]);
      if (f.kind === "choice")
        for (const o of f.options) if (!/^(brave|tavily|searxng|duckduckgo)/.test(o)) expect(en).toHaveProperty([`f.${f.path}.${o}`]);
    }
  }
});

test.each([
  [["de-AT", "en-US"], "de"],
  [["nl-NL", "de"], "de"],
  [["pt-BR"], "pt"],
  [["es-MX", "en"], "es"],
  [["fr-CA"], "fr"],
  [["iw"], "he"],
  [["he-IL"], "he"],
  [["ar-EG"], "ar"],
  [["hi"], "hi"],
  [["hi-Latn", "tr"], "tr"],
  [["ru-UA"], "ru"],
  [["zh-SG"], "zh-CN"],
  [["zh"], "zh-CN"],
  [["zh-TW", "en"], "en"],
  [["zh-Hant"], "en"],
  [["", "de-CH"], "de"],
  [["de", "zh-CN"], "de"],
  [["el", "ja-JP", "ko"], "ja"],
  [["not a language", "_", "zh-Hans-HK"], "zh-CN"],
  [[], "en"],
])("%j is answered in %s", (wanted, want) => expect(pick(wanted)).toBe(want));

test("arguments, numbers and their forms", () => {
  const en = { a: "{n, plural, one {1 day} other {# days}} of {all} in {where}, {gone}", b: "{n} and {s}" };
  expect(say("page", en, "a", { n: 1, all: 12_345, where: "{all}" })).toBe("1 day of 12,345 in {all}, {gone}");
  expect(say("page", en, "a", { n: 2_000, all: "12345", where: "$& $1" })).toBe("2,000 days of 12345 in $& $1, {gone}");
  expect(say("page", en, "a", { n: 0, all: 0, where: "", gone: "#" })).toBe("0 days of 0 in , #");
  expect(say("page", en, "b", { n: 1.5, s: "1000" })).toBe("1.5 and 1000");
  expect(say("page", en, "none")).toBe("none");
});

describe("a language is spoken", () => {
  beforeEach(() => vi.spyOn(navigator, "languages", "get").mockReturnValue(["en-US"]));
  afterEach(async () => {
    vi.restoreAllMocks();
    await speak("");
  });

  test("by choice, and by what the browser asks for", async () => {
    await Promise.all([load("page"), load("chat"), load("devices")]);
    expect(t("composer.send")).toBe("Send");
    await speak("de");
    expect([language(), document.documentElement.lang, t("composer.send"), devices("lock.go")]).toEqual([
      "de",
      "de",
      "Senden",
      "Verbinden",
    ]);
    expect(settings("title")).toBe("Settings");
    await load("settings");
    expect(settings("title")).toBe("Einstellungen");
    expect(chat("queue.waiting", { n: 1 })).toBe("1 Nachricht wartet");
    expect(chat("queue.waiting", { n: 1200 })).toBe("1.200 Nachrichten warten");
    await speak("zh-CN");
    expect([settings("title"), chat("queue.waiting", { n: 1 })]).toEqual(["设置", "1 条消息正在等待"]);
    await speak("");
    expect([language(), settings("title"), localStorage.getItem("hearth.language")]).toEqual(["en", "Settings", null]);
    vi.spyOn(navigator, "languages", "get").mockReturnValue(["de-CH", "en"]);
    await load("page");
    expect([language(), number(1234567.5)]).toEqual(["de", expect.stringMatching(/^1[’']234[’']567\.5$/)]);
  });

  test("from right to left where it is written so", async () => {
    expect(Object.keys(languages).filter((l) => direction(l as Language) === "rtl")).toEqual(["ar", "he"]);
    for (const l of ["ar", "de", "he"] as const) {
      await speak(l);
      expect([document.documentElement.lang, document.documentElement.dir]).toEqual([l, direction(l)]);
    }
  });

  test("with the forms of number that it has", async () => {
    // As the catalogues write them: a language takes the form that Intl.PluralRules names.
    const forms = "{n, plural, zero {none} one {#-} two {pair} few {# few} many {# many} other {# other}}";
    const told = (...all: number[]): string[] => all.map((n) => say("none", { forms }, "forms", { n }));
    await speak("ar");
    expect(told(0, 1, 2, 3, 11, 100).map((s) => s.replace(/[^a-z-]/g, ""))).toEqual(["none", "-", "pair", "few", "many", "other"]);
    await speak("ru");
    expect(told(1, 2, 5, 21, 22, 25)).toEqual(["1-", "2 few", "5 many", "21-", "22 few", "25 many"]);
    await speak("pl");
    expect(told(1, 2, 5, 21, 22)).toEqual(["1-", "2 few", "5 many", "21 many", "22 few"]);
    await speak("he");
    expect(told(1, 2, 3)).toEqual(["1-", "pair", "3 other"]);
    await speak("fr");
    expect(told(0, 1, 2)).toEqual(["0-", "1-", "2 other"]);
    await speak("ja");
    expect(told(1, 2)).toEqual(["1 other", "2 other"]);
  });

  test("in times, spans and lists", async () => {
    const now = new Date(2026, 10, 21, 15, 4).getTime();
    const told = (): string[] => [
      dayName(now, now),
      dayName(now - 86_400_000, now),
      dayName(now - 400 * 86_400_000, now),
      shortTime(now - 3 * 86_400_000, now),
      shortTime(now - 30 * 86_400_000, now),
      dayOf("2026-11-02"),
      list(["a", "b", "c"]),
      span(1_240),
      span(125_000),
      span(7_380_000),
      span(183_600_000),
    ];
    expect(told()).toEqual([
      "Today",
      "Yesterday",
      "October 17, 2025",
      "Wed",
      "Oct 22",
      "Nov 2",
      "a, b, and c",
      "1.2s",
      "2m 5s",
      "2h 3m",
      "2d 3h",
    ]);
    await speak("de");
    expect(told()).toEqual(
      [
        "Heute",
        "Gestern",
        "17. Oktober 2025",
        "Mi",
        "22. Okt.",
        "2. Nov.",
        "a, b und c",
        "1,2 s",
        "2 Min. 5 Sek.",
        "2 Std. 3 Min.",
        "2 T 3 Std.",
      ].map((s, i) => (i < 7 ? s : expect.any(String))),
    );
    await speak("zh-CN");
    expect(told().slice(0, 7)).toEqual(["今天", "昨天", "2025年10月17日", "周三", "10月22日", "11月2日", "a、b和c"]);
  });
});
