// Times, spans and lists as this person's language writes them.
import { locale } from "./words.svelte";

const hm = { hour: "2-digit", minute: "2-digit" } as const;
const dm = { day: "numeric", month: "short" } as const;
const made = new Map<string, Intl.DateTimeFormat>();

/** written is a point in time in a form of Intl.DateTimeFormat. */
export function written(ts: number, form: Intl.DateTimeFormatOptions): string {
  const key = locale() + Object.entries(form);
  let f = made.get(key);
  if (!f) made.set(key, (f = new Intl.DateTimeFormat(locale(), form)));
  return f.format(ts);
}

const dayNumber = (ts: number): number => {
  const d = new Date(ts);
  return Math.round(Date.UTC(d.getFullYear(), d.getMonth(), d.getDate()) / 86_400_000);
};

/** stamp is a point in time, to the second. */
export const stamp = (ts: number): string => written(ts, { ...dm, ...hm, second: "2-digit" });

const unit = (n: number, unit: string, digits = 0): string =>
  new Intl.NumberFormat(locale(), {
    style: "unit",
    unit,
    unitDisplay: "narrow",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(n);

/** span is how long something took, in its two largest units. */
export function span(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 60) return unit(s, "second", 1);
  const [big, small, of] =
    s < 3600 ? (["minute", "second", 60] as const) : s < 86_400 ? (["hour", "minute", 60] as const) : (["day", "hour", 24] as const);
  const n = Math.round(s / { second: 1, minute: 60, hour: 3600 }[small]);
  return `${unit(Math.floor(n / of), big)} ${unit(n % of, small)}`;
}

export const timeOf = (ts: number): string => written(ts, hm);

/** dayName heads a part of the conversation. */
export function dayName(ts: number, now = Date.now()): string {
  const ago = dayNumber(now) - dayNumber(ts);
  if (ago === 0 || ago === 1) return capital(new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(-ago, "day"));
  const year = new Date(ts).getFullYear() === new Date(now).getFullYear();
  return written(ts, { day: "numeric", month: "long", ...(year ? { weekday: "long" } : { year: "numeric" }) });
}

/** shortTime stands at the end of a line in the list of chats. */
export function shortTime(ts: number, now = Date.now()): string {
  const ago = dayNumber(now) - dayNumber(ts);
  if (ago <= 0) return timeOf(ts);
  return written(ts, ago < 7 ? { weekday: "short" } : dm);
}

/** timeAt is a time of the day. */
export const timeAt = (hour: number, minute: number): string => timeOf(new Date(2001, 0, 1, hour, minute).getTime());

/** moment is a point in time as people say it: today and tomorrow by name, the next days by their own. */
export function moment(ts: number, now = Date.now()): string {
  const days = dayNumber(ts) - dayNumber(now);
  const time = timeOf(ts);
  if (days >= -1 && days <= 1) return `${new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(days, "day")} ${time}`;
  if (days > 1 && days < 7) return `${written(ts, { weekday: "long" })} ${time}`;
  const year = new Date(ts).getFullYear() === new Date(now).getFullYear();
  return `${written(ts, year ? dm : { ...dm, year: "numeric" })} ${time}`;
}

/** dayShort heads a day of a calendar. */
export const dayShort = (ts: number): string => written(ts, { weekday: "short", ...dm });

/** weekdays names days of the week, 0 is Sunday. */
export const weekdays = (days: number[]): string =>
  capital(list(days.map((d) => written(new Date(2001, 0, 7 + d, 12).getTime(), { weekday: days.length > 2 ? "short" : "long" }))));

/** dayOf writes a date that came as 2026-11-21. */
export const dayOf = (date: string): string => written(new Date(date + "T12:00").getTime(), dm);

/** list joins names as a sentence does. */
export const list = (names: string[]): string => new Intl.ListFormat(locale(), { type: "conjunction" }).format(names);

const capital = (s: string): string => s.charAt(0).toLocaleUpperCase(locale()) + s.slice(1);

export function greetingKey(now = new Date()): "hello.morning" | "hello.day" | "hello.evening" {
  const h = now.getHours();
  return h >= 5 && h < 12 ? "hello.morning" : h >= 12 && h < 18 ? "hello.day" : "hello.evening";
}
