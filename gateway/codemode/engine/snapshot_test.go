package engine

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// everything uses what a snapshot has to carry: private fields, generators,
// proxies, weak references, regular expressions, typed arrays, finally.
const everything = `
class P { #x = 1; inc() { return ++this.#x } }
const p = new P();
function* g() { let i = 10; for (;;) yield i++ }
const it = g(); it.next();
async function* ag() { for (let i = 0; i < 3; i++) yield (await tools.call('ag', { i })) * 2 }
const m = new Map([[{ k: 1 }, 'v'], ['a', new Set([1, 2, 3])]]);
const target = { seen: [] };
const px = new Proxy(target, { get(t, k) { if (typeof k === 'string') t.seen.push(k); return t[k] } });
const wr = new WeakRef(target);
const re = /a(\d)/g; re.exec('a1a2a3');
const ta = new Float64Array([1.5, 2.5]); const big = 2n ** 100n;
let fin = 0; p.inc();
text('before');
const [a, b] = await Promise.all([tools.call('one', {}), tools.call('two', {})]);
text('middle ' + p.inc());
try { try { await tools.call('bad', {}) } finally { fin++ } } catch (e) { text('caught ' + e.message + ' ' + e.code) }
await yield_control('please');
const outs = []; for await (const v of ag()) outs.push(v);
px.foo;
return { a, b, inc: p.inc(), gen: it.next().value, seen: target.seen, deref: wr.deref() === target, re: re.exec('a1a2a3')[1], ta: Array.from(ta), big, m: [...m.keys()].length, set: [...m.get('a')], fin, outs };`

const everythingGives = `{"a":"A","b":"B","inc":4,"gen":11,"seen":["foo"],"deref":true,"re":"2","ta":[1.5,2.5],"big":"1267650600228229401496703205376","m":2,"set":[1,2,3],"fin":1,"outs":[0,2,4]}`

func answer(c Call) Settled {
	s := Settled{ID: c.ID, Value: json.RawMessage("null")}
	args := string(c.Args)
	switch {
	case strings.HasPrefix(args, `["one"`):
		s.Value = json.RawMessage(`"A"`)
	case strings.HasPrefix(args, `["two"`):
		s.Value = json.RawMessage(`"B"`)
	case strings.HasPrefix(args, `["bad"`):
		s.Err = &GuestError{Message: "it broke"}
	case strings.HasPrefix(args, `["ag"`):
		s.Value = json.RawMessage(strings.TrimSuffix(strings.TrimPrefix(args, `["ag",{"i":`), "}]"))
	}
	return s
}

// Every answer comes to another machine, brought back from bytes, and the
// answers of a group come last first.
func TestSnapshotCarriesEverything(t *testing.T) {
	e := newEngine(t, Options{})
	v, st, err := e.Start(t.Context(), Program{Code: everything, Limits: patient(Limits{})})
	var out []Output
	open := st.Calls
	for n := 0; ; n++ {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, st.Output...)
		if st.Done {
			break
		}
		data, err := v.Snapshot(t.Context(), "scope")
		if err != nil {
			t.Fatal(err)
		}
		v.Close()
		if v, err = e.Restore(t.Context(), data, patient(Limits{}), "scope"); err != nil {
			t.Fatal(err)
		}
		last := open[len(open)-1]
		open = open[:len(open)-1]
		if st, err = v.Settle(t.Context(), []Settled{answer(last)}); err != nil {
			t.Fatal(err)
		}
		open = append(open, st.Calls...)
	}
	defer v.Close()
	if string(st.Value) != everythingGives {
		t.Errorf("got %s", st.Value)
	}
	want := []Output{{Type: "text", Text: "before"}, {Type: "text", Text: "middle 3"},
		{Type: "text", Text: "caught it broke nested_tool_failed"}}
	if fmt.Sprint(out) != fmt.Sprint(want) {
		t.Errorf("got %v", out)
	}
}

const childSnapshot = "HEARTH_TEST_ENGINE_CHILD"

var childKey = bytes.Repeat([]byte{7}, 32)

