// The words that the first sight of the page needs. Keys are checked by the compiler.
import en from "./en/page.json";
import { say, type Args } from "./words.svelte";

export type Key = keyof typeof en;

export const t = (key: Key, args?: Args): string => say("page", en, key, args);
