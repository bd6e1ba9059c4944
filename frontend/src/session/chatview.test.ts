import { expect, test } from "vitest";
import type { Socket } from "../net/socket";
import { Chat } from "./chat.svelte";
import type { Entry } from "./outbox";

const entry = (id: string, text: string): Entry => ({ id, sessionKey: "s", text, at: 1, state: "sending", error: "" });

/** heard is a socket that answers with these histories and remembers what it was asked. */
function heard(history: object): { socket: Socket; asked: [string, unknown][] } {
  const asked: [string, unknown][] = [];
  const call = (method: string, params: unknown): Promise<unknown> => (asked.push([method, params]), Promise.resolve(history));
  return { socket: { call } as unknown as Socket, asked };
}

test("the person's own message stands before its answer, also when the answer begins before the message was acknowledged", () => {
  const chat = new Chat("s", true, heard({}).socket, () => false, () => true);
  chat.entries = [entry("r1", "hello"), entry("r2", "and this")];
  chat.run({ runId: "r1", stream: "lifecycle", seq: 1, ts: 1, sessionKey: "s", data: { phase: "start" } });
  expect(chat.rows.filter((r) => r.kind !== "day").map((r) => (r.kind === "user" ? r.msg.text : r.kind))).toEqual(["hello", "typing"]);
  expect(chat.leaving.map((e) => e.id)).toEqual(["r2"]);
});

test("a line leads to the conversation that stood there before, which is read by its id and not listened to", async () => {
  const earlier = { sessionKey: "s", sessionId: "old", title: "x", endedAt: 5, messages: 2 };
  const now = new Chat("s", false, heard({ sessionId: "new", messages: [], hasMore: false, hearthEarlier: earlier }).socket, () => false);
  await now.read();
  expect(now.rows).toMatchObject([{ kind: "begin", earlier: { sessionId: "old", messages: 2 } }]);
  const { socket, asked } = heard({ sessionId: "old", messages: [], hasMore: false });
  const past = new Chat("s", false, socket, () => false, undefined, earlier);
  await past.attach();
  past.detach();
  expect(asked).toEqual([["chat.history", { sessionKey: "s", limit: 100, sessionId: "old" }]]);
  expect(past.rows).toEqual([]);
});