// TestSnapshotChild is that other process: it makes a snapshot and prints it.
func TestSnapshotChild(t *testing.T) {
	scope := os.Getenv(childSnapshot)
	if scope == "" {
		t.Skip("this is a part of TestSnapshotFromAnotherProcess")
	}
	e := newEngine(t, Options{Key: childKey})
	v, _, err := e.Start(t.Context(), Program{
		Code:    "const secret = 40 + Math.floor(1.5); return secret + await tools.call('x')",
		Catalog: Catalog{Tools: json.RawMessage(`[{"id":"a"}]`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	data, err := v.Snapshot(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("snapshot:" + hex.EncodeToString(data) + ".")
}

func TestSnapshotFromAnotherProcess(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSnapshotChild$")
	cmd.Env = append(os.Environ(), childSnapshot+"=run-1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(out), "snapshot:")
	text, _, _ = strings.Cut(text, ".")
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Options{Key: childKey})
	v, err := e.Restore(t.Context(), data, patient(Limits{}), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	st, err := v.Settle(t.Context(), []Settled{{ID: 1, Value: json.RawMessage("1")}})
	if err != nil || string(st.Value) != "42" {
		t.Error(string(st.Value), err)
	}
}

func waiting(t testing.TB, e *Engine, code string, l Limits) *VM {
	t.Helper()
	v, st, err := e.Start(t.Context(), Program{Code: code, Limits: patient(l)})
	if err != nil || st.Done {
		t.Fatal(st, err)
	}
	t.Cleanup(v.Close)
	return v
}

func TestTinySnapshotIsTiny(t *testing.T) {
	e := newEngine(t, Options{})
	data, err := waiting(t, e, "return 1 + await tools.call('x')", Limits{}).Snapshot(t.Context(), "s")
	if err != nil || len(data) > 64<<10 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestSnapshotsOfOthersAreRefused(t *testing.T) {
	e := newEngine(t, Options{Key: childKey})
	v := waiting(t, e, "globalThis.a = new Uint8Array(3e6); await tools.call('x')", Limits{})
	data, err := v.Snapshot(t.Context(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(name string, e *Engine, data []byte, l Limits, scope string) {
		t.Helper()
		w, err := e.Restore(t.Context(), data, l, scope)
		if w != nil {
			w.Close()
			t.Errorf("%s: it came back", name)
			return
		}
		wantCode(t, err, SnapshotRestoreFailed)
	}
	refuse("another scope", e, data, patient(Limits{}), "yours")
	refuse("no scope", e, data, patient(Limits{}), "")
	refuse("another key", newEngine(t, Options{}), data, patient(Limits{}), "mine")
	refuse("less memory", e, data, Limits{Memory: 1 << 20}, "mine")
	refuse("nothing", e, nil, Limits{}, "mine")
	for _, n := range []int{1, 4, 36, 43, 44, 100, len(data) / 2, len(data) - 33, len(data) - 1} {
		refuse(fmt.Sprint("cut at ", n), e, data[:n], Limits{}, "mine")
	}
	for i := 0; i < len(data); i += 1 + len(data)/97 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		refuse(fmt.Sprint("changed at ", i), e, bad, Limits{}, "mine")
	}
	refuse("longer", e, append(bytes.Clone(data), 0), Limits{}, "mine")
	if w, err := e.Restore(t.Context(), data, patient(Limits{}), "mine"); err != nil {
		t.Error(err)
	} else {
		w.Close()
	}
}

func TestSnapshotLimit(t *testing.T) {
	e := newEngine(t, Options{})
	v := waiting(t, e, "globalThis.a = []; for (let i = 0; i < 1e4; i++) a.push(Math.random()); await tools.call('x')",
		Limits{Snapshot: 100 << 10})
	_, err := v.Snapshot(t.Context(), "s")
	wantCode(t, err, SnapshotLimitExceeded)
}

// What nobody holds, in cycles too, takes no room when room is short.
func TestSnapshotWithoutGarbage(t *testing.T) {
	e := newEngine(t, Options{})
	v := waiting(t, e, `
		const live = []; let all = [];
		for (let i = 0; i < 30; i++) {
			const a = new Uint8Array(1e5).map(() => Math.random() * 256);
			a.self = { a };
			all.push(a);
			live.push('kept ' + i + ' ' + a[7]);
			globalThis['sum' + i] = a[7];
		}
		all = null;
		const x = await tools.call('x');
		const more = []; for (let i = 0; i < 3e4; i++) more.push({ i });
		return x + live.every((s, i) => s === 'kept ' + i + ' ' + globalThis['sum' + i]) + more[29999].i`, Limits{Snapshot: 500 << 10})
	data, err := v.Snapshot(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		w := v
		if again {
			if w, err = e.Restore(t.Context(), data, patient(Limits{}), "s"); err != nil {
				t.Fatal(err)
			}
			defer w.Close()
		}
		st, err := w.Settle(t.Context(), []Settled{{ID: 1, Value: json.RawMessage(`"yes "`)}})
		if err != nil || string(st.Value) != `"yes true29999"` {
			t.Errorf("%s %v", st.Value, err)
		}
	}
}

func TestOnlyTheWaitingArePutAway(t *testing.T) {
	e := newEngine(t, Options{})
	for _, code := range []string{"return 1", "throw 1", "await new Promise(() => {})"} {
		v, _, _ := e.Start(t.Context(), Program{Code: code})
		_, err := v.Snapshot(t.Context(), "s")
		wantCode(t, err, InternalError)
		v.Close()
	}
}

func TestManySuspendedCellsAreSmall(t *testing.T) {
	e := newEngine(t, Options{})
	total := 0
	for range 64 {
		v := waiting(t, e, "const local = [1, 2, 3]; return local.length + await tools.call('x')", Limits{})
		data, err := v.Snapshot(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		v.Close()
		total += len(data)
	}
	if total > 20<<20 {
		t.Errorf("64 suspended cells take %d bytes", total)
	}
}

func TestDoneWithPendingSurvives(t *testing.T) {
	e := newEngine(t, Options{})
	v := waiting(t, e, "tools.call('x').then(() => text('late')); return 'early'", Limits{})
	data, err := v.Snapshot(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.Restore(t.Context(), data, patient(Limits{}), "s")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	st, err := w.Settle(t.Context(), []Settled{{ID: 1}})
	if err != nil || !st.Done || string(st.Value) != `"early"` || len(st.Output) != 1 {
		t.Errorf("%+v %v", st, err)
	}
}
