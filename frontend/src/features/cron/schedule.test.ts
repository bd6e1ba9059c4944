import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CronEvent, CronJob } from "../../net/wire";
import { Schedules } from "./cron.svelte";
import { asText, daysIn, dueWords, expression, scheduleWords, whyNot } from "./schedule";

beforeEach(() => vi.useFakeTimers({ now: new Date(2026, 10, 23, 14, 10) }));
afterEach(() => vi.useRealTimers());

describe("schedules in words", () => {
  test.each([
    ["0 8 * * 1-5", /^Every weekday at .*8/],
    ["30 18 * * *", /^Every day at .*30/],
    ["0 9 * * 1,4", /Monday and Thursday at/],
    ["0 0 9 * * 1,4", /Monday and Thursday at/],
    ["*/10 * * * *", /^Every 10 minutes$/],
    ["0 * * * *", /^Every hour$/],
    ["0 12 15 * *", /^On day 15 of every month/],
    ["0 9 15 * 1", /^$/],
    ["0 9 * 6 *", /^$/],
    ["0 9 * * 1#2", /^$/],
    ["0 9-17 * * *", /^$/],
    ["", /^$/],
  ])("%s", (expr, want) => expect(expression(expr)).toMatch(want));

  test("what is due once says its time once, unless it is put off or switched off", () => {
    const at = new Date(2026, 10, 24, 9);
    const job = (more: object, state: object): CronJob =>
      ({ id: "j", name: "Tea", schedule: { kind: "at", at: at.toISOString() }, state, ...more }) as unknown as CronJob;
    expect(dueWords(job({}, { nextRunAtMs: at.getTime() }))).toBe("");
    expect(dueWords(job({}, { nextRunAtMs: at.getTime() + 600_000 }))).toMatch(/^next tomorrow/);
    expect(dueWords(job({ enabled: false }, { nextRunAtMs: at.getTime() }))).toBe("off");
    expect(dueWords(job({ schedule: { kind: "every", everyMs: 1000 } }, { nextRunAtMs: at.getTime() }))).toMatch(/^next tomorrow/);
  });

  test("what the page has no words for is said by the gateway, and zones are named", () => {
    expect(scheduleWords({ kind: "cron", expr: "0 9 * * 1#2" }, "on the second Monday")).toBe("on the second Monday");
    expect(scheduleWords({ kind: "cron", expr: "0 8 * * *", tz: "Asia/Tokyo" })).toMatch(/^Every day at .* \(Asia\/Tokyo\)$/);
    expect(scheduleWords({ kind: "every", everyMs: 86_400_000 })).toBe("Every day");
    expect(scheduleWords({ kind: "at", at: new Date(2026, 10, 24, 9).toISOString() })).toMatch(/^Once, tomorrow /);
  });

  test("whole days from a time on say that time, and are written as such", () => {
    const s = { kind: "every", everyMs: 2 * 86_400_000, anchorMs: Date.UTC(2026, 10, 24, 0, 30), tz: "Asia/Tokyo" };
    expect(scheduleWords(s)).toMatch(/^Every 2 days · 09:30.AM \(Asia\/Tokyo\)$/);
    expect(asText(s)).toBe("every 2 days at 09:30");
    expect(asText({ ...s, everyMs: 86_400_000, anchorMs: Date.UTC(2026, 10, 24, 15) })).toBe("every day at 00:00");
    const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(scheduleWords({ ...s, tz: here })).not.toContain(here);
    expect(scheduleWords({ ...s, tz: "Mars/Base" })).toBe("Every 2 days");
  });

  test("days of an expression, and what a person would write", () => {
    expect(daysIn("1-5")).toEqual([1, 2, 3, 4, 5]);
    expect(daysIn("5,7")).toEqual([0, 5]);
    expect(daysIn("MON")).toBeNull();
    expect(asText({ kind: "at", at: new Date(2026, 10, 24, 9, 5).toISOString() })).toBe("2026-11-24 09:05");
    expect(asText({ kind: "every", everyMs: 7_200_000 })).toBe("every 120m");
  });
});

