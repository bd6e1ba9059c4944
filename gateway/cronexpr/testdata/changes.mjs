// node changes.mjs | gzip -9n > testdata/changes.json.gz   (npm i croner@11.0.1)
//
// build/test --only croner runs it, and compares what croner says with ours.
//
// What croner says around every change of clocks 2026–2030, of every zone of the
// tz database. Zones whose clocks go alike stand together.
import { existsSync, readFileSync } from 'node:fs';
import { Cron } from 'croner';

const first = Date.UTC(2026, 0, 1), last = Date.UTC(2031, 0, 1), day = 86_400_000;
// An expression, how far before a change it is asked, and for how many runs.
const expressions = [
  ['*/30 * * * *', 120, 8], ['0 * * * *', 180, 7], ['15,45 * * * *', 120, 8], ['7 */2 * * *', 300, 5], ['*/20 */3 * * *', 300, 6],
  ['0 30 * * * *', 120, 5], ['0 0 * * *', 1560, 3], ['30 0 * * *', 1560, 3], ['15 1 * * *', 1560, 3], ['45 1 * * *', 1560, 3],
  ['0 2 * * *', 1560, 3], ['30 2 * * *', 1560, 3], ['0 3 * * *', 1560, 3], ['30 23 * * *', 1560, 3], ['0 12 * * 1-5', 1560, 3],
  ['30 1 * * 0', 1560, 2], ['30 2 L * *', 1560, 2], ['0 0 * * 7#1', 1560, 2], ['0,30 2 * * *', 1560, 4], ['20 1-3 * * *', 1560, 7],
];
const database = '/usr/share/zoneinfo/tzdata.zi';
const names = existsSync(database) ? [] : Intl.supportedValuesOf('timeZone'); // without the second names of zones
for (const line of names.length ? [] : readFileSync(database, 'utf8').split('\n')) {
  const f = line.split(/\s+/);
  if (f[0] === 'Z') names.push(f[1]);
  if (f[0] === 'L') names.push(f[2]);
}
function clock(zone) {
  const f = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', hour: 'numeric' });
  return at => {
    const m = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(f.format(at));
    return m[1] ? (m[1] === '-' ? -1 : 1) * (m[2] * 60 + +m[3]) : 0;
  };
}
const groups = new Map();
let refused = 0;
for (const zone of names.sort()) {
  let offset;
  try { offset = clock(zone) } catch { refused++; continue }
  const changes = [];
  let was = offset(first);
  const begin = was;
  for (let at = first + day; at <= last; at += day) {
    const now = offset(at);
    if (now === was) continue;
    let lo = at - day, hi = at;
    while (hi - lo > 60_000) {
      const mid = Math.floor((lo + hi) / 120_000) * 60_000;
      if (offset(mid) === was) lo = mid; else hi = mid;
    }
    changes.push([hi, was, now]);
    was = now;
  }
  const key = JSON.stringify([begin, changes]);
  if (!groups.has(key)) groups.set(key, { zones: [], begin, changes });
  groups.get(key).zones.push(zone);
}
const out = { expressions: expressions.map(e => e[0]), groups: [] };
for (const g of groups.values()) {
  const at = g.changes.length ? g.changes : [[Date.UTC(2026, 2, 29, 1), g.begin, g.begin], [Date.UTC(2029, 9, 28, 1), g.begin, g.begin]];
  const row = { zones: g.zones, changes: [] };
  for (const [t, before, after] of at) {
    const runs = expressions.map(([e, lead, n]) => {
      const c = new Cron(e, { timezone: g.zones[0], paused: true });
      return [lead, ...c.nextRuns(n, new Date(t - lead * 60_000)).map(d => (d - t) / 60_000)];
    });
    row.changes.push({ at: t / 60_000, before, after, runs });
  }
  out.groups.push(row);
}
console.error(names.length, 'zones,', refused, 'unknown here,', out.groups.length, 'kinds of clocks,', out.groups.reduce((n, g) => n + g.changes.length, 0), 'changes');
console.log(JSON.stringify(out));
