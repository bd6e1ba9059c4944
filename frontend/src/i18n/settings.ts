// The words of the settings; they come when the settings are opened.
import settings from "./settings.json";

export type SettingsKey = keyof typeof settings;

const words: Record<string, string> = settings;

export function t(key: SettingsKey, args?: Record<string, string | number>): string {
  const s = words[key] ?? key;
  return args ? s.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole)) : s;
}

/** word looks for a key that was put together. */
export const word = (key: string): string | undefined => words[key];
