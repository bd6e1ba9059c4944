// The words for what tools do, which both pages say.
import en from "./en/tools.json";
import { wordsOf } from "./words.svelte";

export type ToolKey = keyof typeof en;
export const { t } = wordsOf("tools", en);
