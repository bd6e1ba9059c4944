import en from "../../i18n/en/artifacts.json";
import { wordsOf } from "../../i18n/words.svelte";

export type Key = keyof typeof en;
export const { t } = wordsOf("artifacts", en);
