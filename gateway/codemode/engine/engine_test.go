package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
)

// cacheDir keeps the compiled engine for all tests of one run.
const cacheDir = "HEARTH_TEST_ENGINE_CACHE"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv(cacheDir, dir); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func newEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = os.Getenv(cacheDir)
	}
	e := New(o)
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if n := len(e.vms); n != 0 {
			t.Errorf("%d machines are left", n)
		}
	})
	return e
}

// patient gives a program that is to come to its own end all the time that a
// busy machine may take; its limits are not what such a test is about.
func patient(l Limits) Limits {
	if l.Timeout == 0 {
		l.Timeout = time.Hour
	}
	return l
}

// run starts a program and answers every call with null until it ends.
func run(t testing.TB, e *Engine, p Program) (State, *Error) {
	t.Helper()
	p.Limits = patient(p.Limits)
	v, st, err := e.Start(t.Context(), p)
	if v != nil {
		defer v.Close()
	}
	out := st.Output
	for range 20 {
		if err != nil || st.Done {
			break
		}
		var answers []Settled
		for _, c := range st.Calls {
			answers = append(answers, Settled{ID: c.ID})
		}
		st, err = v.Settle(t.Context(), answers)
		out = append(out, st.Output...)
	}
	st.Output = out
	return st, asError(t, err)
}

func asError(t testing.TB, err error) *Error {
	t.Helper()
	var own *Error
	if err != nil && !errors.As(err, &own) {
		t.Fatalf("an error of another kind: %v", err)
	}
	return own
}

func wantCode(t testing.TB, err error, want Code) {
	t.Helper()
	if own := asError(t, err); own == nil || own.Code != want {
		t.Fatalf("got %v, want %s", err, want)
	}
}

func TestValues(t *testing.T) {
	e := newEngine(t, Options{})
	for code, want := range map[string]string{
		"1":                                   `null`,
		"return":                              `null`,
		"return undefined":                    `null`,
		"return null":                         `null`,
		"return NaN":                          `null`,
		"return 'a\\u0000b'":                  `"a\u0000b"`,
		"return '\\udc00'":                    `"\udc00"`,
		"return '\u00e9\u20ac\U0001f600'":     "\"\u00e9\u20ac\U0001f600\"",
		"return 5n":                           `"5"`,
		"return { a: 5n, b: [6n] }":           `{"a":"5","b":["6"]}`,
		"return Symbol('x')":                  `"Symbol(x)"`,
		"return function f() {}":              `"[function f]"`,
		"return { f() {}, u: undefined }":     `{}`,
		"return new Error('no')":              `"Error: no"`,
		"return new Map([[1, 2]])":            `{}`,
		"return new Date(0)":                  `"1970-01-01T00:00:00.000Z"`,
		"return new Uint8Array(2)":            `{"0":0,"1":0}`,
		"const a = {}; a.a = a; return a":     `{"a":"[Circular]"}`,
		"const a = [1]; a.push(a); return a":  `[1,"[Circular]"]`,
		"const b = {}; return { x: b, y: b }": `{"x":{},"y":{}}`,
		"const b = { n: 1n }; return { x: b, y: [b, b] }":                       `{"x":{"n":"1"},"y":[{"n":"1"},{"n":"1"}]}`,
		"return new Proxy({ a: 1 }, {})":                                        `{"a":1}`,
		"return { toJSON() { return undefined } }":                              `null`,
		"return Promise.resolve(7)":                                             `7`,
		"Object.prototype.toJSON = () => 3; return { a: 1 }":                    `3`,
		"JSON.stringify = () => 'x'; Map.prototype.get = 1; return [1]":         `[1]`,
		"Promise.prototype.then = () => { throw 1 }; return 1":                  `1`,
		"Object.freeze(globalThis); Object.freeze(Promise.prototype); return 3": `3`,
		"return new Intl.NumberFormat().format(1)":                              "",
		"return { get a() { throw new Error('bang') } }":                        "",
		"return { toJSON() { throw new Error('bang') } }":                       "",
		"return new Proxy({}, { ownKeys() { throw new Error('bang') } })":       "",
	} {
		st, err := run(t, e, Program{Code: code})
		switch {
		case want == "":
			if err == nil || err.Code != "" {
				t.Errorf("%s: got %s, %v", code, st.Value, err)
			}
		case err != nil || string(st.Value) != want:
			t.Errorf("%s: got %s, %v, want %s", code, st.Value, err, want)
		}
	}
}

