// Errors of the gateway, as a person reads them in another language.
import { afterEach, expect, test, vi } from "vitest";
import { prefs } from "../storage/local";
import { inReply, inWords, ready } from "./errors.svelte";
import cases from "./texts.cases.json";
import { load, type Language } from "./words.svelte";

afterEach(async () => {
  prefs.language = "en";
  await load("page");
  vi.unstubAllGlobals();
});

test("English needs no catalogue", async () => {
  prefs.language = "en";
  vi.stubGlobal("fetch", vi.fn());
  await load("page");
  await ready();
  expect(inWords("There is no agent x.")).toBe("There is no agent x.");
  expect(fetch).not.toHaveBeenCalled();
});

/** tables are read by Go's test of the same as well, so that both say the same. */
interface Table {
  language: Language;
  about: string;
  english: Record<string, string>;
  own: Record<string, string>;
  said: Record<string, string>;
}
const tables = cases as unknown as Table[];

test.each(tables)("$language: $about", async ({ language, english, own, said }) => {
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify(url === "/words/en/errors.json" ? english : own))));
  prefs.language = language;
  await load("page");
  await ready();
  expect(Object.fromEntries(Object.keys(said).map((text) => [text, inWords(text)]))).toEqual(said);
});

test("a reply of a command is said line by line, with its list", async () => {
  const said: Record<string, Record<string, string>> = {
    "/words/en/about.json": { a: "Model: {1}", b: "Context: {1}", c: "{1} tokens of unknown room", d: "{1} answers now: {2}" },
    "/words/it/about.json": { a: "Modello: {1}", b: "Contesto: {1}", c: "{1} token, spazio ignoto", d: "ora risponde {1}: {2}" },
    "/words/en/errors.json": { e: "rate limit" },
    "/words/it/errors.json": { e: "limite di richieste" },
  };
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify(said[url]))));
  const reply = "**Hearth 1**\n\n- Model: own/one\n- Context: 12 tokens of unknown room\n- own/two answers now: rate limit\n";
  expect(inReply(reply)).toBe(reply);
  prefs.language = "it";
  await load("page");
  await ready("replies");
  expect(inReply(reply)).toBe(
    "**Hearth 1**\n\n- Modello: own/one\n- Contesto: 12 token, spazio ignoto\n- ora risponde own/two: limite di richieste\n",
  );
  await Promise.all([ready("about"), ready("errors")]);
  expect(fetch).toHaveBeenCalledTimes(4); // each file once
});

test("a date in a sentence is written as the language writes it", async () => {
  const said: Record<string, string> = {
    "/words/en/errors.json": "It rests until {1}.",
    "/words/es/errors.json": "Descansa hasta el {1}.",
  };
  vi.stubGlobal("fetch", vi.fn(async (url: string) => new Response(JSON.stringify({ a: said[url] }))));
  prefs.language = "es";
  await load("page");
  await ready();
  expect(inWords("It rests until 14:05 on 4 Mar.")).toBe("Descansa hasta el 4 mar, 14:05.");
  expect(inWords("It rests until somebody comes.")).toBe("Descansa hasta el somebody comes.");
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
