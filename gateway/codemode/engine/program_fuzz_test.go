package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// writer makes a program of random bytes: each choice of the grammar takes one.
// The same bytes give the same program, so that the fuzzer can find its way.
type writer struct {
	data         []byte
	depth, names int
	plain        bool // inside a function that is not async
	b            strings.Builder
}

func (w *writer) pick(n int) int {
	if len(w.data) == 0 {
		return 0
	}
	c := int(w.data[0])
	w.data = w.data[1:]
	return c % n
}

// one writes one of the forms. In them $ is an expression, § are statements, @
// is a name, # a new one; ! begins what is not async.
func (w *writer) one(forms []string) {
	form := forms[w.pick(len(forms))]
	if w.depth++; w.depth > 9 || len(w.data) == 0 || w.plain && strings.Contains(form, "await") {
		form = "0"
	}
	plain := w.plain
	for _, c := range form {
		switch c {
		case '!':
			w.plain = true
		case '$':
			w.b.WriteByte('(')
			w.one(expressions)
			w.b.WriteByte(')')
		case '§':
			for range 1 + w.pick(4) {
				w.one(statements)
				w.b.WriteByte('\n')
			}
		case '@':
			w.b.WriteString("v" + strconv.Itoa(w.pick(w.names+1)))
		case '#':
			w.names++
			w.b.WriteString("v" + strconv.Itoa(w.names))
		default:
			w.b.WriteRune(c)
		}
	}
	w.plain = plain
	w.depth--
}

var statements = []string{
	"$;", "if $ { § } else { § }", "for (let i = 0; i < 9; i++) { § }", "for (const # of $) { § }", "for (const # in $) { § }",
	"try { § } catch (#) { § } finally { § }", "throw $;", "let [#, ...#] = $;", "var # = $;", "const { # = $ } = $;", "text($);", "json($);",
	"return $;",
	"await $;", "!class # extends $ { p = $; m() { § } static s = $ }", "!function #(# = $) { § }", "async function #() { § }",
	"!function* #() { yield $; § }",
	"globalThis.v0 = $;", "while $ { §; break }", "switch $ { case $: { § } default: { § } }", "@ = $;", "here: { break here }",
	"for (;;) { § }",
	"Object.defineProperty(Object.prototype, 'v' + $, { get() { return 1 }, configurable: true });", "await yield_control($);",
	"Promise.reject($);", "!queueMicrotask(() => { § });",
	"await Promise.all([tools.call($, $), tools.search($), tools.describe($)]);", "!tools.call('x:y:z', $).then(v => { § });",
	"(async () => { § })();", "delete globalThis[$];", "await tools.z($);",
}

var expressions = []string{
	"0", "1", "-1", "NaN", "1e308", "9007199254740993n", "''", "'text'", "'\\ud800'", "null", "undefined", "true", "[]", "{}", "@", "@", "@",
	"@", "this", "globalThis",
	"[$, $, $]", "{ a: $, get b() { return 1 }, [$]: $, ...$ }", "$ + $", "$ * $", "$ ?? $", "$ && $", "$ ? $ : $", "$.a", "$[$]", "$?.b?.$",
	"new $($)", "typeof $", "`${$}${$}`",
	"!() => $", "async () => { § }", "!function* () { § }", "/(a+)+$/.test('a'.repeat(20) + $)", "new RegExp($, 'u')", "String($)",
	"JSON.stringify($)", "JSON.parse($)", "Object.keys($)",
	"!new Proxy({}, { get: (t, k) => $, has: () => $, ownKeys: () => $ })", "new Map([[$, $]])", "new Set($)", "new Uint8Array($)",
	"new ArrayBuffer(1e6)", "Symbol($)", "BigInt($)", "new Date($)",
	"'x'.repeat(1e5)", "Array(1e4).fill($)", "!Array.from({ length: 99 }, () => $)", "![3, 1, 2].sort(() => $)", "eval($)", "eval('1+1')",
	"Function('return ' + $)()", "Function('o', 'with (o) { return a }')($)", "Reflect.ownKeys($)",
	"Object.setPrototypeOf($, $)", "Object.freeze($)", "await $", "tools.call($, $)", "tools.search($, $)", "tools.call('x:y:z', $)",
	"ALL_TOOLS", "tools[$]", "text", "json", "yield_control", "eval('import(\"qjs:os\")')", "new WeakRef($)",
	"Promise.race([$, $])", "!new Promise((f, g) => { § })", "Promise.allSettled([$, $])", "Error($).stack", "new (class extends Array {})($)",
	"$.constructor.constructor('return globalThis')()", "Array.prototype.concat.call($, $)",
	"Math.random()", "Date.now()", "!{ toJSON() { return $ } }", "!{ then(f, g) { § } }", "!{ [Symbol.toPrimitive]() { return $ } }", "[...$]",
	"$ instanceof $", "$ in $", "$ ** $", "$.x = $", "(v => v(v))(v => v(v))",
}

