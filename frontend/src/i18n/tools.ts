// The words for what tools do, which both pages say.
import en from "./en/tools.json";
import { say, type Args } from "./words.svelte";

export type ToolKey = keyof typeof en;

export const t = (key: ToolKey, args?: Args): string => say("tools", en, key, args);
