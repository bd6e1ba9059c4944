import { expect, test } from "vitest";
import type { Message } from "../../net/wire";
import { fileName, written } from "./written";

const all = [
  { role: "user", content: [{ type: "text", text: "<script>alert(1)</script> & so" }], timestamp: 0 },
  { role: "assistant", content: [{ type: "toolCall", id: "t", name: "read" }], timestamp: 1 },
  { role: "toolResult", content: [{ type: "text", text: "of a tool" }], timestamp: 2 },
  { role: "assistant", content: [{ type: "text", text: "**yes**" }], timestamp: 3 },
] as Message[];
const names = { title: 'A "b" <i>', you: "You", hearth: "Hearth", when: () => "now" };

test("Markdown has what was said", () =>
  expect(written(all, "md", names)).toBe(
    '# A "b" <i>\n\n## You, now\n\n<script>alert(1)</script> & so\n\n## Hearth, now\n\n**yes**\n',
  ));

test("HTML runs nothing of it", () => {
  const page = new DOMParser().parseFromString(written(all, "html", names), "text/html");
  expect(page.querySelectorAll("script, i, img")).toHaveLength(0);
  expect(page.querySelector("p")!.textContent).toBe("<script>alert(1)</script> & so");
  expect(page.title).toBe(names.title);
  expect(page.querySelector("meta[http-equiv]")!.getAttribute("content")).toContain("default-src 'none'");
});

test("JSONL has every entry", () => {
  const lines = written(all, "jsonl", names).trimEnd().split("\n");
  expect(lines.map((l) => JSON.parse(l) as unknown)).toEqual(all);
});

test.each([
  ["a/b\\c: d?", "a b c d.md"], ["\u202egnp.exe\u0000", "gnp.exe.md"], ["...", "chat.md"], ["", "chat.md"], ["日記", "日記.md"],
])("%j is saved as %j", (title, want) => expect(fileName(title, "md").replace(/ +/g, " ")).toBe(want));
