import { expect, test } from "vitest";
import { lazy, mend } from "./lazy.svelte";

test("views are brought once, and again when it failed", async () => {
  let tries = 0;
  const views = lazy(() => (++tries === 1 ? Promise.reject(new Error("away")) : Promise.resolve({ View: "a view" })));
  await expect(views.load()).rejects.toThrow("away");
  expect(views.now).toBe(null);
  await Promise.all([views.load(), views.load()]);
  await views.load();
  expect([views.now, tries]).toEqual([{ View: "a view" }, 2]);
});

test("a style sheet that did not come is asked for again, and no other", () => {
  document.head.innerHTML = "";
  const add = (href: string, sheet: object | null): HTMLLinkElement => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    Object.defineProperty(link, "sheet", { get: () => sheet });
    document.head.append(link);
    return link;
  };
  const refused = {
    get cssRules(): never {
      throw new DOMException("Cannot access rules", "SecurityError");
    },
  };
  const [there, broken, coming] = [add("/a.css", { cssRules: [] }), add("/b.css", refused), add("/c.css", null)];
  mend(document);
  const links = [...document.head.querySelectorAll("link")];
  expect(links.map((l) => new URL(l.href).pathname)).toEqual(["/a.css", "/b.css", "/c.css"]);
  expect(links.map((l) => [there, broken, coming].includes(l))).toEqual([true, false, true]);
});
