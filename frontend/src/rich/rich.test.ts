import { describe, expect, test } from "vitest";
import { artifactOf } from "./artifact";
import { typeset } from "./formula";
import { near } from "./remote";
import { csv, number, sorted } from "./table";

describe("formulas", () => {
  const deep = "{".repeat(500) + "x" + "}".repeat(500);
  test("are elements of a closed set, without addresses", () => {
    for (const tex of ["\\frac{a}{b}", "\\href{javascript:alert(1)}{x}", "\\url{https://evil.example}",
      "\\includegraphics{https://evil.example/a.png}",
      "\\htmlId{app}{x}", "\\htmlStyle{position:fixed}{x}",
      "\\htmlData{confirm=x}{y}", "\\htmlClass{skip}{x}", "<img src=x onerror=alert(1)>"]) {
      const host = typeset(tex, true);
      if (typeof host === "string") continue;
      for (const e of host.querySelectorAll("*")) {
        expect(e.namespaceURI).toMatch(/^http:\/\/www\.w3\.org\/(?:1999\/xhtml|1998\/Math\/MathML|2000\/svg)$/);
        expect(e.localName).not.toMatch(/^(?:a|img|script|style|iframe|object|link|form|image|use|foreignObject)$/);
        for (const a of e.attributes) expect(a.name).not.toMatch(/^(?:on|href|src|id$|data-|xlink)/);
        expect((e as HTMLElement).style?.position ?? "").not.toBe("fixed");
      }
    }
  });

  test("Sec A-UI-21: bombs cost little and stay what was written", () => {
    const bombs = [
      "\\def\\a{xxxxxxxxxx}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a}" +
        "\\def\\c{\\b\\b\\b\\b\\b\\b\\b\\b}\\def\\d{\\c\\c\\c\\c\\c\\c\\c\\c}\\d\\d\\d\\d",
      "\\def\\a{\\a\\a}\\a", "\\newcommand{\\f}[1]{\\f{#1#1}}\\f{x}", "\\let\\a\\a\\a", deep, "x".repeat(10_000), "\\frac".repeat(1000),
    ];
    for (const tex of bombs) expect(typeof typeset(tex, false), tex.slice(0, 40)).toBe("string");
    // What one formula defines the next one does not know.
    typeset("\\gdef\\mine{1}", false);
    expect(typeof typeset("\\mine", false)).toBe("string");
    const wide = typeset("\\rule{9999em}{9999em}\\kern9999em x", false) as HTMLElement;
    for (const e of wide.querySelectorAll<HTMLElement>("[style]")) {
      expect(parseFloat(e.style.width || e.style.height || "0")).toBeLessThan(50);
    }
  });
});

describe("tables", () => {
  const make = (...rows: string[][]): HTMLTableElement => {
    const table = document.createElement("table");
    const body = table.createTBody();
    for (const cells of rows) {
      const row = body.insertRow();
      for (const c of cells) row.insertCell().textContent = c;
    }
    return table;
  };
  const order = (rows: string[][], down = false): string[] => sorted([...make(...rows).rows], 0, down).map((r) => r.cells[0]!.textContent);

  test("numbers are read as people write them", () => {
    const cases = { "1,200": 1200, "1.200,50": 1200.5, "3,5": 3.5, "$1,200": 1200, "−4": -4, "-€5": -5, "12 %": 12, "1e3": 1000, "~7": 7 };
    for (const [cell, n] of Object.entries(cases)) expect(number(cell), cell).toBe(n);
    for (const cell of ["", "abc", "1.2.3", "5 kg", "--1"]) expect(number(cell), cell).toBeNaN();
  });

  test("are sorted as numbers or as words, empty cells last", () => {
    expect(order([["10"], ["9"], [""], ["1,000"]])).toEqual(["9", "10", "1,000", ""]);
    expect(order([["10"], ["9"], [""], ["1,000"]], true)).toEqual(["1,000", "10", "9", ""]);
    expect(order([["b2"], ["b10"], ["A"]])).toEqual(["A", "b2", "b10"]);
  });

  test("as CSV, where no cell is a formula of a spreadsheet", () => {
    const table = make(["a,b", 'say "x"', "two\nlines"], ["=1+1", "@x", "-1.5"], ["+cmd|' /C calc'!A0", "-2+3", "-5 %"]);
    expect(csv(table)).toBe(`"a,b","say ""x""","two\nlines"\r\n'=1+1,'@x,-1.5\r\n'+cmd|' /C calc'!A0,'-2+3,-5 %\r\n`);
  });
});

test("pictures are shown from sites, not from this machine or its network", () => {
  const ours = ["localhost", "127.0.0.1", "192.168.1.1", "[::1]", "router", "nas.local", "x.internal", "2130706433"];
  for (const host of ours) expect(near(host), host).toBe(true);
  for (const host of ["example.org", "pictures.example"]) expect(near(host), host).toBe(false);
});

test("which blocks are things of their own", () => {
  expect(artifactOf("html", "", "<title>Clock</title>")).toMatchObject({ kind: "html", title: "Clock", named: true });
  expect(artifactOf("svg", "sun.svg", "<svg/>")).toMatchObject({ kind: "svg", title: "sun.svg" });
  expect(artifactOf("xml", "", "<svg/>")?.kind).toBe("svg");
  expect(artifactOf("html", "", "<p>x</p>")).toMatchObject({ named: false });
  expect(artifactOf("go", "", "x := 1")).toBeNull();
  expect(artifactOf("go", "main.go", "x := 1")).toMatchObject({ kind: "code", title: "main.go" });
  expect(artifactOf("constructor", "", "x")).toBeNull();
});
