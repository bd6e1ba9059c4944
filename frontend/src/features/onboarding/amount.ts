// Amounts of memory as this person's language writes them.
import { locale } from "../../i18n/words.svelte";

/** bytes is 1.9 GB or 523 MB. */
export function bytes(n: number): string {
  const [of, unit, digits] = n >= 1e9 ? ([1e9, "gigabyte", 1] as const) : ([1e6, "megabyte", 0] as const);
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: digits }).format(n / of);
}

/** memory is 16 GB, as computers are sold. */
export const memory = (n: number): string => bytes(Math.max(1, Math.round(n / 1024 ** 3)) * 1e9);

/** soon is 5 min or 40 sec: an estimate, so it is never exact. */
export function soon(seconds: number): string {
  const [n, unit] =
    seconds < 55 ? ([Math.max(5, Math.ceil(seconds / 5) * 5), "second"] as const) : ([Math.round(seconds / 60) || 1, "minute"] as const);
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short" }).format(n);
}
