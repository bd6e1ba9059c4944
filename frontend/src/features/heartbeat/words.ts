import en from "../../i18n/en/heartbeat.json";
import { wordsOf } from "../../i18n/words.svelte";

export type Key = keyof typeof en;
export const { t, word } = wordsOf("heartbeat", en);
