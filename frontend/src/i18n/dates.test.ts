// Dates of the gateway's sentences in other languages.
import { afterEach, expect, test } from "vitest";
import { prefs } from "../storage/local";
import { dated } from "./dates";
import { load, type Language } from "./words.svelte";

afterEach(async () => {
  prefs.language = "en";
  await load("page");
});

test.each<[Language, string, string]>([
  ["de", "14:05 on 4 Mar", "4. März, 14:05"],
  ["de", "14:05 on 4 March", "4. März um 14:05"],
  ["de", "4 March 2026", "4. März 2026"],
  ["de", "Friday 27 November 2026 at 09:00", "Freitag, 27. November 2026 um 09:00"],
  ["de", "15:04 on Monday 2 February", "Montag, 2. Februar um 15:04"],
  ["de", "Friday 27 November 2026 at 3:04 PM", "Freitag, 27. November 2026 um 15:04"],
  ["de", "12:30 AM on 1 May", "1. Mai, 00:30"],
  ["fr", "2 January 15:04", "2 janvier à 15:04"],
  ["ja", "4 March 2026", "2026年3月4日"],
  ["ru", "29 February", "29 февраля"],
])("%s: %s", async (language, english, own) => {
  prefs.language = language;
  await load("page");
  expect(dated(english, 2026)).toBe(own);
});

test.each(["", "14:05", "Meeting on 4 March", "30 February 2026", "Monday 27 November 2026", "4 Marc", "soon", "4 March 2026, or later"])(
  "%j is no date",
  (text) => expect(dated(text)).toBeUndefined(),
);
