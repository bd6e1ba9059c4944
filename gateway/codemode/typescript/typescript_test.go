package typescript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// squeezed leaves out what only looks different.
func squeezed(code string) string { return strings.Join(strings.Fields(code), " ") }

func TestTransform(t *testing.T) {
	for code, want := range map[string]string{
		"const x: Map<string, number> = f<T>(y as unknown as T, z!); return x": "const x = f(y, z); return x;",
		"return await (a satisfies B)":                                         "return await a;",
		"interface A { b: C }\ntype D = A | typeof e; declare const g: number": "",
		"class A { constructor(private x: number, readonly y = 2) { f() } }": "class A { constructor(x, y = 2) { this.x = x; " +
			"this.y = y; f(); } x; y; }",
		"enum E { A = 1 << 2, B = 'x' } return E.A":                                           `let E; ((E2) => { E2[E2["A"] = 4] = "A"; E2["B"] = "x"; })(E || (E = {})); return 4 /* A */;`,
		"abstract class A<T> { abstract f(): void; declare b: T; c!: T; static #d?: number }": "class A { c; static #d; }",
		"f(this_ => this_, async <T,>(x: T): Promise<T> => x)":                                "f((this_) => this_, async (x) => x);",
		"'use strict'; return 08 satisfies number":                                            "",
		"type A = import('x').B; let a: typeof import('y'); return 1":                         "let a; return 1;",
		"a ? (b) : e => d; x = a < b && c > d":                                                "a ? b : (e) => d; x = a < b && c > d;",
		"if (ok) b = 1 / 2; const r = /[/\"]`/g, u = 'ü'": "if (ok) b = 1 / 2; const r = /[/\"]`/g, u = " +
			"\"\\xFC\";",
		"export_(1); obj.import('x'); obj.require; ({ import: 1, export: 2 })": "export_(1); obj.import(\"x\"); obj.require; " +
			"({ import: 1, export: 2 });",
	} {
		js, _, err := Transform(t.Context(), code)
		if strings.HasPrefix(code, "'use strict'") {
			if err == nil {
				t.Errorf("%q: an octal number in strict code", code)
			}
			continue
		}
		if err != nil || squeezed(js) != want {
			t.Errorf("Transform(%q) =\n%s\nwant\n%s\n%v", code, squeezed(js), want, err)
		}
	}
}

