// The words that the first sight of the page needs. Keys are checked by the compiler.
import en from "./en/page.json";
import { wordsOf } from "./words.svelte";

export type Key = keyof typeof en;
export const { t } = wordsOf("page", en);
