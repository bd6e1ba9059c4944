import { expect, test, vi } from "vitest";
import { fixOf } from "./repair";

test("a repair has a button, a strange one has none", () => {
  const fixer = vi.fn();
  fixOf("unlock", fixer)?.act();
  expect(fixer).toHaveBeenCalledWith("unlock");
  expect(fixOf("add-key", fixer)?.label).toBe("Add a key");
  for (const r of ["retry", "", undefined, "constructor", "of-tomorrow"]) expect(fixOf(r, fixer)).toBeNull();
});
