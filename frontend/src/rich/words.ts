import en from "../i18n/en/rich.json";
import { wordsOf } from "../i18n/words.svelte";

export type Key = keyof typeof en;
export const { t } = wordsOf("rich", en);
