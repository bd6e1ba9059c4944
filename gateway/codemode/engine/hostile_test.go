package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// attack is a program and how it must end: with a code, with an exception of
// its own ("throws"), or well.
type attack struct{ name, code, want string }

const (
	throws = "throws"
	well   = "ends well"
)

var attacks = []attack{
	{"endless loop", "for(;;){}", "timeout"},
	{"loop in a catch", "for(;;){ try { for(;;){} } catch(e) {} }", "timeout"},
	{"await null for ever", "for(;;) await null", "timeout"},
	{"jobs that make jobs", "function f(){ Promise.resolve().then(f) } f(); await new Promise(()=>{})", "timeout"},
	{"jobs that throw", "function f(){ queueMicrotask(f); throw new Error('x') } queueMicrotask(f); await new Promise(()=>{})", "timeout"},
	{"async loop in a catch", "async function i(){for(;;){}} for(;;){ try { await i() } catch(e) {} }", "timeout"},
	{"catastrophic expression", "return /^(a+)+$/.test('a'.repeat(40)+'b')", "timeout"},
	{"catastrophic expression 2", "return /(x+x+)+y/.exec('x'.repeat(5000))", "timeout"},
	{"catastrophic expression that is built", "return new RegExp('^(' + 'a?'.repeat(30) + 'a'.repeat(30) + ')+$').test('a'.repeat(31) + 'b')",
		"timeout"},
	{"catastrophic expression backwards", "return /(?<=^(a+)+)b/.test('c' + 'a'.repeat(40) + 'b')", "timeout"},
	{"catastrophic expression in a lookahead", "return /^(?=(a+)+$)a/u.test('a'.repeat(40) + 'b')", "timeout"},
	{"catastrophic expression without case", "return /^([à-ÿ€]|[é€])*$/iu.test('é€'.repeat(20) + '!')", "timeout"},
	{"catastrophic replacing", "return 'a'.repeat(40).replace(/(a|aa)+$/g, '').replace(/^(a|a)*b/, '') + " +
		"'b'.repeat(40).replaceAll(/(b|b)+c/g, 'd')", "timeout"},
	{"catastrophic splitting in a catch", "for (;;) { try { ('x'.repeat(60) + 'y').split(/(x+x+)+z/) } catch (e) { } }", "timeout"},
	{"matches without an end", "let n = 0; for (;;) for (const m of 'foo bar@baz.com qux '.repeat(50).matchAll(/(\\w+)@(\\w+)\\.com/g)) n " +
		"+= m.length", "timeout"},
	{"an expression that is tried at every place", "return /a*a*a*a*b/.test('a'.repeat(20000))", "timeout"},
	{"appending without an end", "let s = ''; for (;;) { s += 'x'; if (s.length > 1e5) s = '' }", "timeout"},
	{"indexOf", "return 'a'.repeat(2e7).indexOf('a'.repeat(1e7)+'b')", "timeout"},
	{"includes to 2^53", "return Array.prototype.includes.call({length:2**53-1}, 1)", "timeout"},
	{"sorting", "for(;;) new Float64Array(1e5).map(Math.random).sort()", "timeout"},
	{"growing number", "let x = 3n; for(;;) x = x*x", "timeout"},
	{"number as text", "return (3n**600000n).toString().length", "timeout"},
	{"JSON of a doubling graph", "let a=[1]; for(let i=0;i<60;i++) a=[a,a]; return JSON.stringify(a).length", "timeout"},
	{"the clock", "const t=Date.now(); while(Date.now()-t<60000); return 1", "timeout"},
	{"exhaustion swallowed", "const a=[]; for(;;) { try { for(;;) a.push(new Uint8Array(100000)) } catch(e) { } }", "timeout"},
	{"toJSON that does not end", "return { toJSON() { for(;;); } }", "timeout"},
	{"getter that does not end", "json({ get a() { for(;;); } })", "timeout"},
	{"toString that does not end", "tools.call({ toString() { for(;;); } })", "timeout"},
	{"growing text", "let s='x'; for(;;) s+=s", "memory_limit_exceeded"},
	{"growing text by ones", "let s='x'.repeat(6e7); for(;;) s+='y'.repeat(1e6)", "memory_limit_exceeded"},
	{"large text", "return 'x'.repeat(1e9).length", "memory_limit_exceeded"},
	{"growing list", "const a=[]; for(;;) a.push(new Array(1000).fill(0))", "memory_limit_exceeded"},
	{"large buffer", "return new ArrayBuffer(2**31-1).byteLength", "memory_limit_exceeded"},
	{"generator spread", "function* g(){ for(;;) yield 1 } return [...g()]", "memory_limit_exceeded"},
	{"text flood", "for(;;) text('x'.repeat(1000))", "output_limit_exceeded"},
	{"one large text", "text('x'.repeat(5e6)); return 1", "output_limit_exceeded"},
	{"large result", "return 'x'.repeat(5e6)", "output_limit_exceeded"},
	{"large wide result", "return '\u20ac'.repeat(30000)", "output_limit_exceeded"},
	{"output in toJSON", "text({toJSON(){ for(;;) text('z') }})", "output_limit_exceeded"},
	{"call flood", "for(;;) { try { tools.call('x') } catch(e) {} }", "too_many_pending_tool_calls"},
	{"17 calls", "await Promise.all(Array.from({length:17},()=>tools.call('x')))", "too_many_pending_tool_calls"},
	{"waiting for nothing", "await new Promise(()=>{})", "internal_error"},
	{"recursion", "function f(){ return 1+f() } return f()", throws},
	{"getter recursion", "const o={get x(){return this.x}}; return o.x", throws},
	{"toString recursion", "const o={toString(){return ''+this}}; return ''+o", throws},
	{"chain of proxies", "let p={}; for(let i=0;i<1e5;i++) p=new Proxy(p,{}); return p.x", throws},
	{"deep JSON", "return JSON.parse('['.repeat(1e6))", throws},
	{"deep JSON, closed", "return JSON.parse('['.repeat(1e5)+']'.repeat(1e5))", throws},
	{"deep list as JSON", "let a=[]; for(let i=0;i<1e5;i++) a=[a]; return JSON.stringify(a).length", "timeout"},
	{"deep parentheses", "return eval('('.repeat(1e5)+'1'+')'.repeat(1e5))", throws},
	{"deep functions", "return eval('(()=>'.repeat(5000)+'1'+')'.repeat(5000))", throws},
	{"deep groups", "return new RegExp('('.repeat(1e5)+'a'+')'.repeat(1e5)).test('a')", throws},
	{"deep lookahead", "return new RegExp('(?='.repeat(5e4)+'a'+')'.repeat(5e4)).test('a')", throws},
	{"flattening itself", "const a=[]; a.push(a); return a.flat(Infinity)", throws},
	{"a million arguments", "return Math.max.apply(null, new Array(1e6).fill(1))", throws},
	{"throwing nothing", "throw undefined", throws},
	{"throwing what throws", "throw {get message(){ throw 1 }}", throws},
	{"deep result", "let a=[]; for(let i=0;i<1e5;i++) a=[a]; return a", "timeout"},
	{"unfinished", "return {", throws},
	{"long chain of objects", "let a=null; for(let i=0;i<1e5;i++) a={a}; a=null; return 1", well},
	{"chain of promises", "let p=Promise.resolve(1); for(let i=0;i<2e4;i++) p=p.then(x=>x); return await p", well},
	{"many arguments", "return Math.max(...new Array(60000).fill(1))", well},
	{"finalizers", "new FinalizationRegistry(()=>{for(;;){}}).register({},1); for(let i=0;i<1e4;i++)({}); return 1", well},
	{"out of its body", "}); globalThis.pwn=1; (async function(){ return 2", well},
	{"nested outputs", "text({toJSON(){ text('in'); return 'j' }}); return 1", well},
}