func TestOutputKeepsItsOrder(t *testing.T) {
	e := newEngine(t, Options{})
	st, err := run(t, e, Program{Code: `text("a"); json({ b: 1 }); text({ c: 2 }); await tools.call("x"); text("\ud800"); json(undefined)`})
	want := []Output{
		{Type: "text", Text: "a"}, {Type: "json", Value: json.RawMessage(`{"b":1}`)}, {Type: "text", Text: `{"c":2}`},
		{Type: "text", Text: "\ufffd"}, {Type: "json", Value: json.RawMessage(`null`)},
	}
	if diff := cmp.Diff(want, st.Output); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	e := newEngine(t, Options{})
	for _, c := range []struct {
		code, message string
		line, column  int
	}{
		{"throw new Error('x')", "Error: x", 1, 11},
		{"\n\n  nope()", "ReferenceError: nope is not defined", 3, 3},
		{"function f() {\n  null.a\n}\nf()", "TypeError: cannot read property 'a' of null", 2, 3},
		{"let a = ;", "SyntaxError: unexpected token in expression: ';'", 1, 1},
		{"return {", "SyntaxError: expecting ';'", 1, 0},
		{"await 1\nthrow new RangeError('late')", "RangeError: late", 2, 11},
		{"throw 'text'", "text", 0, 0},
		{"throw undefined", "null", 0, 0},
		{"const ü = 'ü'; ö()", "ReferenceError: ö is not defined", 1, 16},
		{"1;\n  JSON.parse('{')", "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)", 2, 8},
		{"1;\n\n  eval('\\n1+')", "SyntaxError: unexpected token in expression: ''", 3, 3},
		{"1;\n\n (0, eval)('\\n\\n\\n\\n\\n\\nnope()')", "ReferenceError: nope is not defined", 3, 6},
		{"throw { a: 1 }", `{"a":1}`, 0, 0},
		{"throw { get message() { throw 1 } }", "unprintable error", 0, 0},
		{"const e = new Error('x'); e.stack = 'at <input>:99999999999999999999:1'; throw e", "Error: x", 0, 0},
	} {
		_, err := run(t, e, Program{Code: c.code})
		if err == nil || err.Code != "" || err.Message != c.message || err.Line != c.line || err.Column != c.column {
			t.Errorf("%q: got %#v", c.code, err)
		}
	}
}

