import { expect, test } from "vitest";
import { strength } from "./guesses";

test.each([
  ["short", "short"],
  ["passwort", "weak"],
  ["hearth12345678", "weak"],
  ["aaaaaaaaaaaaaaaaaaaa", "weak"],
  ["abcdefghijklmnop", "weak"],
  ["horse battery staple", "weak"], // three words
  ["horse battery staple quiet", "fair"],
  ["horse battery staple quiet river", "strong"],
  ["horse horse horse horse horse horse", "weak"],
  ["vX9#qL2$wT7!", "strong"],
])("%s is %s", (pass, want) => expect(strength(pass)).toBe(want));
