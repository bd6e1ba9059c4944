// Words of the page. Keys are checked by the compiler; {name} is replaced by
// the argument of that name. A language is one JSON file of the same shape.
import en from "./en.json";

export type Key = keyof typeof en;

const words: Record<Key, string> = en;

export function t(key: Key, args?: Record<string, string | number>): string {
  const s = words[key];
  return args ? s.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole)) : s;
}
