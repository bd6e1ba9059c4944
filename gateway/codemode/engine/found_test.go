package engine

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
)

// describe writes down all that a program can see of a value.
const describe = `
const describe = (v, deep = 3) => v === null || typeof v !== 'object' || deep === 0 ? String(v) + typeof v : [
	Object.prototype.toString.call(v), Array.isArray(v), Object.getPrototypeOf(v) === Array.prototype, Object.isExtensible(v), Object.isFrozen(v),
	Reflect.ownKeys(v).map((k) => { const d = Object.getOwnPropertyDescriptor(v, k); return [String(k), d.writable, d.enumerable, d.configurable, describe(d.value, deep - 1)]; }),
];
const out = [];
for (const make of [() => /(\w)(\d)?(x)?/.exec('--a1--'), () => 'é€ab'.match(/(?<first>.)(?<second>€)/), () => /(a)(?<n>b)?/d.exec('xa'), () => /(?:)/y.exec(''),
	() => [...'a1 b2 c3'.matchAll(/([a-z])(\d)/g)][2], () => new RegExp('(a)?'.repeat(40)).exec('aaa'), () => class extends RegExp {}.prototype.exec.call(/(q)/, 'q')]) {
	const before = make(), changed = make();
	out.push(describe(before));
	try { out.push(describe(change(changed))) } catch (e) { out.push(String(e)) }
	out.push(describe(changed), describe(before), describe(make()), JSON.stringify(changed));
}
return out`

// changes are what a program may do to a list that it was given.
var changes = []string{
	`m`, `(m.push(1, 2, 3), m)`, `(m.unshift(0), m)`, `(m.length = 0, m)`, `(m.length = 1, m.push(7), m)`, `(m.length = 100, m)`, `(m[50] = 1, m)`, `(m[m.length] = 1, m)`,
	`(delete m[0], m)`, `(delete m.index, m)`, `(delete m.groups, delete m.index, delete m.input, m)`, `(delete m.groups, m.groups = 1, m)`,
	`(m.index = 'i', m.input = {}, m.groups = [1], m)`, `(m.extra = 1, m.more = 2, m)`, `Object.freeze(m)`, `Object.seal(m)`, `Object.preventExtensions(m)`,
	`Object.defineProperty(m, 'index', { get() { return 5 }, enumerable: false })`, `Object.defineProperty(m, 'length', { writable: false })`,
	`Object.defineProperty(m, 0, { value: 1, writable: false })`, `Object.setPrototypeOf(m, null)`, `Object.setPrototypeOf(m, { get index() { return 1 } })`,
	`m.splice(0, 1)`, `m.map((x) => x)`, `m.concat(m)`, `m.slice()`, `m.reverse()`, `m.sort()`, `m.fill(0)`, `m.flat()`, `[...m]`, `({ ...m })`, `m.toSpliced(0, 1, 2)`, `m.copyWithin(0, 1)`,
	`(() => { 'use strict'; Object.freeze(m); m.index = 3; return m })()`, `Object.assign([], m)`, `(m.at(-1), m.pop(), m.shift(), m)`, `Reflect.construct(Array, m)`,
}

// TestFoundListsAreTheGuests: what an expression finds is what the guest's own
// way of making it gives, also after anything was done to it, and nothing that
// is done to one list is seen in another.
func TestFoundListsAreTheGuests(t *testing.T) {
	ours, guests := bothMatchers(t)
	for _, c := range changes {
		p := Program{Code: "const change = (m) => " + c + ";" + describe, Limits: Limits{Output: 8 << 20, Timeout: time.Minute}}
		got, gotErr := run(t, ours, p)
		want, wantErr := run(t, guests, p)
		if gotErr != nil || wantErr != nil || string(got.Value) != string(want.Value) {
			t.Errorf("%s\n  ours: %s %v\nguest's: %s %v", c, got.Value, gotErr, want.Value, wantErr)
		}
	}
}

// TestFoundListsLeaveNoMemory: what QuickJS counts as used is the same after
// many lists as before, and a program that keeps them is stopped as any other.
func TestFoundListsLeaveNoMemory(t *testing.T) {
	e := newEngine(t, Options{})
	const find = "const find = (n, keep) => { for (let i = 0; i < n; i++) { const m = /(b)(c)?(x)?/.exec('abc'); m[9] = i; if (i % 3) m.of = m; keep?.push(m, /b/.exec('abc')) } };"
	v := waiting(t, e, find+"find(1, []); await tools.call('x'); find(20000); await tools.call('y'); find(1e9, [])", Limits{Memory: 4 << 20, Timeout: time.Minute})
	used := func() [2]uint32 {
		if err := v.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		return [2]uint32{v.u32(v.root.rt + 20), v.u32(v.root.rt + 24)} // malloc_count and malloc_size
	}
	before := used()
	if _, err := v.Settle(t.Context(), []Settled{{ID: 1}}); err != nil {
		t.Fatal(err)
	}
	if after := used(); after[0] > before[0]+8 || after[1] > before[1]+1024 { // the second call's own few
		t.Errorf("pieces and bytes: %d before, %d after", before, after)
	}
	_, err := v.Settle(t.Context(), []Settled{{ID: 2}})
	wantCode(t, err, MemoryLimitExceeded)
}