// program is the text for these bytes, now and then broken.
func program(data []byte) string {
	w := &writer{data: data, names: 2}
	w.b.WriteString("if (globalThis.seen) throw Error('another cell was here'); globalThis.seen = 1; var v0 = [1, 'b'], v1 = { a: 1 }, v2 " +
		"= () => v0;\n")
	for len(w.data) > 0 && w.b.Len() < 8<<10 {
		w.one(statements)
		w.b.WriteByte('\n')
	}
	s := w.b.String()
	if len(data) > 3 && data[0]%16 == 0 { // break it
		at := int(data[1]) * len(s) / 256
		s = s[:at] + s[min(len(s), at+1+int(data[2])%9):]
	}
	return s
}

// fuzzLimits are small, so that they are met.
var fuzzLimits = Limits{Timeout: 150 * time.Millisecond, Memory: 6 << 20, Output: 16 << 10, Snapshot: 4 << 20, Pending: 4, Args: 32 << 10}

// live runs a program through what may happen to one: answers and refusals,
// being put away and brought back, an abort at any moment.
func live(t *testing.T, e *Engine, code string, fate []byte) {
	t.Helper()
	next := func() byte {
		if len(fate) == 0 {
			return 1
		}
		c := fate[0]
		fate = fate[1:]
		return c
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if next()%16 == 0 { // while it runs
		time.AfterFunc(time.Duration(next())*200*time.Microsecond, cancel)
	}
	vm, st, err := e.Start(ctx, Program{Code: code, Limits: fuzzLimits, Catalog: Catalog{Tools: json.RawMessage(`[{"id":"x:y:z","name":"z"}]`),
		Shortcuts: map[string]string{"z": "x:y:z"}}})
	defer func() {
		if vm != nil {
			vm.Close()
			vm.Close()
		}
	}()
	for turn := 0; ; turn++ {
		sound(t, code, st, err)
		if err != nil || st.Done || turn == 12 {
			return
		}
		var answers []Settled
		for _, c := range st.Calls {
			if next()%5 > 0 {
				answers = append(answers, answerOf(c, next()))
			}
		}
		if next()%3 == 0 {
			if vm = putAway(t, ctx, e, vm, next()); vm == nil {
				return
			}
		}
		if next()%24 == 0 {
			cancel()
		}
		if st, err = vm.Settle(ctx, answers); len(answers) == 0 && err == nil && !st.Done && len(st.Calls) == 0 {
			return // it waits for what never comes
		}
	}
}

func answerOf(c Call, how byte) Settled {
	switch how % 4 {
	case 0:
		return Settled{ID: c.ID, Err: &GuestError{Message: "refused \ud7ff", Code: NestedToolFailed}}
	case 1:
		return Settled{ID: c.ID, Value: json.RawMessage(`{"a":[1,"\ud800",null],"__proto__":{"then":1}}`)}
	case 2:
		return Settled{ID: c.ID, Value: json.RawMessage(`"` + strings.Repeat("y", int(how)*64) + `"`)}
	}
	return Settled{ID: c.ID}
}

// putAway takes a snapshot and brings it back, at times a spoilt one.
func putAway(t *testing.T, ctx context.Context, e *Engine, vm *VM, how byte) *VM {
	t.Helper()
	data, err := vm.Snapshot(ctx, "fuzz")
	vm.Close()
	if err != nil {
		known(t, err)
		return nil
	}
	switch {
	case how%16 == 0:
		data[int(how)*len(data)/256] ^= 1 + how
	case how%16 == 1:
		data = data[:len(data)*int(how)/256]
	}
	back, err := e.Restore(ctx, data, fuzzLimits, "fuzz")
	if err != nil {
		known(t, err)
		return nil
	}
	if how%16 < 2 {
		t.Error("a spoilt snapshot came back")
	}
	return back
}

// sound checks what every outcome has to be.
func sound(t *testing.T, code string, st State, err error) {
	t.Helper()
	if err != nil {
		known(t, err)
	}
	size := len(st.Value)
	for _, o := range st.Output {
		size += len(o.Text) + len(o.Value)
		if o.Type == "json" && !json.Valid(o.Value) {
			t.Errorf("output that is no JSON: %q of\n%s", o.Value, code)
		}
	}
	if size > fuzzLimits.Output {
		t.Errorf("%d bytes came out of\n%s", size, code)
	}
	if st.Pending > fuzzLimits.Pending {
		t.Errorf("%d calls wait", st.Pending)
	}
	if st.Done && len(st.Value) > 0 && !json.Valid(st.Value) {
		t.Errorf("a value that is no JSON: %q of\n%s", st.Value, code)
	}
	for _, c := range st.Calls {
		if !json.Valid(c.Args) {
			t.Errorf("arguments that are no JSON: %q of\n%s", c.Args, code)
		}
	}
}

// known checks that an error is one of ours, and not that of a machine that
// fell apart or of a cell that met another.
func known(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("an error of another kind: %v", err)
		return
	}
	switch e.Code {
	case RuntimeUnavailable, InvalidConfig:
		t.Errorf("%s: %v", e.Code, err)
	}
	for _, bad := range []string{"another cell was here", "wasm error", "unreachable", "goroutine ", "runtime error", "invalid table",
		"out of bounds memory"} {
		if strings.Contains(e.Message, bad) {
			t.Errorf("%s: %v", e.Code, err)
		}
	}
}

