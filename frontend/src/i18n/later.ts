// The words of the views that come after the first sight of the page.
import later from "./later.json";

export type LaterKey = keyof typeof later;

const words: Record<LaterKey, string> = later;

export function t(key: LaterKey, args?: Record<string, string | number>): string {
  const s = words[key];
  return args ? s.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole)) : s;
}