describe("reminders", () => {
  const job = (over: Partial<CronJob> = {}): CronJob =>
    ({
      id: "j1",
      name: "Tea",
      schedule: { kind: "at" },
      payload: { kind: "systemEvent", text: "The tea is ready" },
      sessionTarget: "main",
      wakeMode: "now",
      state: {},
      createdAtMs: 1,
      updatedAtMs: 1,
      ...over,
    }) as CronJob;

  function make(answers: Record<string, unknown>) {
    const asked: [string, unknown][] = [];
    let hear: (name: string, payload: unknown) => void = () => undefined;
    const client = {
      call: async (m: string, p: unknown) => {
        asked.push([m, p]);
        if (!(m in answers)) throw new Error(`unknown method: ${m}`);
        return answers[m];
      },
      on: (l: typeof hear) => ((hear = l), () => undefined),
    };
    return { store: new Schedules(client as never), asked, hear: (e: Partial<CronEvent>) => hear("cron", { jobId: "j1", ...e }) };
  }

  test("an important one stays until it was seen, and a plain one can be snoozed", async () => {
    const { store, asked, hear } = make({ "hearth.cron.seen": {}, "hearth.cron.snooze": {} });
    hear({ action: "finished", runId: "r1", status: "ok", job: job({ hearth: { important: true } }) });
    expect(store.due.map((d) => [d.text, d.important])).toEqual([["The tea is ready", true]]);
    hear({ action: "finished", runId: "r2", status: "ok", job: job({ hearth: { important: true } }) });
    expect(store.due.map((d) => d.runId)).toEqual(["r2"]);
    await store.seen(store.due[0]!);
    expect(asked).toEqual([["hearth.cron.seen", { runId: "r2" }]]);
    expect(store.due).toEqual([]);
    hear({ action: "finished", runId: "r3", status: "ok", job: job({ hearth: { reminder: true } }) });
    await store.snooze(store.due[0]!, 10);
    expect(asked[1]).toEqual(["hearth.cron.snooze", { id: "j1", runId: "r3", minutes: 10 }]);
    expect(store.due).toEqual([]);
  });

  test("a run of other work is no reminder, and a failed one is none", () => {
    const { store, hear } = make({});
    hear({ action: "finished", runId: "r1", status: "ok", job: job() });
    hear({ action: "finished", runId: "r2", status: "error", job: job({ hearth: { reminder: true } }) });
    expect(store.due).toEqual([]);
    expect(store.runs).toBe(2);
  });

  test("what is planned in a conversation has a card there until it is put away or deleted", () => {
    const { store, hear } = make({});
    hear({ action: "added", job: job({ owner: { sessionKey: "agent:main:main" } }) });
    hear({ action: "added", jobId: "j2", job: job({ id: "j2" }) });
    expect(store.speaks("agent:main:main")).toBe(true);
    expect(store.speaks("agent:main:other")).toBe(false);
    hear({ action: "updated", job: job({ owner: { sessionKey: "agent:main:main" }, name: "Coffee" }) });
    expect(store.planned.map((j) => j.name)).toEqual(["Coffee"]);
    hear({ action: "removed" });
    expect(store.planned).toEqual([]);
  });

  test("a gateway without schedules is no trouble", async () => {
    const { store } = make({});
    await store.load();
    expect(store.missed).toBeNull();
    await expect(store.list()).rejects.toThrow("unknown method");
  });
});

test("a time that is over is no time that cannot be read", () => {
  expect(whyNot("1 January 2020 is over.")).toBe("1 January 2020 is over.");
  expect(whyNot("“soonish” is no time that Hearth understands; write it like “in 20 minutes”.")).toMatch(/^That is no time/);
});