// nothingLeft checks that the cells are gone.
func nothingLeft(t *testing.T, e *Engine) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.vms) > 0 {
		t.Errorf("%d machines are left", len(e.vms))
	}
	if len(e.running) > 0 {
		t.Errorf("%d places are taken", len(e.running))
	}
}

// resident is the process's memory in MB, 0 where that cannot be told.
func resident() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, rss int
	if _, err := fmt.Sscan(string(data), &size, &rss); err != nil {
		return 0
	}
	return rss * os.Getpagesize() >> 20
}

// FuzzProgram feeds random programs and lets random things happen to them.
// None may crash the engine, leave a machine, a goroutine or memory behind,
// meet another cell, or say what is no JSON.
func FuzzProgram(f *testing.F) {
	e := New(Options{CacheDir: f.TempDir()})
	f.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(f.Context())); err != nil {
			f.Error(err)
		}
	})
	if err := e.Warm(f.Context()); err != nil { // outside of the time that one program has
		f.Fatal(err)
	}
	r := seed.Fixed(f, 7)
	for range 24 {
		data := make([]byte, 40+r.IntN(300))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data, data[:12])
	}
	goroutines, runs, peak := 0, 0, 0
	f.Fuzz(func(t *testing.T, data, fate []byte) {
		if len(data) > 1<<12 {
			return
		}
		live(t, e, program(data), fate)
		nothingLeft(t, e)
		switch runs++; {
		case runs == 50:
			goroutines = runtime.NumGoroutine()
		case runs > 50 && runs%50 == 0:
			if n := runtime.NumGoroutine(); n > goroutines+8 {
				t.Errorf("%d goroutines, %d at the beginning", n, goroutines)
			}
			if mb := resident(); mb > peak {
				peak = mb
				if mb > 700 {
					t.Errorf("%d MB after %d programs", mb, runs)
				}
			}
		}
	})
}
