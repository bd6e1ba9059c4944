// Points in time that stand in the gateway's English ("14:05 on 4 Mar", "Friday 27
// November 2026 at 09:00"), as this person's language writes them.
import { written } from "./time";

const months = "January February March April May June July August September October November December".split(" ");
const days = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const names = months.map((m) => `${m}|${m.slice(0, 3)}`).join("|");
const time = String.raw`(\d?\d):(\d\d)(?: ([AP])M)?`;
const shape = new RegExp(
  String.raw`^(?:${time} on )?(?:(${days.join("|")}),? )?(\d?\d) (${names})(?: (\d{4}))?(?:,? (?:at )?${time})?$`,
);

/** dated is text in the person's language if it is a day, with or without year and time; undefined: it is
 *  something else. The clock shows what it showed in the zone of who wrote it. */
export function dated(text: string, thisYear = new Date().getUTCFullYear()): string | undefined {
  const m = shape.exec(text);
  if (!m) return undefined;
  const [, h1, m1, half1, weekday, day = "", month = "", year, h2, m2, half2] = m;
  const [hour, minute = "0", half] = [h1 ?? h2, m1 ?? m2, half1 ?? half2];
  const index = months.findIndex((one) => one.startsWith(month));
  const hours = half ? (Number(hour) % 12) + (half === "P" ? 12 : 0) : Number(hour ?? 0);
  // Without a year it is the nearest in which there is such a day, and with that name.
  const years = year ? [Number(year)] : [0, 1, -1, 2, -2, 3, -3, 4, -4].map((n) => thisYear + n);
  const at = years
    .map((y) => new Date(Date.UTC(y, index, Number(day), hours, Number(minute))))
    .find((d) => d.getUTCMonth() === index && (!weekday || days[d.getUTCDay()] === weekday));
  if (!at) return undefined;
  return written(at.getTime(), {
    timeZone: "UTC",
    day: "numeric",
    month: month.length > 3 ? "long" : "short",
    ...(weekday && { weekday: "long" }),
    ...(year && { year: "numeric" }),
    ...(hour !== undefined && { hour: "2-digit", minute: "2-digit" }),
  });
}