// TestErrorsOfCallsSayWhere: a call that fails stands where it was made, also
// in a program that was put away meanwhile, and in the person's own text.
func TestErrorsOfCallsSayWhere(t *testing.T) {
	e := newEngine(t, Options{})
	places := &sourcemap.Map{Mappings: ";;AAAA;;EAQI", Above: 1} // line 5 from column 3 on is line 8, column 5
	for _, c := range []struct {
		code         string
		places       *sourcemap.Map
		line, column int
	}{
		{"const a = 1;\n await tools.call('x', {})", nil, 2, 14},
		{"const f = async () => {\n  return await tools.call('x')\n};\nawait Promise.all([f(), 1])", nil, 2, 22},
		{"const ö = 'ü';\nconst ä = 'é'; await tools.call('x')", nil, 2, 28},
		{"\n\n\n\n  await tools.call('x')", places, 8, 5},
		{"try {\nawait tools.call('x') } catch (e) {\n\n  nope() }", nil, 4, 3},
		{"await tools.call('x').catch((e) => { throw e.stack.includes('prelude') ? e : new Error('no stack') })", nil, 1, 13},
	} {
		v, _, err := e.Start(t.Context(), Program{Code: c.code, Places: c.places, Limits: patient(Limits{})})
		if err != nil {
			t.Fatal(err)
		}
		data, err := v.Snapshot(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.Restore(t.Context(), data, patient(Limits{}), "s")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*VM{v, w} {
			_, err = m.Settle(t.Context(), []Settled{{ID: 1, Err: &GuestError{Message: "it broke"}}})
			if own := asError(t, err); own == nil || own.Line != c.line || own.Column != c.column {
				t.Errorf("%q: %v, want %d:%d", c.code, err, c.line, c.column)
			}
			m.Close()
		}
	}
}

func TestCallsAndAnswers(t *testing.T) {
	e := newEngine(t, Options{})
	v, st, err := e.Start(t.Context(), Program{
		Catalog: Catalog{
			Tools:     json.RawMessage(`[{"id":"a:b:c","name":"c"}]`),
			Shortcuts: map[string]string{"c": "a:b:c", "search": "evil", "then": "evil", "__proto__": "odd"},
		},
		Code: `
			const all = [tools.search("q", { limit: 2 }), tools.describe("a:b:c"), tools.c({ x: [1n] }), tools.call("a:b:c"), yield_control("rest"), tools.__proto__(1)];
			const got = await Promise.allSettled(all);
			return [ALL_TOOLS[0].name, Object.isFrozen(ALL_TOOLS[0]), got.map(g => g.status === "fulfilled" ? g.value : [g.reason.message, g.reason.code, g.reason instanceof Error])]`,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	want := []Call{
		{1, MethodSearch, json.RawMessage(`["q",{"limit":2}]`)}, {2, MethodDescribe, json.RawMessage(`["a:b:c"]`)},
		{3, MethodCall, json.RawMessage(`["a:b:c",{"x":["1"]}]`)}, {4, MethodCall, json.RawMessage(`["a:b:c",null]`)},
		{5, MethodYield, json.RawMessage(`["rest"]`)}, {6, MethodCall, json.RawMessage(`["odd",1]`)},
	}
	if diff := cmp.Diff(want, st.Calls); diff != "" {
		t.Fatal(diff)
	}
	st, err = v.Settle(t.Context(), []Settled{{ID: 99}, {ID: 4, Err: &GuestError{Message: "denied"}},
		{ID: 3, Value: json.RawMessage(`{"r":1}`)}})
	if err != nil || st.Done || st.Pending != 4 || st.Yielding || len(st.Calls) != 0 {
		t.Fatalf("%+v %v", st, err)
	}
	st, err = v.Settle(t.Context(), []Settled{{ID: 1}, {ID: 2, Value: json.RawMessage(`"d"`)},
		{ID: 6, Err: &GuestError{Message: "m", Code: "aborted"}}})
	if err != nil || !st.Yielding {
		t.Fatalf("%+v %v", st, err)
	}
	st, err = v.Settle(t.Context(), []Settled{{ID: 5}, {ID: 5}})
	wantValue := `["c",true,[null,"d",{"r":1},["denied","nested_tool_failed",true],null,["m","aborted",true]]]`
	if err != nil || !st.Done || string(st.Value) != wantValue {
		t.Fatalf("%s %v", st.Value, err)
	}
}

func TestCodesOfAnswersSurvive(t *testing.T) {
	e := newEngine(t, Options{})
	for _, c := range []struct {
		code string
		want Code
	}{
		{"await tools.call('x')", NestedToolFailed},
		{"try { await tools.call('x') } catch (e) { throw new Error(e.message) }", ""},
		{"await tools.call('x').catch(() => 0); const e = new Error('x'); e.code = 'memory_limit_exceeded'; throw e", ""},
	} {
		v, _, err := e.Start(t.Context(), Program{Code: c.code})
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Settle(t.Context(), []Settled{{ID: 1, Err: &GuestError{Message: "it broke"}}})
		wantCode(t, err, c.want)
		v.Close()
	}
}

func TestUnawaitedCallsAreWaitedFor(t *testing.T) {
	e := newEngine(t, Options{})
	v, st, err := e.Start(t.Context(), Program{Code: "tools.call('x').then(() => text('later')); return 1"})
	if err != nil || st.Done || st.Pending != 1 {
		t.Fatalf("%+v %v", st, err)
	}
	defer v.Close()
	st, err = v.Settle(t.Context(), []Settled{{ID: 1}})
	if err != nil || !st.Done || string(st.Value) != "1" || len(st.Output) != 1 {
		t.Fatalf("%+v %v", st, err)
	}
}

func TestRefusesWhatItCannotRun(t *testing.T) {
	e := newEngine(t, Options{})
	for _, p := range []Program{
		{Code: " \n"}, {Code: "return 1", Catalog: Catalog{Tools: json.RawMessage(`{}`)}},
		{Code: "return 1", Catalog: Catalog{Tools: json.RawMessage(`[1`)}},
	} {
		_, _, err := e.Start(t.Context(), p)
		wantCode(t, err, InvalidInput)
	}
}

func TestEveryCellHasItsOwnChance(t *testing.T) {
	e := newEngine(t, Options{})
	seen := map[string]bool{}
	for range 5 {
		st, err := run(t, e, Program{Code: "return Math.random()"})
		if err != nil || seen[string(st.Value)] {
			t.Fatal("the same number twice", err)
		}
		seen[string(st.Value)] = true
	}
	st, err := run(t, e, Program{Code: "const a = []; for (let i = 0; i < 1000; i++) a.push(Math.random()); return [Math.min(...a) < 0.01, " +
		"Math.max(...a) > 0.99, a.every(x => x >= 0 && x < 1)]"})
	if err != nil || string(st.Value) != "[true,true,true]" {
		t.Error(string(st.Value), err)
	}
}

func TestNothingStaysForTheNextCell(t *testing.T) {
	e := newEngine(t, Options{Running: 1})
	for range 3 {
		st, err := run(t, e, Program{Code: "globalThis.left = 'canary-' + 'left'; Array.prototype.map = 0; const had = typeof " +
			"globalThis.kept; globalThis.kept = 1; return had"})
		if err != nil || string(st.Value) != `"undefined"` {
			t.Fatal(string(st.Value), err)
		}
	}
	v, st, err := e.Start(t.Context(), Program{Code: "return [1].map(x => x)[0]"})
	if err != nil || string(st.Value) != "1" {
		t.Fatal(string(st.Value), err)
	}
	defer v.Close()
	if strings.Contains(string(v.bytes()), "canary-left") {
		t.Error("an earlier cell's text is in this one's memory")
	}
}

func TestImagesAreFew(t *testing.T) {
	e := newEngine(t, Options{Images: 2})
	for i := range 6 {
		p := Program{Code: "return ALL_TOOLS[0]", Catalog: Catalog{Tools: json.RawMessage(fmt.Sprintf("[%d]", i%3))}}
		if st, err := run(t, e, p); err != nil || string(st.Value) != fmt.Sprint(i%3) {
			t.Fatal(string(st.Value), err)
		}
	}
	if n := len(e.machine.images.byKey); n != 2 || e.machine.images.order.Len() != 2 {
		t.Errorf("%d images are kept", n)
	}
	shared := 0
	im := e.machine.images.order.Front().Value.(*catalogued).im
	for i, p := range im.pages {
		if p != nil && i < len(e.machine.boot.pages) && e.machine.boot.pages[i] != nil && &p[0] == &e.machine.boot.pages[i][0] {
			shared++
		}
	}
	if shared < 30 {
		t.Errorf("only %d pages are shared with the boot image", shared)
	}
}

func TestNothingIsLoadedBeforeTheFirstCell(t *testing.T) {
	e := newEngine(t, Options{})
	if e.machine != nil || len(e.vms) != 0 {
		t.Error("something is loaded")
	}
}

func TestClosedEngineRefuses(t *testing.T) {
	e := newEngine(t, Options{})
	v, _, err := e.Start(t.Context(), Program{Code: "await tools.call('x')"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = v.Settle(t.Context(), []Settled{{ID: 1}})
	wantCode(t, err, Aborted)
	_, err = v.Snapshot(t.Context(), "")
	wantCode(t, err, Aborted)
	_, _, err = e.Start(t.Context(), Program{Code: "return 1"})
	wantCode(t, err, RuntimeUnavailable)
	v.Close()
}

func TestCacheIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := t.TempDir() + "/cache"
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := privateDir(dir); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Error(st.Mode(), err)
	}
}

func TestWorksWithoutACache(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Options{CacheDir: file + "/below"})
	if st, err := run(t, e, Program{Code: "return 1"}); err != nil || string(st.Value) != "1" {
		t.Error(string(st.Value), err)
	}
}

func TestTimeIsTheHouseClock(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 789_999_999, time.UTC)
	e := newEngine(t, Options{Now: func() time.Time { return now }})
	st, err := run(t, e, Program{Code: "return [Date.now() % 1000, new Date().toISOString(), new Date().getTimezoneOffset()]"})
	if err != nil || string(st.Value) != `[789,"2031-02-03T04:05:06.789Z",0]` {
		t.Error(string(st.Value), err)
	}
}
