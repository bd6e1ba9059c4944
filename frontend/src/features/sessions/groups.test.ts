import { expect, test } from "vitest";
import type { SessionRow } from "../../net/wire";
import { groupOf, rowsOf } from "./groups";

const now = new Date(2026, 2, 31, 9, 30).getTime();
const at = (d: number, h = 12): number => new Date(2026, 2, 31 - d, h).getTime();
const chat = (key: string, updatedAt: number, more: Partial<SessionRow> = {}): SessionRow =>
  ({ key, updatedAt, kind: "direct", sessionId: key, agentId: "main", ...more }) as SessionRow;

test.each([
  [at(0, 0), "today"], [at(1, 23), "yesterday"], [at(1, 0), "yesterday"], [at(2, 23), "week"], [at(7, 12), "week"],
  [at(8, 12), "month"], [at(29, 12), "month"], [at(40), "older"], [now + 60_000, "today"],
])("a chat of %d stands under %s", (ts, want) => expect(groupOf(ts, now)).toBe(want));

test("yesterday has 23 hours when the clock changes", () => {
  // Where it does not, this is any other night.
  const morning = new Date(2026, 2, 30, 8).getTime();
  expect(groupOf(new Date(2026, 2, 29, 0, 30).getTime(), morning)).toBe("yesterday");
  expect(groupOf(new Date(2026, 2, 28, 23, 30).getTime(), morning)).toBe("week");
});

test("pinned ones come first, then folders by name, then days and years", () => {
  const list = [
    chat("p", at(90), { pinned: true, category: "Work" }), chat("a", at(0)), chat("w", at(1), { category: "Work" }),
    chat("g", at(2), { category: "Garden" }), chat("b", at(5)), chat("o", at(100)), chat("oo", at(400)),
  ];
  const rows = rowsOf(list, now, new Set(["folder/Work"]));
  expect(rows.map((r) => (r.kind === "head" ? `${r.group} ${r.name}${r.year || ""}`.trim() : r.key))).toEqual([
    "pinned", "p", "folder Garden", "g", "folder Work", "today", "a", "week", "b", "older 2025", "o", "oo",
  ]);
  expect(rowsOf(list, now, new Set(), true).map((r) => r.key)).toEqual(list.map((s) => s.key));
});

test("10,000 chats are laid out within a frame or two", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => chat(`k${i}`, at(i / 20), i % 9 === 0 ? { category: `f${i % 5}` } : {}));
  const from = performance.now();
  const rows = rowsOf(many, now, new Set());
  console.info(`rowsOf of ${many.length}: ${(performance.now() - from).toFixed(1)} ms`);
  expect(rows.filter((r) => r.kind === "chat")).toHaveLength(10_000);
});
