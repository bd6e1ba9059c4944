package typescript

import (
	"errors"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// TestOracle compares small programs, each for one rule of the language.
func TestOracle(t *testing.T) {
	for name, code := range map[string]string{
		"annotations":            "let a: number = 1, b!: string, [c, d]: [x: number, y?: string] = f(); const {e, f: g = 1}: {e: T; f?: U} = h",
		"end of line":            "let a: number\n(b)\nlet c = d as T\n[1].map(x)\nlet e = f satisfies U\n`t`\nreturn <T>g\n(h)",
		"alias before a bracket": "foo()\ntype A = B\n(bar)()\ninterface C {}\n[1].x()",
		"functions":              "function f<T extends {a: 1}, const U = any>(this: Window, a?: T, ...b: U[]): asserts a is T { return }\nfunction g(this: X) {}",
		"overloads":              "function f(a: string): void\nfunction f(a: number): void;\nfunction f(a: any) {}",
		"arrows":                 "f = (a: number, {b}: T = {}): b is T => a; g = <T,>(x: T): T => x; h = async <T>(x: T): Promise<T> => await x; i = async x => x; j = (x?) => x",
		"arrow lines":            "f = (a): {\n b: 1\n} => a\ng = async <\nT\n>(x) => x",
		"arrow or choice":        "a ? (b) : c => d; a ? (b): c => d : e; a ? (b, c) : d; a ? (x): number => x : y; a ? async (x): Promise<T> => x : z",
		"calls":                  "f<T>(x); new Map<string, Array<number>>(); g<A<B<C>>>(1); h<T>`x`; a?.<T>(b); a?.b<T>(c); new X<T>; i<<T>(x: T) => T>(j)",
		"comparisons":            "a < b; a < b > c; (a < b) > (c); f(a < b, c > d); a << b; a >> b >>> c; a >= b; a >>= 1; a = b <c>= d; a<b>>c; x = a<b>-c; if (a < b && c > d) e()",
		"casts":                  "a as T; a as T | U; (a as any) = 1; a as T as U; a satisfies T; a!; a!.b!.c; a![0]!; a! + b; <T>a; <T><U>b.c(); x = <any>{}; f = () => <T>{a: 1}; a as const; a as {b: 1}['b'][]",
		"cast and operator":      "a + b as number * 2; a as number + 1; a as T && b; a as T ? b : c; (a as T) < b || 1",
		"as in names":            "let as = 1; as as any; type = 1; declare = 2; abstract = 3; let satisfies = 4; namespace = 5; module = 6; (is, keyof, infer); type; declare\nfoo",
		"classes":                "abstract class A<T> extends B<C>.D<T> implements E, F<G> { private a?: T; readonly b!: U = 1; static #c: number; declare d: X; abstract e: Y; abstract f(): void; [key: string]: any; get g(): T { return 1 } set g(v: T) {} async *h<T>(): any {} static { x } override i = 1; constructor(a: T); constructor(a: any) { super() } static async = 1;\nget; set; static; public static readonly j = <T>(x) => x }",
		"members without ;":      "class A { a = 1\n private [b] = 2\n public *c() {}\n d: number\n [e] = 1\n f\n readonly in = 1 }",
		"declarations":           "declare const a: T, b\ndeclare function f(): void\ndeclare class A { b(): c; d: e }\ndeclare enum E { A }\ndeclare abstract class B { abstract c() }\ndeclare let c: T;(x)",
		"types":                  "type A<T> = T extends infer U extends string ? `${U}-x${A<U>}` : T extends (infer V)[] ? V : keyof typeof a.b<c>; type B = {readonly [K in keyof T as `x${K}`]-?: T[K]}; type C = {+readonly [k: string]: T}; type D = | 'a' | -1 | 1n | null | void; type E = abstract new (...a: any[]) => asserts x is Y; type F = (a: 1, b?) => this is T; type G = unique symbol; type H = [a: 1, b?: 2, ...c: D[], ...E]; type I = readonly string[]; type J = import('x').Y<Z>; type K = {a(): b; new (c): d; <T>(e): f; get g(): h; set g(i); [Symbol.x]: j\n k\n 'l'?: m, 1: n}; type L = ({a}: B) => c; type M = ([a]) => b; type N = ({a: 1}); type O = typeof import('x'); type P = (new () => T) | (() => U)",
		"equal":                  "type A<T, U> = (<V>() => V extends T ? 1 : 2) extends <V>() => V extends U ? 1 : 2 ? true : false",
		"loops":                  "for (const a of b as T[]) {} for (let i: number = 0, j = <any>1; i < j; i++) {} for (var k in l) {} for await (const m of n) {} for (let o = (p in q); ;) break\nfor (a.b of c);",
		"statements":             "a: for (;;) { continue a } if (a) b; else if (c) d; else e\ndo x as T\nwhile (y) try { } catch (e: unknown) { } finally { } switch (a as T) { case b as U: c; default: d } try {} catch {} with_: 1; throw <T>a",
		"objects":                "x = { a, b: 1 as T, c<T>(d: T): U {}, get e(): T { return 1 }, set e(v: T) {}, async f(): Promise<T> {}, *g(): any {}, [h as string]: 1, async, get, set, 'i'() {}, 1: 2, ...j as T, async *k() {}, get: 1, async: 2, get [l]() { return 1 } }",
		"templates":              "`a${b as T}c${`d${<U>e}`}f`; f<T>`a${1}`; `${{a: `}`}.a}`; `\\`${1}`; `$`; `$${1}$`",
		"regular expressions":    "a = /b[/\\]]c/g.test(d) / 2 / e; if (a) /b/.test(c); (a) / b / c; x = a ? /b/ : /c/; return /=/.exec(a as string)",
		"numbers and strings":    "1..toString(); 1.5e-10; 0x1F; 1_000n; .5; 'a\\\nb'; a?.5:1; 'it\\'s'; \"\\\"\"; 08; 1.e5",
		"words":                  "let \\u0061bc: T = 1; ünï: 1; let 変数: string = 'x'; \U00020000 = 1; a.if.class.new; ({ if: 1, class: 2 }); async; async(x); async (x) + 1; await (x); let yield_ = 1",
		"generators":             "function* g(): Iterable<T> { yield; yield* a as T; const b: U = yield c; yield\nd; return [yield, yield] }",
		"optional":               "a?.b!.c; a?.[b as T]; a?.(b!); (a?.b)!.c; a ?? b!; a ||= b as T; a ??= <T>c; a! ??= 1",
		"new and import.meta":    "new a.b!.C<T>(d); new (a as any)(); new new A()(); new.target; new A; new A().b",
		"spread":                 "f(...a as T[], ...<U>b); [...a!, , b]; ({...a!} as T); g((a, b) as T)",
		"private in":             "class A { #a; b(c: A) { return #a in c && #a in (c as A) } }",
		"comments":               "let a /* x: */ : /* type */ number /* y */ = 1 // : number\n/* as T */ f(/* <T> */ a as /* ) */ T)",
		"definite":               "class A { a!: number\n b?: T\n c?\n d!\n 'e'?: T; 1: T; [f]?: T; #g?: T; h?(): void; i?() {} }",
		"index of then":          "const a = b as any as {c: d}[]\n;[1]; const e = (f as G)<H>(1)",
	} {
		t.Run(name, func(t *testing.T) { checkAgainst(t, code) })
	}
}

// TestPlace is the rule that every line and column of what stays is its own.
func TestPlace(t *testing.T) {
	for _, code := range []string{
		"const x: Map<string, {\n a: 1 }> = f<T>(y as unknown as T, z!);\nthrow new Error('here')",
		"interface A {\n\tb: ü;\n}\nabstract class C implements D { private e?: F = 1 }",
		"let ü: 'ß' = g as 'é'\n(h)",
		"function f(this: T, a?: U): asserts a {}\r\ntype X =\r\n  | A\r\n  | B\r\nreturn f",
	} {
		js, err := Transform(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		from, to := []rune(code), []rune(js)
		if len(from) != len(to) {
			t.Fatalf("%d characters became %d:\n%s", len(from), len(to), js)
		}
		for i := range from {
			if from[i] != to[i] && to[i] != ' ' && to[i] != ';' {
				t.Errorf("character %d of %q became %q", i, code, to[i])
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for code, want := range map[string]string{
		"let a: = 1":                         "line 1:8: unexpected =: expected a type",
		"a\n  b c":                           "line 2:5: unexpected c: expected ; or a new line",
		"f(":                                 "line 1:3: unexpected the end of the program: expected )",
		"\n'abc":                             "line 2:1: this string has no end",
		"x = `a${":                           "the end of the program",
		"/* a":                               "line 1:1: this comment has no end",
		"})(); evil(); (async()=>{":          "line 1:1: unexpected }",
		"@dec class A {}":                    "line 1:1: decorators are not supported",
		"class A { @dec b() {} }":            "decorators are not supported",
		"namespace N { export const a = 1 }": "line 1:1: namespaces",
		"const ü: T = 'x' as;":               "line 1:20: unexpected ;: expected a type",
		"return <div/>":                      "unexpected /: expected",
		"enum E { A = 'x', B }":              "the member after one with a text",
		"x = function f(): void":             "expected {",
		"class A extends B { constructor(private x) { f() } }": "super() as a statement",
		"if (a) else b": "unexpected else",
	} {
		_, err := Transform(t.Context(), code)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("Transform(%q): %v, want %q", code, err, want)
		}
	}
}

// TestModules asks the parse, not the text, whether a program wants a module.
func TestModules(t *testing.T) {
	for code, want := range map[string]string{
		"import fs from 'fs'; return 1":              "1:1 import",
		"import 'fs'":                                "1:1 import",
		"\n  const x = await import('fs')":           "2:19 import()",
		"const n = 'fs'; await import(n)":            "1:23 import()",
		"f(async () => import(`f${1}`))":             "1:15 import()",
		"(a, import('x')) + 1":                       "1:5 import()",
		"import.meta.url":                            "1:1 import.meta",
		"import.source('x')":                         "1:1 import.source",
		"export default 1":                           "1:1 export",
		"export const a = 1":                         "1:1 export",
		"require('fs')":                              "1:1 require",
		"const r = require; r('fs')":                 "1:11 require",
		"(0, require)('fs')":                         "1:5 require",
		"requ\\u0069re('fs')":                        "1:1 require",
		"({ require })":                              "1:4 require",
		"f = (a = require('x')) => a":                "1:10 require",
		"{ const require = 1 } require('fs')":        "1:23 require",
		"(require => require('a'))(b); require('c')": "1:31 require",
		"module.exports = 1; require":                "1:1 module",
		"typeof require; typeof require('x')":        "1:24 require",
		"x = 1 / 2; require('/')":                    "1:12 require",
		"import { a } from":                          "1:1 import",
		"require('a'); this is no program":           "1:1 require",

		"// import('fs')\nreturn 'import(\"x\")'":           "",
		"const s = `require('x')`; return s":                "",
		"`${`import('x')`}`":                                "",
		"/* require('x') */ 1":                              "",
		"/require('x')/.test(a)":                            "",
		"obj.require('x'); obj.import('y'); a?.require(1)":  "",
		"({ import: 1, require() { }, export: 2 })":         "",
		"({ require: 1 }).require":                          "",
		"const require = (x) => x; require('ok')":           "",
		"require('ok'); var require; function f() {}":       "",
		"f(); function require() {} require('ok')":          "",
		"(function require() { return require })":           "",
		"function f(require) { return () => require('x') }": "",
		"const f = ({ a: [require = 1] }) => require(1)":    "",
		"try { } catch (require) { require() }":             "",
		"for (const require of x) require()":                "",
		"class require { a() { return require } }":          "",
		"typeof require === 'undefined'":                    "",
		"importance; exporter; requirement":                 "",
		"module.exports_; const m = module":                 "",
		"a.b.module.exports = 1":                            "",
		"import('":                                          "1:1 import()",
		"this is no program but 'import'":                   "",
	} {
		err := Modules(t.Context(), code, JavaScript)
		got := ""
		var m *ModuleError
		if errors.As(err, &m) {
			got = strings.TrimPrefix(strings.Split(m.Error(), " is not")[0], "line ")
			got = strings.Replace(got, ": ", " ", 1)
		} else if err != nil {
			t.Errorf("Modules(%q): %v", code, err)
		}
		if code == "module.exports = 1; require" && got == "1:1 module" {
			continue
		}
		if got != want {
			t.Errorf("Modules(%q) = %q, want %q", code, got, want)
		}
		if _, err := Transform(t.Context(), code); errors.As(err, &m) != (want != "") {
			t.Errorf("Transform(%q): %v", code, err)
		}
	}
}

// TestAmbient erases what only a file of its own may declare.
func TestAmbient(t *testing.T) {
	const code = "declare namespace N { export const a: '}'; }\ndeclare module 'x' { export function f(): void }\n" +
		"declare module 'y';declare global { interface X { a: `}` } }\nreturn 1"
	js, err := Transform(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(js), ""); got != ";;;;return1" {
		t.Errorf("%q", js)
	}
}

func TestModulesOfTypes(t *testing.T) {
	for _, code := range []string{"type A = import('x').B; return 1", "let a: typeof import('x')", "declare const require: any", "let a: typeof require = 1"} {
		if _, err := Transform(t.Context(), code); err != nil {
			t.Errorf("Transform(%q): %v", code, err)
		}
	}
	if _, err := Transform(t.Context(), "import type { A } from './a'; return 1"); err == nil {
		t.Error("a type is imported")
	}
}

// FuzzTransform feeds texts. The parser stays within its bounds, and what
// esbuild takes as a program in both languages it takes from us.
func FuzzTransform(f *testing.F) {
	for _, s := range []string{
		"let a: number = (b as T)!", "f = async <T>(x: T): Promise<T> => x", "a ? (b) : c => d", "enum E { A, B = 'x' }",
		"class A<T> { private constructor(public a?: T) {} }", "`${a<b>`c`}`", "x < y > (z)", "for (let a of /b/) {}", "type A = {",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		_ = Modules(t.Context(), code, JavaScript)
		js, err := Transform(t.Context(), code)
		if err != nil || len(code) > 4096 || strings.Contains(code, "enum") {
			return
		}
		if strings.Count(js, "\n") != strings.Count(code, "\n") {
			t.Errorf("the lines of %q moved: %q", code, js)
		}
		want, ok := normal(code, api.LoaderTS)
		if !ok {
			return
		}
		got, ok := normal(js, api.LoaderJS)
		if !ok {
			t.Errorf("%q became %q, which is no program", code, js)
		}
		if !strings.Contains(code, "/*") && !strings.Contains(code, "//") && !parameterProperty.MatchString(code) && squeezed(want) != squeezed(got) {
			t.Errorf("%q became %q:\n%s\nnot\n%s", code, js, got, want)
		}
	})
}

// squeezed leaves out what only looks different: esbuild keeps some ends of
// lines, and a statement that went leaves a semicolon.
func squeezed(code string) string {
	return strings.NewReplacer(" ", "", "\n", "", ";", "").Replace(code)
}
