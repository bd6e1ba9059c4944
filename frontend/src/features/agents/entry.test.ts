import { expect, test } from "vitest";
import { asked, face, type Entry } from "./entry";

test("what a person did not touch stays, and what they took back goes", () => {
  const now = {
    id: "cook", default: true, workspace: "~/Cook", identity: { name: "Cook", emoji: "🍳", theme: "dry", avatar: "a.png" },
    model: { primary: "a/b", fallbacks: ["c/d"] }, skills: ["x"], tools: { profile: "coding", deny: ["exec"] },
  } as Entry;
  expect(asked(now, { id: "", identity: { name: "Chef", emoji: "" , theme: "warm" }, model: "e/f", tools: {} })).toEqual({
    id: "cook", default: true, workspace: "~/Cook", identity: { name: "Chef", theme: "warm", avatar: "a.png" },
    model: { primary: "e/f", fallbacks: ["c/d"] }, tools: { deny: ["exec"] },
  });
  expect(asked({ id: "a" }, { id: "", skills: [], tools: { profile: "minimal" }, model: "" })).toEqual({
    id: "a", identity: {}, skills: [], tools: { profile: "minimal" },
  });
});

test("a face is an emoji or two letters as people see them", () => {
  expect([face(" 🦊 "), face("👩‍👩‍👧‍👦"), face("🇵🇪🇨🇭"), face("hello"), face("")]).toEqual(["🦊", "👩‍👩‍👧‍👦", "🇵🇪🇨🇭", "he", ""]);
});
