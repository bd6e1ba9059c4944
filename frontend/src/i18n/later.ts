// The words of the views that come after the first sight of the page.
import en from "./en/later.json";
import { say, type Args } from "./words.svelte";

export type LaterKey = keyof typeof en;

export const t = (key: LaterKey, args?: Args): string => say("later", en, key, args);
