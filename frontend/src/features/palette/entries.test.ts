import { expect, test } from "vitest";
import { pick, remember, score, type Entry, type GroupId } from "./entries";

const entry = (id: string, group: GroupId, name: string, hint = ""): Entry => ({
  id, group, name, hint, icon: "edit", run: () => undefined,
});
const all = [
  entry("chat:a", "chats", "Tomatensoße kochen"), entry("chat:b", "chats", "Unsent tomato"),
  entry("do:new", "commands", "New chat"), entry("do:pause", "commands", "Pause Hearth"),
  entry("pane:models", "settings", "Models & keys", "Who answers"), entry("set:x.y", "settings", "Effort", "Models & keys"),
  entry("file:MEMORY.md", "files", "MEMORY.md"),
];
const ids = (list: Entry[]): string[] => list.map((e) => e.id);

test("all words count, marks and case do not, and a beginning counts most", () => {
  expect(score("Tomatensoße", "", "TOMÁT")).toBeGreaterThan(score("Meine Tomatensoße", "", "tomat"));
  expect(score("Meine Tomaten", "", "tomat")).toBeGreaterThan(score("Untomato", "", "tomat"));
  expect(score("New chat", "", "new pause")).toBe(0);
  expect(score("Effort", "Models & keys", "models")).toBeGreaterThan(0);
});

test("without a query: what was used last, then chats, commands and the panes", () => {
  const list = pick(all, "  ", ["do:pause", "set:x.y", "gone:1"]);
  expect(ids(list)).toEqual(["do:pause", "set:x.y", "chat:a", "chat:b", "do:new", "pane:models"]);
  expect(list.map((e) => e.group).slice(0, 3)).toEqual(["recent", "recent", "chats"]);
});

test("groups stay together, the best first, what was used before others that are as good", () => {
  expect(ids(pick(all, "tomat", []))).toEqual(["chat:a", "chat:b"]);
  expect(ids(pick(all, "mod", []))).toEqual(["pane:models", "set:x.y"]);
  const twins = [entry("chat:1", "chats", "Plan"), entry("chat:2", "chats", "Plan")];
  expect(ids(pick(twins, "plan", ["chat:2"]))).toEqual(["chat:2", "chat:1"]);
});

test("a group is no longer than a screen, and what is remembered neither", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => entry(`chat:${i}`, "chats", `Chat ${i}`));
  expect(pick(many, "chat", [])).toHaveLength(6);
  expect(remember(["a", "b"], entry("b", "chats", "B"))).toEqual(["b", "a"]);
  expect(remember(["a"], entry("message:1", "messages", "M"))).toEqual(["a"]);
  expect(remember(Array.from({ length: 30 }, (_, i) => `x${i}`), entry("n", "chats", "N"))).toHaveLength(12);
});
