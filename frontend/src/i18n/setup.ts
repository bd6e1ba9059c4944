// The words of the first steps.
import en from "./en/setup.json";
import { say, type Args } from "./words.svelte";

export type SetupKey = keyof typeof en;

export const t = (key: SetupKey, args?: Args): string => say("setup", en, key, args);