func TestSec_A_BOX_08_Limits(t *testing.T) {
	e := newEngine(t, Options{Running: 2})
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			v, st, err := e.Start(t.Context(), Program{Code: a.code, Limits: Limits{Timeout: a.patience()}})
			if v != nil {
				defer v.Close()
			}
			own := asError(t, err)
			switch {
			case a.want == throws && own != nil && own.Code == "":
			case a.want == well && own == nil && st.Done:
			case own != nil && string(own.Code) == a.want:
			default:
				t.Errorf("got %+v, %#v, want %s", st, own, a.want)
			}
		})
	}
}

// patience is short for those that are to run out of time, and long for those
// that are to meet something else first on a busy machine.
func (a attack) patience() time.Duration {
	if a.want == "timeout" {
		return 150 * time.Millisecond
	}
	return time.Minute
}

func TestSec_A_BOX_08_NeighboursGoOn(t *testing.T) {
	e := newEngine(t, Options{Running: 2})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		v, _, err := e.Start(ctx, Program{Code: "for(;;){}", Limits: Limits{Timeout: time.Hour}})
		if v != nil {
			v.Close()
		}
		ended <- err
	}()
	for range 20 {
		if st, err := run(t, e, Program{Code: "return [1,2].map(x => x * 2)"}); err != nil || string(st.Value) != "[2,4]" {
			t.Error(string(st.Value), err)
		}
	}
	runtime.GC() // stops the world: the loop must let it
	stop()
	wantCode(t, <-ended, Aborted)
}

