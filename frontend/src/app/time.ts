// Times as this person's computer writes them.
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const withYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const words = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const dayNumber = (ts: number): number => {
  const d = new Date(ts);
  return Math.round(Date.UTC(d.getFullYear(), d.getMonth(), d.getDate()) / 86_400_000);
};

const exact = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** stamp is a point in time, to the second. */
export const stamp = (ts: number): string => exact.format(ts);

/** span is how long something took. */
export const span = (ms: number): string => (ms < 60_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`);

export const timeOf = (ts: number): string => clock.format(ts);

/** dayName heads a part of the conversation. */
export function dayName(ts: number, now = Date.now()): string {
  const ago = dayNumber(now) - dayNumber(ts);
  if (ago === 0 || ago === 1) return capital(words.format(-ago, "day"));
  return new Date(ts).getFullYear() === new Date(now).getFullYear() ? full.format(ts) : withYear.format(ts);
}

/** shortTime stands at the end of a line in the list of chats. */
export function shortTime(ts: number, now = Date.now()): string {
  const ago = dayNumber(now) - dayNumber(ts);
  if (ago <= 0) return clock.format(ts);
  if (ago < 7) return weekday.format(ts).slice(0, 3);
  return date.format(ts);
}

const capital = (s: string): string => s.charAt(0).toLocaleUpperCase() + s.slice(1);

export function greetingKey(now = new Date()): "hello.morning" | "hello.day" | "hello.evening" {
  const h = now.getHours();
  return h >= 5 && h < 12 ? "hello.morning" : h >= 12 && h < 18 ? "hello.day" : "hello.evening";
}
