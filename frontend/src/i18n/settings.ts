// The words of the settings; they come when the settings are opened.
import en from "./en/settings.json";
import { say, type Args } from "./words.svelte";

export type SettingsKey = keyof typeof en;

export const t = (key: SettingsKey, args?: Args): string => say("settings", en, key, args);

/** word looks for a key that was put together. */
export const word = (key: string): string | undefined => (key in en ? t(key as SettingsKey) : undefined);
