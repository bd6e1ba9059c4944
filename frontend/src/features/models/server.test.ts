import { expect, test } from "vitest";
import { moved } from "./order";
import { kilo, nameable, outcome } from "./server";

test("what a server was seen to do is one line", () => {
  const r = { model: "a/b", ok: true, tookMs: 1234, claimed: 32768, line: "", notes: [], verified: { tools: "work", at: 1 } };
  expect(outcome(r, { id: "b", name: "b", input: ["text", "image"] })).toBe("Answered in 1.2s · 32K · tools work · sees pictures");
  expect(outcome({ ...r, claimed: 0, verified: { tools: "fail", at: 1 } }, undefined)).toBe("Answered in 1.2s · no tools");
});

test.each([[32768, "32K"], [131072, "128K"], [200000, "200K"], [8000, "8K"]])("%i is %s", (n, want) => expect(kilo(n)).toBe(want));

test("a name can stand before a slash and name a key", () => {
  expect(["studio", "my.server-2", "GPU_1"].filter(nameable)).toHaveLength(3);
  expect(["", "-x", "a/b", "a b", "ü", "x".repeat(65)].filter(nameable)).toEqual([]);
});

test("one of a list goes to another place, the others keep their order", () => {
  expect(moved(["a", "b", "c", "d"], 0, 2)).toEqual(["b", "c", "a", "d"]);
  expect(moved(["a", "b", "c", "d"], 3, 0)).toEqual(["d", "a", "b", "c"]);
});