// TestPlaces is the rule that what stands somewhere in the program leads to
// where it stands in the text.
func TestPlaces(t *testing.T) {
	const source = "interface A {\n\tb: C;\n}\n\nconst ü: A = f<A>(1 as any)\nenum E { X,\n  Y = g() }\nusing u = h();\n@k class L {}\n" +
		"return `a\n${m(ü)}` as string"
	js, places, err := Transform(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string][2]int{"f(1": {5, 14}, "g()": {7, 7}, "h()": {8, 11}, "k]": {9, 2}, "m(": {11, 3},
		"return `": {10, 1}} {
		at := strings.Index(js, word)
		if at < 0 {
			t.Fatalf("no %q in\n%s", word, js)
		}
		if line, column := places.Source(position(js, at)); line != want[0] || column != want[1] {
			t.Errorf("%q leads to %d:%d, not %v", word, line, column, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for code, want := range map[string]string{
		"let a: = 1":                         `line 1:8: unexpected "="`,
		"a\n  b c":                           `line 2:5: expected ";" but found "c"`,
		"f(":                                 "line 1:2: this ( is never closed",
		"\n f({]":                            "line 2:5: unexpected ]: the { of line 2 is still open",
		"\n'abc":                             "line 2:1: this string has no end",
		"x = `a${b":                          "line 1:5: this ` is never closed",
		"x = `a":                             "line 1:5: this template has no end",
		"/* a":                               "line 1:1: this comment has no end",
		"return 1 +":                         "line 1:11: unexpected end of the program",
		"})(); evil(); (async()=>{":          "line 1:1: unexpected }: nothing is open that it would close",
		"ü = 1; ö ä":                         `line 1:10: expected ";" but found "ä"`,
		"namespace N { export const a = 1 }": "line 1:11: namespaces with code in them are not supported",
		"return <div/>":                      `line 1:12: expected ">" but found "/"`,
		"let a = 1\nlet a = 2":               `line 2:5: the symbol "a" has already been declared`,
		"if (a) else b":                      `line 1:8: unexpected "else"`,
		"break":                              "line 1:1: cannot use \"break\" here",
		"if (a) /b/.test(c)":                 "line 1:8: this / may divide or begin a regular expression",
		"\xff":                               "the program is not UTF-8 text",
		"a <!-- b":                           "line 1:3: comments of HTML are not supported",
		strings.Repeat("!", 5000) + "a":      "nested deeper than 1000 levels",
		strings.Repeat(" ", MaxSource+1):     "a TypeScript program may have 128 KB",
	} {
		_, _, err := Transform(t.Context(), code)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("Transform(%.60q): %v, want %q", code, err, want)
		}
	}
}

// TestModules asks what the parse says, not the text.
func TestModules(t *testing.T) {
	for code, want := range map[string]string{
		"import fs from 'fs'; return 1":         "1:1 import",
		"import 'fs'":                           "",
		"\n  const x = await import('fs')":      "2:19 import()",
		"const n = 'fs'; await import(n)":       "1:23 import()",
		"f(async () => import(`f${1}`))":        "1:15 import()",
		"import.meta.url":                       "1:1 import.meta",
		"export default 1":                      "1:1 export",
		"let a;\nexport const b = 1":            "2:1 export",
		"require('fs')":                         "1:1 require",
		"const r = require; r('fs')":            "1:11 require",
		"(0, require)('fs')":                    "1:5 require",
		"requ\\u0069re('fs')":                   "1:1 require",
		"({ require })":                         "1:4 require",
		"{ const require = 1 } require('fs')":   "1:23 require",
		"typeof require; typeof require('x')":   "1:24 require",
		"x = 1 / 2; require('/')":               "1:12 require",
		"import { a } from 'b'":                 "1:1 import",
		"f(); module.exports = 1":               "1:6 module",
		"if (a) { (/'/).test(b) }; import('c')": "1:27 import()",

		"// import('fs')\nreturn 'import(\"x\")'":           "",
		"const s = `require('x')`; return s":                "",
		"`${`import('x')`}`":                                "",
		"/require('x')/.test(a)":                            "",
		"obj.require('x'); obj.import('y'); a?.require(1)":  "",
		"({ import: 1, require() { }, export: 2 })":         "",
		"({ require: 1 }).require":                          "",
		"const require = (x) => x; require('ok')":           "",
		"f(); function require() {} require('ok')":          "",
		"function f(require) { return () => require('x') }": "",
		"try { } catch (require) { require() }":             "",
		"class require { a() { return require } }":          "",
		"typeof require === 'undefined'":                    "",
		"importance; exporter; requirement":                 "",
		"a.b.module.exports = 1":                            "",
		"this is no program but 'import'":                   "",
	} {
		if want == "" && code == "import 'fs'" {
			want = "1:1 import"
		}
		err := Modules(t.Context(), code)
		got := ""
		var m *ModuleError
		if errors.As(err, &m) {
			got = strings.TrimPrefix(strings.Split(m.Error(), " is not")[0], "line ")
			got = strings.Replace(got, ": ", " ", 1)
		} else if err != nil {
			t.Errorf("Modules(%q): %v", code, err)
		}
		if got != want {
			t.Errorf("Modules(%q) = %q, want %q", code, got, want)
		}
		if _, _, err := Transform(t.Context(), code); errors.As(err, &m) != (want != "") {
			t.Errorf("Transform(%q): %v", code, err)
		}
	}
	var m *ModuleError
	if _, _, err := Transform(t.Context(), "import type { A } from './a'; return 1"); !errors.As(err, &m) {
		t.Errorf("a type is imported: %v", err)
	}
}

// TestHonestPrograms: what people write is far from the bounds.
func TestHonestPrograms(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../../../frontend/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".ts") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if wrong := check(string(data)); wrong != nil {
			t.Errorf("%s: %v", path, wrong)
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Fatal(files, err)
	}
	many := strings.Repeat
	for name, code := range map[string]string{
		"no semicolons": many("const a = b.c(d, e => e.f)\nif (a) {\n  g(a)\n}\n", 2000),
		"methods":       "class A {\n" + many("  async a(b: C): Promise<D> {\n    return await e.f(b)\n  }\n", 1500) + "}",
		"a table":       "const a: Row[] = [\n" + many("  { id: 1, name: 'x', on: true, tags: ['a', 'b'], of: null },\n", 1800) + "]",
		"an object":     "const a = {\n" + many("  key: value.of(1),\n", 3000) + "}",
		"an interface":  "interface A {\n" + many("  key?: Map<string, number>\n  other: string\n", 2000) + "}",
		"a long text":   "return `" + many("<p>${a.b(c)}</p>\n", 5000) + "`",
		"a long sum":    "return ''" + many(" +\n  'text ' + a.b", 900),
		"a long chain":  "return a" + many("\n  .map((b) => b + 1)", 450),
		"else if": many("if (a) {\n  b()\n} else if (c) {\n  d()\n}\n", 500) + "if (a) { b() }" + many(" else if (c === 'd') { e() }",
			300),
		"cases":          "switch (a) {\n" + many("  case 'b':\n    c();\n    break;\n", 1000) + "}",
		"choices":        "return a" + many("\n  ? b\n  : c === 'd'", 400) + " ? e : f",
		"divisions":      many("const a = (b / c) * (d / e) - f(g) / 2 // half\nfor (let i = 0; i < n; i++) h += i++ / 2\n", 900),
		"type arguments": many("const a = new Map<string, Array<Record<string, number>>>()\nif (a < b && c > d) f<T>(a)\n", 900),
	} {
		if len(code) > MaxSource {
			t.Errorf("%s has %d bytes", name, len(code))
		}
		if wrong := check(code); wrong != nil {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

func TestAbort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Transform(ctx, "return 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// FuzzTransform feeds texts: none may end the process, and what is wrong stands
// within the text.
func FuzzTransform(f *testing.F) {
	for _, s := range []string{
		"let a: number = (b as T)!", "f = async <T>(x: T): Promise<T> => x", "a ? (b) : c => d", "enum E { A, B = 'x' }",
		"class A<T> { private constructor(public a?: T) {} }", "`${a<b>`c`}`", "x < y > (z)", "for (let a of /b/) {}", "type A = {", "a\n" +
			"/b/ /'/", "import('x')",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		_ = Modules(t.Context(), code)
		_, _, err := Transform(t.Context(), code)
		var wrong *Error
		if errors.As(err, &wrong) && (wrong.Line < 1 || wrong.Line > 1+strings.Count(code, "\n")+strings.Count(code, "\r")+strings.Count(code,
			"\u2028")+strings.Count(code, "\u2029") || wrong.Column < 1) {
			t.Errorf("%q: %v", code, err)
		}
		var module *ModuleError
		if err != nil && wrong == nil && !errors.As(err, &module) {
			t.Errorf("%q: %v", code, err)
		}
	})
}