// TestFoundListsAtTheEndOfMemory: wherever memory ends in the making of a
// list, the program gets an exception, and can go on once it let go of what it
// kept. Each round begins at a different rest of memory.
func TestFoundListsAtTheEndOfMemory(t *testing.T) {
	e := newEngine(t, Options{})
	const code = `let rest = 'x'.repeat(%d) + 1, last = null, n = 0;
		try { for (;;) { const m = /(?<one>a)(b)(c)?/d.exec('--ab%s'); m.last = last; last = m; n++ } } catch (e) { last = null }
		const m = /(b)(c)?/.exec('abc');
		return [n > 10, m, m.index, m.input, m.groups === undefined, Object.keys(m), rest.length]`
	for rest := range 30 {
		p := Program{Code: fmt.Sprintf(code, rest*24, strings.Repeat("ab", rest)), Limits: Limits{Memory: 256 << 10, Timeout: time.Minute}}
		switch rest % 3 {
		case 1: // one without names and places
			p.Code = strings.ReplaceAll(strings.ReplaceAll(p.Code, "?<one>", ""), "/d.", "/.")
		case 2: // one whose values take more room than all the rest
			p.Code = strings.Replace(p.Code, "(?<one>a)(b)(c)?/d.", "(?:"+strings.Repeat("(q)?", 150)+"a)/.", 1)
		}
		want := fmt.Sprintf(`[true,["bc","b","c"],1,"abc",true,["0","1","2","groups","index","input"],%d]`, rest*24+1)
		v, st, err := e.Start(t.Context(), p)
		if err != nil || string(st.Value) != want {
			t.Fatalf("%d: %s %v", rest, st.Value, err)
		}
		for at := range uint32(1024) { // what is written through a nil lands there
			if c := v.bytes()[at]; c != 0 && (at < foundShape || at >= foundShape+4) {
				t.Fatalf("%d: %d is at %d", rest, c, at)
			}
		}
		v.Close()
	}
}

// TestFoundListsInSnapshots: lists that were put away are whole, and new ones
// are made beside them.
func TestFoundListsInSnapshots(t *testing.T) {
	e := newEngine(t, Options{})
	v := waiting(t, e, `const all = [...'a1 b2'.matchAll(/([a-z])(\d)/g)]; all[0].self = all;
		const x = await tools.call('x');
		for (let i = 0; i < 5000; i++) { const c = /(b)/.exec('abc'); c.self = c }
		const fresh = /(z)(y)?/.exec('xz');
		return [all[0].index, all[1].index, all[1].input, all[0].length, all[1][2], Object.keys(all[1]), Object.keys(fresh), fresh.index, fresh.length]`, Limits{Timeout: time.Minute})
	data, err := v.Snapshot(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.Restore(t.Context(), data, Limits{Timeout: time.Minute}, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const want = `[0,3,"a1 b2",3,"2",["0","1","2","groups","index","input"],["0","1","2","groups","index","input"],1,3]`
	for _, m := range []*VM{v, w} {
		if st, err := m.Settle(t.Context(), []Settled{{ID: 1}}); err != nil || string(st.Value) != want {
			t.Errorf("%s %v", st.Value, err)
		}
	}
}

// TestFoundShapeIsChecked: no shape is taken that is not the one we know.
func TestFoundShapeIsChecked(t *testing.T) {
	e := newEngine(t, Options{})
	v := waiting(t, e, "globalThis.m = /x/.exec('x'); await tools.call('x')", Limits{})
	shape := v.u32(foundShape)
	if shape == 0 {
		t.Fatal("there is none")
	}
	object := v.root.argv // room for a made-up list
	mem := v.bytes()
	put := func(at, to uint32) { binary.LittleEndian.PutUint32(mem[at:], to) }
	list := uint64(1<<32-1)<<32 | uint64(object)
	put(foundShape, 0)
	for name, change := range map[string]struct{ at, to uint32 }{
		"class": {object + 4, 1 << 16}, "shape": {object + objectShape, v.u32(v.root.ctx + ctxArrayShape)}, "there already": {foundShape, 16},
		"not shared": {shape + shapeHashed, 0}, "room": {shape + shapeRoom, 3}, "count": {shape + shapeCount, 5}, "prototype": {shape + shapeProto, 8},
		"name": {shape + shapeFirst + 8 + 4, 3}, "order": {shape + shapeFirst + 16 + 4, 89}, "flags": {shape + shapeFirst + 24, 0},
	} {
		put(object+4, classArray<<16)
		put(object+objectShape, shape)
		was := v.u32(change.at)
		put(change.at, change.to)
		if err := v.keepShape(list); err == nil {
			t.Errorf("%s: it is taken", name)
		}
		put(change.at, was)
	}
	if err := v.keepShape(uint64(1<<32-7)<<32 | uint64(object)); err == nil {
		t.Error("what is no object is taken")
	}
	refs := v.u32(shape)
	if err := v.keepShape(list); err != nil || v.u32(foundShape) != shape || v.u32(shape) != refs+1 {
		t.Errorf("the right one is not taken: %v", err)
	}
}
