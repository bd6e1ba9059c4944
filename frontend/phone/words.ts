// The words of the page for phones.
import en from "../src/i18n/en/phone.json";
import { load, wordsOf } from "../src/i18n/words.svelte";

export type Key = keyof typeof en;
export const { t } = wordsOf("phone", en);

/** speak gets the words in the language of the phone; they share some with the other page. */
export async function speak(): Promise<void> {
  await load("page");
  await load("phone");
  await load("tools");
  await load("cron");
  await load("asks");
}
