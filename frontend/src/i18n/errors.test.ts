// Errors of the gateway, as a person reads them in another language.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { prefs } from "../storage/local";
import { inReply, inWords, ready } from "./errors.svelte";
import { load } from "./words.svelte";

const english = {
  a: "There is no agent {1}. `hearth agents list` shows those that are there.",
  b: "{1}. Nothing was accepted.",
  c: "the file is empty; choose another one",
  d: "{2} of {1} are gone",
  e: "{2} of {1} are gone{3} {4}",
};
const german = {
  "@": "Machine-made.",
  a: "Den Assistenten {1} gibt es nicht. `hearth agents list` zeigt, welche da sind.",
  b: "{1}. Nichts wurde angenommen.",
  c: "die Datei ist leer; nimm eine andere",
  d: "von {1} fehlen {2}",
  e: "von {1} fehlen {2}{3} {4}",
};

beforeEach(() => {
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify(url === "/words/en/errors.json" ? english : german))));
});
afterEach(async () => {
  prefs.language = "en";
  await load("page");
  vi.unstubAllGlobals();
});

test("English needs no catalogue", async () => {
  prefs.language = "en";
  await load("page");
  await ready();
  expect(inWords("There is no agent x.")).toBe("There is no agent x.");
  expect(fetch).not.toHaveBeenCalled();
});

test("a sentence is found by its text, and what was put into it", async () => {
  prefs.language = "de";
  await load("page");
  await ready();
  const said: Record<string, string> = {
    'There is no agent "x". `hearth agents list` shows those that are there.':
      'Den Assistenten "x" gibt es nicht. `hearth agents list` zeigt, welche da sind.',
    "The file is empty; choose another one. Nothing was accepted.": "Die Datei ist leer; nimm eine andere. Nichts wurde angenommen.",
    "the file is empty; choose another one": "die Datei ist leer; nimm eine andere",
    "read it: the file is empty; choose another one": "read it: die Datei ist leer; nimm eine andere",
    "3 of 7 are gone": "von 7 fehlen 3",
    "Google is asleep. The file is empty; choose another one.": "Google is asleep. Die Datei ist leer; nimm eine andere.",
    "3 of 7 are gone (HTTP 401: no. Really). The file is empty; choose another one.":
      "von 7 fehlen 3 (HTTP 401: no. Really). Die Datei ist leer; nimm eine andere.",
    "something else": "something else",
    "": "",
  };
  expect(Object.fromEntries(Object.keys(said).map((text) => [text, inWords(text)]))).toEqual(said);
});

test("in a language from right to left, what is said within a sentence is too, and what stays in English is not", async () => {
  const en = { a: "{1} did not accept the key{2} {3}", b: "Check the key: run `{1}`." };
  const ar = { a: "لم يقبل {1} المفتاح{2} {3}", b: "`{1}` يضبط المفتاح." };
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify(url === "/words/en/errors.json" ? en : ar))));
  prefs.language = "ar";
  await load("page");
  await ready();
  expect(inWords("Ember did not accept the key (HTTP 401: no). Check the key: run `hearth`.")).toBe(
    "لم يقبل \u2068Ember\u2069 المفتاح \u2068(HTTP 401: no).\u2069 \u2067`hearth` يضبط المفتاح\u2069.",
  );
  expect(inWords("Ember sleeps. Check the key: run `x`.")).toBe("\u2068Ember sleeps.\u2069 `x` يضبط المفتاح.");
});

test("a reply of a command is said line by line, with its list", async () => {
  const en = { a: "Model: {1}", b: "Context: {1}", c: "{1} tokens of unknown room" };
  const it = { a: "Modello: {1}", b: "Contesto: {1}", c: "{1} token, spazio ignoto" };
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify(url === "/words/en/about.json" ? en : it))));
  const reply = "**Hearth 1**\n\n- Model: own/one\n- Context: 12 tokens of unknown room\n";
  expect(inReply(reply)).toBe(reply);
  prefs.language = "it";
  await load("page");
  await ready("about");
  expect(inReply(reply)).toBe("**Hearth 1**\n\n- Modello: own/one\n- Contesto: 12 token, spazio ignoto\n");
});

test("what commands and settings are has a catalogue of its own", async () => {
  const said: Record<string, string> = { "/words/en/about.json": "Show who you are", "/words/de/about.json": "Zeigt, wer du bist" };
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify({ a: said[url] ?? "" }))));
  prefs.language = "de";
  await load("page");
  await ready("about");
  expect(inWords("Show who you are", "about")).toBe("Zeigt, wer du bist");
  expect(inWords("Show who you are")).toBe("Show who you are");
});

test("without the catalogue it is said in English, and asked for again", async () => {
  vi.stubGlobal("fetch", vi.fn(async () => new Response("", { status: 404 })));
  prefs.language = "fr";
  await load("page");
  await ready();
  expect(inWords("3 of 7 are gone")).toBe("3 of 7 are gone");
  expect(fetch).toHaveBeenCalledTimes(4);
});
