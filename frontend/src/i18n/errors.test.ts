// Errors of the gateway, as a person reads them in another language.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { prefs } from "../storage/local";
import { inWords, ready } from "./errors.svelte";
import { load } from "./words.svelte";

const english = {
  a: "There is no agent {1}. `hearth agents list` shows those that are there.",
  b: "{1}. Nothing was accepted.",
  c: "the file is empty; choose another one",
  d: "{2} of {1} are gone",
};
const german = {
  "@": "Machine-made.",
  a: "Den Assistenten {1} gibt es nicht. `hearth agents list` zeigt, welche da sind.",
  b: "{1}. Nichts wurde angenommen.",
  c: "die Datei ist leer; nimm eine andere",
  d: "von {1} fehlen {2}",
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
    "something else": "something else",
    "": "",
  };
  expect(Object.fromEntries(Object.keys(said).map((text) => [text, inWords(text)]))).toEqual(said);
});

test("without the catalogue it is said in English, and asked for again", async () => {
  vi.stubGlobal("fetch", vi.fn(async () => new Response("", { status: 404 })));
  prefs.language = "fr";
  await load("page");
  await ready();
  expect(inWords("3 of 7 are gone")).toBe("3 of 7 are gone");
  expect(fetch).toHaveBeenCalledTimes(4);
});
