import { expect, test } from "vitest";
import { Client } from "../../net/client.svelte";
import type { Approval } from "../../net/wire";
import { Approvals } from "./approvals.svelte";

const approval = (id: string, runId: string, toolCallId: string): Approval =>
  ({ id, createdAtMs: 1_000, expiresAtMs: 9_000, request: { runId, toolCallId, command: "ls" } }) as unknown as Approval;

/** calls is a client that remembers what it was asked. */
function calls(): { client: Client; asked: [string, unknown][] } {
  const asked: [string, unknown][] = [];
  const call = (method: string, params: unknown): Promise<unknown> => (asked.push([method, params]), Promise.resolve([]));
  return { client: new Client({ call, hurry: () => undefined } as never, "me", () => undefined), asked };
}

test("a request waits for its call until it is decided, and the wait is no time of the tool", () => {
  const { client } = calls();
  const store = new Approvals(client);
  client.heard("exec.approval.requested", approval("a", "r1", "c1"));
  client.heard("exec.approval.requested", approval("a", "r1", "c1")); // told again after a reconnect
  expect(store.pending).toHaveLength(1);
  expect([store.forCall("r1", "c1")?.id, store.forCall("r2", "c1")]).toEqual(["a", undefined]);
  expect([store.asksIn("r1"), store.asksIn("r2")]).toEqual([true, false]);
  client.heard("exec.approval.resolved", { id: "a", ts: 4_500 });
  expect([store.pending.length, store.waited("r1", "c1"), store.waited("r1", "c2")]).toEqual([0, 3_500, 0]);
});

test.each([
  ["once", "allow-once"],
  ["folder", "allow-always"],
  ["never", "deny"],
] as const)("%s is told as %s", async (scope, decision) => {
  const { client, asked } = calls();
  await new Approvals(client).decide("a", scope);
  expect(asked).toEqual([["exec.approval.resolve", { id: "a", decision, hearthScope: scope }]]);
});