func TestSec_A_BOX_08_CloseEndsARunningCell(t *testing.T) {
	e := newEngine(t, Options{Running: 2})
	v, _, err := e.Start(t.Context(), Program{Code: "text('in'); await tools.call('x'); for(;;){}", Limits: Limits{Timeout: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := v.Settle(t.Context(), []Settled{{ID: 1}})
		ended <- err
	}()
	v.Close()
	wantCode(t, <-ended, Aborted)
}

func TestSec_A_BOX_08_WaitingForAPlace(t *testing.T) {
	e := newEngine(t, Options{Running: 1})
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	at, err := e.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, _, err = e.Start(ctx, Program{Code: "return 1"})
	wantCode(t, err, Aborted)
	at.leave()
}

// A program that does not end holds nobody up: with one place for all, those that wait
// have their turns, and what it waits for the others is none of its time.
func TestSec_A_BOX_08_OnePlaceIsShared(t *testing.T) {
	e := newEngine(t, Options{Running: 1})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		v, _, err := e.Start(ctx, Program{Code: "for(;;){}", Limits: Limits{Timeout: time.Hour}})
		if v != nil {
			v.Close()
		}
		ended <- err
	}()
	for range 20 {
		if st, err := run(t, e, Program{Code: "return [1,2].map(x => x * 2)"}); err != nil || string(st.Value) != "[2,4]" {
			t.Error(string(st.Value), err)
		}
	}
	// Two that run for half a second each are not over before the second is through.
	began, both := time.Now(), make(chan error, 2)
	for range 2 {
		go func() {
			v, _, err := e.Start(t.Context(), Program{Code: "for(;;){}", Limits: Limits{Timeout: 500 * time.Millisecond}})
			if v != nil {
				v.Close()
			}
			both <- err
		}()
	}
	for range 2 {
		wantCode(t, <-both, Timeout)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("two of half a second on one place, with a third there, took %s", took)
	}
	stop()
	wantCode(t, <-ended, Aborted)
	if n := len(e.running); n != 0 {
		t.Errorf("%d places are taken when nothing runs", n)
	}
}

// One that loses its place and is stopped before it has another gives nobody else's back.
func TestSec_A_BOX_08_StoppedWhileItWaitsForItsTurn(t *testing.T) {
	e := newEngine(t, Options{Running: 1})
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		v, _, err := e.Start(ctx, Program{Code: "for(;;){}", Limits: Limits{Timeout: time.Hour}})
		if v != nil {
			v.Close()
		}
		ended <- err
	}()
	for len(e.running) == 0 {
		runtime.Gosched()
	}
	mine, err := e.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e.waiting.Load() == 0 {
		runtime.Gosched()
	}
	stop()
	wantCode(t, <-ended, Aborted)
	if n := len(e.running); n != 1 {
		t.Errorf("%d places are taken, and one is ours", n)
	}
	mine.leave()
}

