// Layout that turns around with the direction of writing: no left and right
// where there is a start and an end.
import { expect, test } from "vitest";

const files = import.meta.glob<string>(["../**/*.svelte", "../**/*.css", "../../phone/**/*.svelte"], {
  eager: true,
  query: "?raw",
  import: "default",
});

/** physical lists the declarations that would stay where they are when the page is turned around. */
function physical(css: string): string[] {
  const out: string[] = [];
  for (const [, line] of css.replace(/\/\*[^]*?\*\//g, "").matchAll(/([\w-]+\s*:[^;{}]+)(?=[;}])/g)) {
    const [name = "", value = ""] = line!.split(/:\s*/, 2);
    const four = value
      .trim()
      .replace(/\([^()]*(\([^()]*\)[^()]*)*\)/g, (m) => m.replace(/\s+/g, ""))
      .split(/\s+/);
    const turned = four.length === 4 && four[1] !== four[3];
    if (
      /^(margin|padding|border|scroll-margin|scroll-padding)-(left|right)/.test(name) ||
      /^(left|right)$/.test(name) ||
      /^border-(top|bottom)-(left|right)-radius$/.test(name)
    )
      out.push(line!);
    else if (/^(text-align|float|clear)$/.test(name) && /\b(left|right)\b/.test(value)) out.push(line!);
    else if (/^(margin|padding|inset|scroll-margin|scroll-padding)$/.test(name) && turned) out.push(line!);
    else if (
      name === "border-radius" &&
      (four[0] !== (four[1] ?? four[0]) || (four[2] ?? four[0]) !== (four[3] ?? four[1] ?? four[0])) &&
      !value.includes("/")
    )
      out.push(line!);
  }
  return out;
}

test("the check sees what it looks for", () => {
  expect(
    physical(
      "a { margin-left: 1px; padding: 1px 2px 3px 4px; inset: 0 auto auto 0; text-align: right; left: 0; border-radius: 1px 2px 3px 4px; }",
    ),
  ).toHaveLength(6);
  expect(
    physical(
      "a { margin: 1px 2px 3px 2px; padding: 0 max(1px, 2px) 0 max(1px, 2px); margin-inline-start: 1px; " +
        "text-align: start; inset-inline: 0 auto; }",
    ),
  ).toEqual([]);
});

test("the files are read", () => {
  expect(Object.values(files).filter((text) => text.length < 40)).toEqual([]);
});

test.each(Object.entries(files))("%s turns around", (file, text) => {
  const css = file.endsWith(".css") ? text : [...text.matchAll(/<style>([^]*?)<\/style>/g)].map((m) => m[1]).join("\n");
  expect(physical(css)).toEqual([]);
});
