import { expect, test } from "vitest";
import { lazy } from "./lazy.svelte";

test("views are brought once, and again when it failed", async () => {
  let tries = 0;
  const views = lazy(() => (++tries === 1 ? Promise.reject(new Error("away")) : Promise.resolve({ View: "a view" })));
  await expect(views.load()).rejects.toThrow("away");
  expect(views.now).toBe(null);
  await Promise.all([views.load(), views.load()]);
  await views.load();
  expect([views.now, tries]).toEqual([{ View: "a view" }, 2]);
});
