import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryDatabase } from "../storage/database";
import { random } from "../text/random";
import { Outbox, type Entry, type Refusal } from "./outbox";

class Fail extends Error {
  constructor(readonly why: Partial<Refusal>) {
    super(why.message);
  }
}

function make(send: (e: Entry) => Promise<void>, keep = new MemoryDatabase()) {
  let list: Entry[] = [];
  let id = 0;
  const accepted: string[] = [];
  const box = new Outbox({
    keep, send, changed: (l) => (list = l), accepted: (e) => accepted.push(e.text), now: () => 1000, newId: () => `id${++id}`,
    explain: (e) => ({ message: "", retryable: false, retryAfterMs: 0, offline: false, ...(e as Fail).why }),
  });
  return { box, keep, accepted, texts: () => list.map((e) => e.text), entry: (i: number) => list[i]! };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("an entry is on disk before it is on the wire, and leaves both when acknowledged", async () => {
  const keep = new MemoryDatabase();
  const onDisk: number[] = [];
  const o = make(async () => void onDisk.push((await keep.all("outbox")).length), keep);
  o.box.setOnline(true);
  await o.box.add("s", "hello");
  await settle();
  expect(onDisk).toEqual([1]);
  expect(o.accepted).toEqual(["hello"]);
  expect(o.texts()).toEqual([]);
  expect(await keep.all("outbox")).toEqual([]);
});

test("F-WS-09: an entry is not said to wait before it would outlive the tab", async () => {
  let kept = (): void => {};
  const keep = new MemoryDatabase();
  keep.put = () => new Promise((resolve) => (kept = resolve));
  const sent: string[] = [];
  const o = make(async (e) => void sent.push(e.text), keep);
  const adding = o.box.add("s", "hello");
  expect(o.entry(0).state).toBe("sending");
  o.box.setOnline(true); // nor is it sent, and refused, before
  await settle();
  expect(sent).toEqual([]);
  o.box.setOnline(false);
  kept();
  await adding;
  expect(o.entry(0).state).toBe("waiting");
});

test("words without content are never sent", async () => {
  const o = make(async () => {});
  for (const s of ["", " ", "\n\t "]) expect(await o.box.add("s", s)).toBeNull();
  expect(o.texts()).toEqual([]);
});

test("F-WS-08: what was not acknowledged is sent again under its own key, in order, and only that", async () => {
  const sent: string[] = [];
  let fail = true;
  const o = make(async (e) => {
    sent.push(e.id + e.text);
    if (fail) throw new Fail({ retryable: true, offline: true });
  });
  await o.box.add("s", "a");
  await o.box.add("s", "b");
  expect(sent).toEqual([]);
  o.box.setOnline(true);
  await settle();
  o.box.setOnline(false);
  expect(sent).toEqual(["id1a"]);
  expect(o.entry(0).state).toBe("waiting");
  fail = false;
  o.box.setOnline(true);
  await settle();
  expect(sent).toEqual(["id1a", "id1a", "id2b"]);
  for (let i = 0; i < 100; i++) {
    o.box.setOnline(false);
    o.box.setOnline(true);
    await settle();
  }
  expect(sent).toHaveLength(3);
});

test("F-WS-09: the next visit brings back what this one could not send", async () => {
  const keep = new MemoryDatabase();
  const first = make(async () => {}, keep);
  await first.box.add("s", "one");
  await first.box.add("s", "two");
  const second = make(async () => {}, keep);
  await second.box.load();
  expect(second.texts()).toEqual(["one", "two"]);
  second.box.setOnline(true);
  await settle();
  expect(second.accepted).toEqual(["one", "two"]);
});

test("a refusal stays, says why, and does not hold up the rest", async () => {
  const o = make(async (e) => {
    if (e.text === "bad") throw new Fail({ message: "too long" });
  });
  o.box.setOnline(true);
  await o.box.add("s", "bad");
  await o.box.add("s", "good");
  await settle();
  expect(o.accepted).toEqual(["good"]);
  expect(o.entry(0)).toMatchObject({ text: "bad", state: "refused", error: "too long" });
  await o.box.discard("id1");
  expect(o.texts()).toEqual([]);
});

test("a passing failure is tried again after the time that was asked for", async () => {
  let tries = 0;
  const o = make(async () => {
    if (++tries < 3) throw new Fail({ message: "The disk is full.", retryable: true, retryAfterMs: 5000 });
  });
  o.box.setOnline(true);
  await o.box.add("s", "x");
  await settle();
  expect(o.entry(0)).toMatchObject({ state: "waiting", error: "The disk is full." });
  await vi.advanceTimersByTimeAsync(4999);
  expect(tries).toBe(1);
  await vi.advanceTimersByTimeAsync(5001);
  expect(tries).toBe(3);
  expect(o.accepted).toEqual(["x"]);
});

test("one session does not wait for another", async () => {
  const o = make((e) => (e.sessionKey === "slow" ? new Promise(() => {}) : Promise.resolve()));
  o.box.setOnline(true);
  await o.box.add("slow", "a");
  await o.box.add("fast", "b");
  await settle();
  expect(o.accepted).toEqual(["b"]);
});

test("a disk that refuses does not stop the message", async () => {
  const keep = new MemoryDatabase();
  keep.put = () => Promise.reject(new Error("quota"));
  const o = make(async () => {}, keep);
  o.box.setOnline(true);
  await o.box.add("s", "x");
  await settle();
  expect(o.accepted).toEqual(["x"]);
});

test("nothing is lost, doubled or reordered, whatever the connection and the tab do", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const rnd = random(seed);
    const keep = new MemoryDatabase();
    const server: { id: string; text: string }[] = [];
    const written: string[] = [];
    const send = async (e: Entry): Promise<void> => {
      const r = rnd();
      if (r < 0.25) throw new Fail({ retryable: true, offline: true });
      // The same key again is the same message.
      if (!server.some((m) => m.id === e.id)) server.push({ id: e.id, text: e.text });
      if (r < 0.5) throw new Fail({ retryable: true, offline: r < 0.4 });
    };
    let n = 0;
    const visit = async (): Promise<Outbox> => {
      const box = new Outbox({
        keep, send, changed: () => {}, accepted: () => {}, now: () => 5, newId: () => `k${++n}`,
        explain: (e) => ({ message: "", retryable: false, retryAfterMs: 0, offline: false, ...(e as Fail).why }),
      });
      await box.load();
      return box;
    };
    let box = await visit();
    for (let step = 0; step < 40; step++) {
      const r = rnd();
      if (r < 0.45) {
        written.push(`m${step}`);
        await box.add("s", `m${step}`);
      } else if (r < 0.65) box.setOnline(rnd() < 0.6);
      else if (r < 0.8) {
        box.stop();
        box = await visit();
      } else await vi.advanceTimersByTimeAsync(4000);
    }
    for (let i = 0; i < 200 && (await keep.all("outbox")).length > 0; i++) {
      box.setOnline(false);
      await settle();
      box.setOnline(true);
      await vi.advanceTimersByTimeAsync(4000);
    }
    box.stop();
    expect(server.map((m) => m.text), `seed ${seed}`).toEqual(written);
  }
});

test("a message that a reload kept from the disk is sent by the next visit, once and in its order", async () => {
  const keep = new MemoryDatabase();
  const cut = make(async () => {}, Object.assign(new MemoryDatabase(), { put: () => new Promise<void>(() => {}) }));
  void cut.box.add("s", "said last");
  await keep.put("outbox", "old", { id: "old", sessionKey: "s", text: "said first", at: 1, state: "waiting", error: "" });
  const next = make(async () => {}, keep);
  await next.box.load();
  expect(next.texts()).toEqual(["said first", "said last"]);
  expect(await keep.all("outbox")).toHaveLength(2);
  next.box.setOnline(true);
  await settle();
  expect(next.accepted).toEqual(["said first", "said last"]);
  const later = make(async () => {}, keep);
  await later.box.load();
  expect(later.texts()).toEqual([]);
});
