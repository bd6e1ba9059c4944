// A server of models that a person names: what it was seen to do, in words.
import { locale } from "../../i18n/words.svelte";
import type { ModelsTestResult, ServedModel } from "../../protocol";
import { t } from "./words";

/** patience is how long a model may take to be loaded and answer, in ms. */
export const patience = 200_000;

const K = 1024;

/** kilo is 32K, or 40K where it is no power of two. */
export const kilo = (n: number): string => (n % K === 0 ? `${n / K}K` : `${Math.round(n / 1000)}K`);

export const sees = (m: ServedModel | undefined): boolean => m?.input?.includes("image") ?? false;

const seconds = (ms: number): string =>
  new Intl.NumberFormat(locale(), {
    style: "unit", unit: "second", unitDisplay: "narrow", maximumFractionDigits: 1, minimumFractionDigits: 1,
  })
    .format(ms / 1000);

/** outcome is "Answered in 1.2 s · 32K · tools work · sees pictures". */
export function outcome(r: ModelsTestResult, m: ServedModel | undefined): string {
  const window = r.verified?.contextWindow || r.claimed || m?.contextWindow || 0;
  const tools = r.verified?.tools;
  return [
    t("server.answered", { time: seconds(r.tookMs ?? 0) }),
    window > 0 && kilo(window),
    tools === "work" && t("server.tools"),
    tools === "fail" && t("server.notools"),
    sees(m) && t("server.sees"),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** about is what is known of a model before it was asked anything. */
export const about = (m: ServedModel): string =>
  [m.contextWindow ? kilo(m.contextWindow) : "", sees(m) ? t("server.sees") : ""].filter(Boolean).join(" · ");

/** nameable is what can stand before the slash of a model's name, and in the name of a key. */
export const nameable = (name: string): boolean => /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(name);
