import { expect, test } from "vitest";
import { fill, nameable } from "./fill";

test("fields are filled in once, and what is typed is text", () => {
  const text = "To {{city}} in {{ month }}, {{city}} again, {city}, {{}}, {{other}}";
  expect(fill(text, { city: "Bern", month: "{{city}} $& $1" })).toBe("To Bern in {{city}} $& $1, Bern again, {city}, {{}}, {{other}}");
  expect(fill("{{constructor}} {{__proto__}}", Object.create(null) as Record<string, string>)).toBe("{{constructor}} {{__proto__}}");
});

test("a name can be typed behind a slash", () => {
  for (const good of ["trip", "Stand-up_2", "日報", "é1"]) expect(nameable(good)).toBe(true);
  for (const bad of ["", "a b", "-x", "../x", "x".repeat(65), "/x"]) expect(nameable(bad)).toBe(false);
});
