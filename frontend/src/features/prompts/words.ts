import en from "../../i18n/en/prompts.json";
import { wordsOf } from "../../i18n/words.svelte";

export type Key = keyof typeof en;
export const { t, word } = wordsOf("prompts", en);