// A storm of cells that are killed at random moments leaves no goroutine (see
// TestMain), no machine and no address space.
func TestSec_A_BOX_08_KillStorm(t *testing.T) {
	e := newEngine(t, Options{Running: 3})
	before := mappings(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := seed.Fixed(t, uint64(w))
			for range 60 {
				storm(t, e, r)
			}
		})
	}
	wg.Wait()
	e.mu.Lock()
	left, spares := len(e.vms), len(e.machine.spares)
	e.mu.Unlock()
	if left != 0 || spares > 3 {
		t.Errorf("%d machines and %d bodies are left", left, spares)
	}
	if n := mappings(t); n > before+40 {
		t.Errorf("%d mappings before, %d after", before, n)
	}
}

func storm(t *testing.T, e *Engine, r *rand.Rand) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if r.IntN(5) == 0 {
		defer time.AfterFunc(time.Duration(r.IntN(5000))*time.Microsecond, cancel).Stop()
	}
	l := Limits{Timeout: time.Duration(100+r.IntN(8000)) * time.Microsecond, Memory: int64(1+r.IntN(8)) << 20}
	code := attacks[r.IntN(len(attacks))].code
	if r.IntN(3) == 0 {
		code = "const r = []; for (let i = 0; i < 3; i++) r.push(await tools.call('x', { i })); return r"
	}
	v, st, err := e.Start(ctx, Program{Code: code, Limits: l})
	for range 3 {
		if err != nil || st.Done {
			break
		}
		data, serr := v.Snapshot(ctx, "storm")
		if serr != nil {
			break
		}
		v.Close()
		if v, err = e.Restore(ctx, data, l, "storm"); err != nil {
			break
		}
		var answers []Settled
		for _, c := range st.Calls {
			answers = append(answers, Settled{ID: c.ID, Value: json.RawMessage("{}")})
		}
		st, err = v.Settle(ctx, answers)
	}
	if v != nil {
		v.Close()
	}
	var own *Error
	if err != nil && (!errors.As(err, &own) || strings.Contains(own.Message, "the engine stopped")) {
		t.Errorf("%s: %v", code, err)
	}
}

func mappings(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0 // only Linux shows them
	}
	return strings.Count(string(b), "\n")
}

func TestAThousandCellsInARow(t *testing.T) {
	e := newEngine(t, Options{})
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := mappings(t)
	for range 1000 {
		if st, err := run(t, e, Program{Code: "return 1 + 1"}); err != nil || string(st.Value) != "2" {
			t.Fatal(string(st.Value), err)
		}
	}
	if n := mappings(t); n > before+20 {
		t.Errorf("%d mappings before, %d after", before, n)
	}
}

func TestFiveMegabytesOfSource(t *testing.T) {
	e := newEngine(t, Options{})
	st, err := run(t, e, Program{Code: "/*" + strings.Repeat("x", 5<<20) + "*/ return 1"})
	if err != nil || string(st.Value) != "1" {
		t.Error(string(st.Value), err)
	}
}

func TestArgumentsThatAreTooLargeFailAlone(t *testing.T) {
	e := newEngine(t, Options{})
	st, err := run(t, e, Program{Code: "try { await tools.call('x', 'y'.repeat(2e6)) } catch (e) { return e.name } "})
	if err != nil || string(st.Value) != `"RangeError"` {
		t.Error(string(st.Value), err)
	}
}
