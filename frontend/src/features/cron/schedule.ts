// Schedules in the person's words: the common ones here, the rest by the gateway.
import { inWords } from "../../i18n/errors.svelte";
import { timeAt, weekdays, moment } from "../../i18n/time";
import type { CronJob, CronSchedule, CronWatched } from "../../net/wire";
import { t } from "./words";

const minute = 60_000;

/** often says how long there is between two runs. */
function often(ms: number): string {
  const units = [
    ["day", 1440 * minute],
    ["hour", 60 * minute],
    ["minute", minute],
  ] as const;
  const [unit, size] = units.find(([, size]) => ms % size === 0) ?? ["minute", minute];
  const n = Math.max(1, Math.round(ms / size));
  return n === 1 ? t(`each.${unit}`) : t(`every.${unit}`, { n });
}

/** hourOf is the time of the day at which whole days are counted, in their zone; null for other intervals. */
function hourOf(s: CronSchedule): [hour: number, minute: number] | null {
  if (s.kind !== "every" || s.anchorMs === undefined || !s.tz || (s.everyMs ?? 0) % (1440 * minute) !== 0) return null;
  try {
    const said = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: s.tz }).format(s.anchorMs);
    return [Number(said.slice(0, 2)), Number(said.slice(3))];
  } catch {
    return null; // a zone that only the gateway knows
  }
}

/** daysIn reads the last field of an expression: "1-5", "1,4", "*"; null when it is another kind. */
export function daysIn(field: string): number[] | null {
  if (field === "*" || field === "?") return [];
  const days = new Set<number>();
  for (const part of field.split(",")) {
    const m = /^([0-7])(?:-([0-7]))?$/.exec(part);
    if (!m) return null;
    for (let d = Number(m[1]); d <= Number(m[2] ?? m[1]); d++) days.add(d % 7);
  }
  return [...days].sort((a, b) => a - b);
}

/** expression says a cron expression, "" for one that needs the gateway's words. */
export function expression(expr: string): string {
  const f = expr.trim().split(/\s+/);
  if (f.length === 6 && f[0] === "0") f.shift();
  const [min, hour, date, month, day] = f as [string, string, string, string, string];
  if (f.length !== 5 || month !== "*") return "";
  const step = /^\*\/(\d+)$/.exec(min);
  if (hour === "*" && date === "*" && day === "*") {
    if (step && 60 % Number(step[1]) === 0) return often(Number(step[1]) * minute);
    return min === "0" ? often(60 * minute) : "";
  }
  if (!/^\d+$/.test(min) || !/^\d+$/.test(hour)) return "";
  const time = timeAt(Number(hour), Number(min));
  const days = daysIn(day);
  if (/^\d+$/.test(date) && day === "*") return t("at.month", { n: date, time });
  if (date !== "*" || days === null) return "";
  if (days.length === 0 || days.length === 7) return t("at.daily", { time });
  if (days.join() === "1,2,3,4,5") return t("at.workdays", { time });
  return t("at.days", { days: weekdays(days), time });
}

/** scheduleWords says when a job runs. */
export function scheduleWords(s: CronSchedule, own?: string): string {
  switch (s.kind) {
    case "at":
      return t("at.once", { time: moment(Date.parse(s.at ?? "")) });
    case "every": {
      const time = hourOf(s);
      const words = often(s.everyMs ?? minute) + (time ? ` · ${timeAt(...time)}` : "");
      const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
      return time && s.tz !== here ? t("at.zone", { words, zone: s.tz! }) : words;
    }
    case "cron": {
      const words = expression(s.expr ?? "") || own || s.expr || "";
      return s.tz ? t("at.zone", { words, zone: s.tz }) : words;
    }
    case "on-exit":
      return t("at.exit");
    case "stream":
      return t("at.stream");
    case "watch":
      return s.watch ? watched(s.watch) : (own ?? s.kind);
  }
  return own ?? s.kind;
}

/** watched says what is looked at. */
function watched(w: CronWatched): string {
  const host = (url: string | undefined): string => (url ?? "").replace(/^[a-z]+:\/\//, "").replace(/\/$/, "");
  switch (w.source) {
    case "file":
      return t("at.file", { what: w.path ?? "" });
    case "feed":
      return t("at.feed", { what: host(w.url) });
    case "calendar":
      return t("at.calendar", { what: w.path || host(w.url) });
    case "mail":
      return t("at.mail", { what: w.user || host(w.url) });
    case "output":
      return t("at.output", { what: (w.argv ?? []).at(-1) ?? "" });
  }
  return t("at.page", { what: host(w.url) });
}

const byEvent = new Set(["on-exit", "stream", "watch"]);

/** dueWords is nextWords where the schedule does not say it already. */
export function dueWords(j: CronJob): string {
  const said = j.schedule.kind === "at" && j.state.nextRunAtMs === Date.parse(j.schedule.at ?? "");
  return said && isOn(j) && !j.state.runningAtMs ? "" : nextWords(j);
}

/** nextWords says when a job runs next, or what it waits for. */
export function nextWords(j: CronJob): string {
  const s = j.state;
  if (!isOn(j)) return t(s.autoDisabled ? "off.failed" : "off");
  if (s.runningAtMs) return t("running");
  const w = j.hearth?.watching;
  if (w?.problem) return t("watch.bad", { why: w.problem });
  if (w?.lookedAtMs) return t("watch.looked", { time: moment(w.lookedAtMs), next: w.nextLookAtMs ? moment(w.nextLookAtMs) : "…" });
  if (byEvent.has(j.schedule.kind)) return t("next.event");
  return s.nextRunAtMs ? t("next", { time: moment(s.nextRunAtMs) }) : t("next.none");
}

export const nameOf = (j: CronJob): string => j.displayName || j.name;
export const isOn = (j: CronJob): boolean => j.enabled !== false;

/** byNext are jobs in the order in which they are due, those that are off at the end. */
export function byNext(jobs: readonly CronJob[]): CronJob[] {
  const order = (j: CronJob): number => (isOn(j) ? (j.state.nextRunAtMs ?? 1e15) : Infinity);
  return jobs.toSorted((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
}

/** asText is what a person would write to have this schedule. */
export function asText(s: CronSchedule): string {
  if (s.kind === "cron") return s.expr ?? "";
  const two = (n: number): string => String(n).padStart(2, "0");
  const time = hourOf(s);
  const days = (s.everyMs ?? 0) / (1440 * minute);
  if (time) return `every ${days === 1 ? "day" : `${days} days`} at ${two(time[0])}:${two(time[1])}`;
  if (s.kind === "every") return `every ${Math.max(1, Math.round((s.everyMs ?? minute) / minute))}m`;
  if (s.kind !== "at" || !s.at) return "";
  const d = new Date(s.at);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

/** whyNot says what is wrong with a time: what cannot be read is told with examples, of what was read the gateway knows why. */
export const whyNot = (error: string): string => (error.includes("is no time that Hearth understands") ? t("when.no") : inWords(error));
