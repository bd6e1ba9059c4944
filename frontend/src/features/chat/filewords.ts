// What people read of a file, on both pages.
import en from "../../i18n/en/files.json";
import { number, wordsOf, type Args } from "../../i18n/words.svelte";
import type { AttachedFile } from "../../protocol";
import { isolated, oneLine } from "../../text/oneline";
import type { Refusal } from "./attached";

export type Key = keyof typeof en;
export const { t, word } = wordsOf("files", en);

/** named are the words for what the gateway calls something, "" for what this page does not know yet. */
export const named = (group: string, name: string, args?: Args): string =>
  word(`${group}.${name}`) === undefined ? "" : t(`${group}.${name}` as Key, args);

/** refused says why a file was not taken; of those that are too many it names the first. */
export function refused(r: Refusal): string {
  if (r.why !== "many") return t(r.why, r);
  const first = r.names.slice(0, 3).map((n) => isolated(oneLine(n, 60)));
  return `${t("many", { n: r.n })} ${first.join(", ")}${r.names.length > first.length ? ", …" : ""}`;
}

/** sizeOf is 12 KB or 1.4 MB. */
export function sizeOf(bytes: number): string {
  if (bytes < 1 << 20) return t("size.kb", { n: number(Math.max(1, Math.round(bytes / 1024))) });
  return t("size.mb", { n: number(Math.round((bytes / (1 << 20)) * 10) / 10) });
}

/** amountOf is "12 pages", "" where nothing is counted. */
export const amountOf = (f: AttachedFile): string => (f.unit && f.total ? named("unit", f.unit, { n: f.total }) : "");

/** foundIn says what is known of a file before it is sent, and whether that is bad. */
export function foundIn(f: AttachedFile): { text: string; bad: boolean } {
  if (f.problem) return { text: named("problem", f.problem) || (f.why ?? ""), bad: true };
  if (f.kind === "audio" || f.kind === "video" || f.kind === "picture" || f.kind === "unknown") return { text: t("notRead"), bad: false };
  return { text: amountOf(f) || t("read"), bad: false };
}

/** givenOf says how much of a file that was sent the model was given. */
export function givenOf(f: AttachedFile): { text: string; bad: boolean } {
  const found = foundIn(f);
  if (found.bad || f.whole || !f.text) return found;
  if (f.given && f.unit && f.total) return { text: t("given.parts", { given: f.given, all: amountOf(f) }), bad: false };
  return { text: t("given.part", { path: f.path ?? "" }), bad: false };
}
