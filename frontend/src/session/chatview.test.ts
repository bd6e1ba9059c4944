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

test("a chat that is deleted elsewhere is empty and says so, until something is said in it; one that is new says nothing", async () => {
  let history: object = { sessionId: "", messages: [], hasMore: false };
  const socket = { call: () => Promise.resolve(history) } as unknown as Socket;
  const chat = new Chat("s", true, socket, () => false);
  const read = async (h: object): Promise<[boolean, number]> => {
    history = { hasMore: false, ...h };
    await chat.read();
    return [chat.gone, chat.rows.length];
  };
  const message = { role: "user", content: [{ type: "text", text: "a" }], timestamp: 1, __openclaw: { id: "m1", seq: 1, runId: "r1" } };
  expect(await read({ sessionId: "", messages: [] })).toEqual([false, 0]);
  expect(await read({ sessionId: "one", messages: [message] })).toEqual([false, 2]);
  expect(await read({ sessionId: "", messages: [] })).toEqual([true, 0]);
  expect(await read({ sessionId: "", messages: [] })).toEqual([true, 0]);
  expect(await read({ sessionId: "two", messages: [message] })).toEqual([false, 2]);
  // Begun anew is not deleted.
  expect(await read({ sessionId: "three", messages: [] })).toEqual([false, 0]);
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
