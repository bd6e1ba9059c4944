import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Backoff } from "./backoff";
import { CallError, Socket, type LinkState } from "./socket";
import type { Auth } from "./wire";

interface Sent {
  type: string;
  id: string;
  method: string;
  params: Record<string, unknown> & { auth?: Auth; device?: { nonce: string } };
}

class FakeSocket {
  onmessage: ((e: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  sent: Sent[] = [];
  closed = false;
  send(s: string): void {
    this.sent.push(JSON.parse(s) as Sent);
  }
  close(): void {
    this.closed = true;
  }
  say(o: unknown): void {
    this.onmessage?.({ data: typeof o === "string" ? o : JSON.stringify(o) });
  }
  event(event: string, payload: unknown = {}, seq?: number): void {
    this.say({ type: "event", event, payload, seq });
  }
  answer(payload: unknown, i = -1): void {
    this.say({ type: "res", id: this.sent.at(i)!.id, ok: true, payload });
  }
  refuse(code: string, detail: string): void {
    this.say({ type: "res", id: this.sent.at(-1)!.id, ok: false, error: { code, message: "no", details: { code: detail } } });
  }
}

const hello = { type: "hello-ok", protocol: 4, policy: { tickIntervalMs: 30_000 }, auth: {}, snapshot: {} };

function make(auth: Auth | null = { deviceToken: "t" }) {
  const sockets: FakeSocket[] = [];
  const states: LinkState[] = [];
  const events: [string, unknown][] = [];
  let gaps = 0;
  const socket = new Socket({
    url: "ws://x/",
    version: "1",
    platform: "p",
    identity: { id: "d", publicKey: "k", sign: async (s) => "sig:" + s },
    credentials: async () => auth,
    onState: (s) => states.push(s),
    onEvent: (n, p) => events.push([n, p]),
    onGap: () => gaps++,
    random: () => 0,
    open: () => {
      const s = new FakeSocket();
      sockets.push(s);
      return s as unknown as WebSocket;
    },
  });
  const last = (): FakeSocket => sockets.at(-1)!;
  const greet = async (): Promise<void> => {
    last().event("connect.challenge", { nonce: "n", ts: 42 });
    await vi.advanceTimersByTimeAsync(0);
    last().answer(hello);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { socket, sockets, states, events, last, greet, gaps: () => gaps, at: () => states.at(-1)?.at };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the handshake signs the challenge and asks for what the page needs", async () => {
  const s = make();
  s.socket.start();
  await s.greet();
  expect(s.at()).toBe("open");
  const { method, params } = s.last().sent[0]!;
  expect(method).toBe("connect");
  expect(params).toMatchObject({
    minProtocol: 4,
    maxProtocol: 4,
    role: "operator",
    caps: ["tool-events", "hearth.deltas"],
    auth: { deviceToken: "t" },
  });
  expect(params.device).toMatchObject({ id: "d", nonce: "n", signedAt: 42 });
  expect((params.device as unknown as { signature: string }).signature).toContain("|42|t|n|p|");
  s.socket.stop();
});

test("answers find their questions, also out of order", async () => {
  const s = make();
  s.socket.start();
  await s.greet();
  const a = s.socket.call("models.list", {});
  const b = s.socket.call("agents.list", {});
  s.last().answer({ b: 1 }, -1);
  s.last().answer({ a: 1 }, -2);
  expect(await Promise.all([a, b])).toEqual([{ a: 1 }, { b: 1 }]);
  const c = s.socket.call("models.list", {}).catch((e: CallError) => [e.code, e.retryable]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await c).toEqual(["TIMEOUT", true]);
  s.socket.stop();
});

test("a lost connection fails what waits, comes back slower each time, and at once when asked", async () => {
  const s = make();
  s.socket.start();
  await s.greet();
  const call = s.socket.call("models.list", {}).catch((e: CallError) => e.code);
  s.last().onclose!();
  expect(await call).toBe("OFFLINE");
  await expect(s.socket.call("models.list", {})).rejects.toMatchObject({ code: "OFFLINE" });
  expect(s.at()).toBe("waiting");
  await vi.advanceTimersByTimeAsync(799);
  expect(s.sockets).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(s.sockets).toHaveLength(2);
  s.last().onclose!();
  s.socket.hurry();
  expect(s.sockets).toHaveLength(3);
  await s.greet();
  expect(s.at()).toBe("open");
  s.socket.stop();
});

test("F-WS-06: silence longer than two ticks counts as lost", async () => {
  const s = make();
  s.socket.start();
  await s.greet();
  await vi.advanceTimersByTimeAsync(55_000);
  s.last().event("tick", {});
  await vi.advanceTimersByTimeAsync(55_000);
  expect(s.at()).toBe("open");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(s.at()).not.toBe("open");
  expect(s.sockets[0]!.closed).toBe(true);
  s.socket.stop();
});

test("F-WS-02: a jump in the sequence is noticed, within one connection only", async () => {
  const s = make();
  s.socket.start();
  await s.greet();
  s.last().event("chat", { n: 1 }, 7);
  s.last().event("chat", { n: 2 }, 8);
  s.last().event("tick");
  expect(s.gaps()).toBe(0);
  s.last().event("chat", { n: 3 }, 10);
  expect(s.gaps()).toBe(1);
  s.last().onclose!();
  s.socket.hurry();
  await s.greet();
  s.last().event("chat", { n: 4 }, 1);
  expect(s.gaps()).toBe(1);
  expect(s.events.filter(([n]) => n === "chat")).toHaveLength(4);
  s.socket.stop();
});

test.each([
  ["INVALID_REQUEST", "AUTH_DEVICE_TOKEN_MISMATCH", "refused"],
  ["INVALID_REQUEST", "AUTH_BOOTSTRAP_TOKEN_INVALID", "refused"],
  ["INVALID_REQUEST", "AUTH_RATE_LIMITED", "refused"],
  ["NOT_PAIRED", "PAIRING_REQUIRED", "refused"],
  ["UNAVAILABLE", "", "waiting"],
])("%s %s makes the link %s", async (code, detail, want) => {
  const s = make();
  s.socket.start();
  s.last().event("connect.challenge", { nonce: "n", ts: 1 });
  await vi.advanceTimersByTimeAsync(0);
  s.last().refuse(code, detail);
  await vi.advanceTimersByTimeAsync(0);
  expect(s.at()).toBe(want);
  const n = s.sockets.length;
  await vi.advanceTimersByTimeAsync(60_000);
  if (want === "refused") expect(s.sockets.length).toBe(n);
  else expect(s.sockets.length).toBeGreaterThan(n);
  s.socket.stop();
});

test("without credentials nothing is presented", async () => {
  const s = make(null);
  s.socket.start();
  s.last().event("connect.challenge", { nonce: "n", ts: 1 });
  await vi.advanceTimersByTimeAsync(0);
  expect(s.states.at(-1)).toEqual({ at: "refused", code: "AUTH_MISSING", message: "" });
  expect(s.last().sent).toEqual([]);
  s.socket.stop();
});

test("a gateway that says nothing, or nonsense, is given up on and tried again", async () => {
  const s = make();
  s.socket.start();
  await vi.advanceTimersByTimeAsync(12_001);
  expect(s.at()).toBe("waiting");
  s.socket.hurry();
  s.last().say("{not json");
  expect(s.at()).toBe("waiting");
  s.socket.hurry();
  await s.greet();
  s.last().say({ type: "res", id: "999", ok: true });
  s.last().say({ type: "what" });
  expect(s.at()).toBe("open");
  s.socket.stop();
});

test("a restart, an end and a lost connection are told apart", async () => {
  const s = make();
  s.socket.start();
  await s.greet();
  s.last().event("shutdown", { reason: "gateway restarting", restartExpectedMs: 3000 });
  s.last().onclose!();
  expect(s.states.at(-1)).toMatchObject({ at: "waiting", restarting: true, quit: false });
  s.socket.hurry();
  await s.greet();
  s.last().onclose!();
  expect(s.states.at(-1)).toMatchObject({ at: "waiting", restarting: false, quit: false });
  s.socket.hurry();
  await s.greet();
  s.last().event("shutdown", { reason: "gateway stopping" });
  s.last().onclose!();
  expect(s.states.at(-1)).toMatchObject({ at: "waiting", restarting: false, quit: true });
  s.socket.hurry(); // it was started again
  await s.greet();
  s.last().onclose!();
  expect(s.states.at(-1)).toMatchObject({ at: "waiting", restarting: false, quit: false });
  s.socket.stop();
});

test("waiting times grow to fifteen seconds and are shortened at random", () => {
  const full = new Backoff(() => 0);
  expect(Array.from({ length: 8 }, () => full.next())).toEqual([800, 1360, 2312, 3930, 6682, 11359, 15000, 15000]);
  const short = new Backoff(() => 1);
  expect(short.next()).toBe(533);
  full.reset();
  expect(full.next()).toBe(800);
});
