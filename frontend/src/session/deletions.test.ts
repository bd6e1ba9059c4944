import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../net/client.svelte";
import { CallError } from "../net/socket";
import type { SessionRow } from "../net/wire";
import { draftOf, keepDraft, keptDeletions } from "../storage/local";
import { asked, Deletions, waits } from "./deletions";
import { Sessions } from "./sessions.svelte";

const now = Date.UTC(2026, 10, 29);
const day = 24 * 3600 * 1000;
const chat = (key: string): SessionRow => ({ key, kind: "direct", sessionId: `id-${key}`, agentId: "main", updatedAt: 7 }) as SessionRow;
const offline = new CallError("OFFLINE", "away", true);
const changed = new CallError("INVALID_REQUEST", "Session a changed before deletion. Retry.", false);

/** page is one load of the page over what the browser keeps: its list has the chats a and b. */
function page({ refuse, unsent = false, online = true }: { refuse?: CallError; unsent?: boolean; online?: boolean } = {}) {
  const deleted: unknown[] = [];
  const answer = (): Promise<unknown> => (refuse ? Promise.reject(refuse) : Promise.resolve({}));
  const call = (_: string, params: unknown): Promise<unknown> => (deleted.push(params), answer());
  const complained: unknown[] = [];
  const sessions = new Sessions(new Client({ call, hurry: () => undefined } as never, "me", (e) => complained.push(e)));
  sessions.list = [chat("a"), chat("b")];
  const deletions = new Deletions({ sessions, online: () => online, unsent: () => unsent });
  return { sessions, deletions, deleted, complained, shown: () => sessions.shown.map((s) => s.key) };
}

const kept = (): string[] => keptDeletions().map(([key]) => key);
const expected = { key: "a", expectedSessionId: "id-a", expectedSessionUpdatedAt: 7 };

beforeEach(() => {
  vi.useFakeTimers({ now });
  localStorage.clear();
});
afterEach(() => vi.useRealTimers());

test("only what says of which chat it is, and is not old, may be carried out", () => {
  const good = { at: now, sessionId: "x", updatedAt: 1 };
  expect(asked("a", good, now)).toEqual({ key: "a", ...good });
  for (const bad of [null, 3, "x", {}, { ...good, at: "1" }, { ...good, sessionId: "" }, { ...good, updatedAt: undefined }])
    expect(asked("a", bad, now)).toBeNull();
  expect(asked("", good, now)).toBeNull();
  expect(asked("a", good, now + 31 * day)).toBeNull();
  expect(asked("a", good, now - 31 * day)).toBeNull();
});

test("another window has the time to undo it, whatever the clock does", () => {
  const at = (ms: number): number => waits({ key: "a", at: now, sessionId: "x", updatedAt: 1 }, now + ms);
  expect([at(0), at(9_000), at(10_000), at(day), at(-day)]).toEqual([10_000, 1_000, 0, 0, 10_000]);
});

test("what is deleted here is kept until the gateway did it; what is undone is not kept", async () => {
  const p = page();
  p.deletions.ask(chat("a"), () => undefined);
  p.deletions.ask(chat("b"), () => undefined);
  expect([p.shown(), kept()]).toEqual([[], ["a", "b"]]);
  p.deletions.undo("b");
  expect([p.shown(), kept()]).toEqual([["b"], ["a"]]);
  await p.deletions.settle(); // a new connection deletes nothing that can still be taken back
  expect(p.deleted).toEqual([]);
  await p.deletions.carryOut("a");
  expect([p.shown(), kept(), p.deleted]).toEqual([["b"], [], [{ key: "a", archivedOnly: false }]]);
  // One that cannot be deleted is there again, and the person hears why.
  const q = page({ refuse: offline });
  q.deletions.ask(chat("a"), () => undefined);
  await q.deletions.carryOut("a");
  expect([q.shown(), kept(), q.complained]).toEqual([["a", "b"], [], [offline]]);
});

test("a page that goes deletes at once and offers nothing more; without a connection it leaves it to the next page", async () => {
  const withdrawn: string[] = [];
  const p = page();
  p.deletions.ask(chat("a"), () => withdrawn.push("a"));
  p.deletions.leave();
  expect([withdrawn, p.deleted]).toEqual([["a"], [{ key: "a" }]]);
  await vi.advanceTimersByTimeAsync(0);
  expect(kept()).toEqual([]);
  const q = page({ online: false });
  q.deletions.ask(chat("a"), () => withdrawn.push("no"));
  q.deletions.leave();
  expect([withdrawn, q.deleted, kept()]).toEqual([["a"], [], ["a"]]);
  // What did not get there is kept, also for a page that comes back.
  const r = page({ refuse: offline });
  keepDraft("b", "half a thought");
  r.deletions.ask(chat("b"), () => undefined);
  r.deletions.leave();
  await vi.advanceTimersByTimeAsync(0);
  expect([r.shown(), kept(), draftOf("b"), r.complained]).toEqual([[], ["a", "b"], "half a thought", []]);
});

test("the next page deletes what was left behind once nobody can undo it, if the chat is what it was", async () => {
  page().deletions.ask(chat("a"), () => undefined);
  localStorage.setItem("hearth.deleting.b", "{nonsense");
  const p = page();
  expect([p.shown(), kept()]).toEqual([["b"], ["a"]]);
  await p.deletions.settle();
  expect(p.deleted).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([p.deleted, p.shown(), kept()]).toEqual([[expected], ["b"], []]);
});

test("a chat that was used since stays, and the deletion is forgotten", async () => {
  for (const o of [{ refuse: changed }, { unsent: true }]) {
    page().deletions.ask(chat("a"), () => undefined);
    const p = page(o);
    await p.deletions.settle();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([p.deleted, p.shown(), kept()]).toEqual([o.unsent ? [] : [expected], ["a", "b"], []]);
  }
});

test("what is undone in another window meanwhile is shown again; a lost connection leaves it for the next one", async () => {
  const other = page();
  other.deletions.ask(chat("a"), () => undefined);
  const p = page({ refuse: offline });
  await p.deletions.settle();
  other.deletions.undo("a");
  await vi.advanceTimersByTimeAsync(10_000);
  expect([p.deleted, p.shown()]).toEqual([[], ["a", "b"]]);
  other.deletions.ask(chat("a"), () => undefined);
  await p.deletions.settle();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([p.deleted, p.shown(), kept()]).toEqual([[expected], ["b"], ["a"]]);
});
