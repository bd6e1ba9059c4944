package engine

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A runtime that is not the one this build was made for is no runtime.
func TestSec_A_BOX_03_RuntimeMissing(t *testing.T) {
	changed := bytes.Clone(packedWasm)
	changed[len(changed)/2] ^= 1
	for name, source := range map[string][]byte{"missing": nil, "changed": changed, "shortened": packedWasm[:len(packedWasm)-1]} {
		e := newEngine(t, Options{CacheDir: t.TempDir()}) // with nothing in it
		e.source = source
		v, _, err := e.Start(t.Context(), Program{Code: "return 1"})
		wantCode(t, err, RuntimeUnavailable)
		if v != nil {
			t.Error(name, "gave a machine")
		}
		_, err = e.Restore(t.Context(), []byte("HCM1"), Limits{}, "")
		wantCode(t, err, RuntimeUnavailable)
	}
}

// Everything that a cell finds in its world, by name. What is new here must be
// looked at before it is added.
func TestSec_A_BOX_09_Globals(t *testing.T) {
	e := newEngine(t, Options{})
	st, err := run(t, e, Program{Code: "return Object.getOwnPropertyNames(globalThis).sort()"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(st.Value, &got); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`ALL_TOOLS AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean
		DOMException DataView Date Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function
		Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise
		Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError
		Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI
		decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN json parseFloat
		parseInt queueMicrotask text tools undefined unescape yield_control`)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each of these tries to reach something outside and tells what it got.
func TestSec_A_BOX_09_Escapes(t *testing.T) {
	e := newEngine(t, Options{})
	for code, want := range map[string]string{
		"return await import('qjs:os')":                                          "module_access_denied",
		"return await import('qjs:std')":                                         "module_access_denied",
		"return await import('./conf.json')":                                     "module_access_denied",
		"return await eval(\"import('qjs:os')\")":                                "module_access_denied",
		"return await new Function(\"return import('qjs:os')\")()":               "module_access_denied",
		"return require('fs')":                                                   "module_access_denied",
		"import x from 'qjs:os'":                                                 throws,
		"return typeof this":                                                     `"object"`,
		"return new Function('return typeof std + typeof os + typeof bjson')()":  `"undefinedundefinedundefined"`,
		"return [].constructor.constructor('return typeof process')()":           `"undefined"`,
		"return Object.keys(Error.prepareStackTrace ?? {})":                      `[]`,
		"Error.prepareStackTrace = (e, s) => s; return typeof new Error().stack": `"string"`,
		"let got = 'no'; Function.prototype.call = function () { got = 'yes' }; text(1); json(1); tools.call('x'); return got": `"no"`,
		"let got = 'no'; Function.prototype.apply = Reflect.apply = function () { got = 'yes' }; text(1); tools.call('x').catch(() => 0); " +
			"return got": `"no"`,
		"let got = 'no'; Object.defineProperty(Promise.prototype, 'then', { get() { got = 'yes' } }); text({}); tools.call('x'); return got": `"no"`,
		"let got = 'no'; Object.defineProperty(Object.prototype, 'id', { set() { got = 'yes' } }); tools.call('x'); return got":              `"no"`,
		"'use strict'; try { tools.call = 1 } catch (e) { return e.name }":                                                                   `"TypeError"`,
		"'use strict'; try { globalThis.text = 1 } catch (e) { return e.name }":                                                              `"TypeError"`,
		"'use strict'; try { ALL_TOOLS.push(1) } catch (e) { return e.name }":                                                                `"TypeError"`,
		"return Object.getPrototypeOf(tools)":                                                                                                `null`,
		"return (function () { return arguments.callee.caller })()":                                                                          `null`,
		"function f() { return f.caller } return f()":                                                                                        `null`,
		"const a = []; a.length = 2 ** 32 - 1; return a.length":                                                                              `4294967295`,
		"return new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 })).length":                                                            `8`,
		"return typeof SharedArrayBuffer + typeof Atomics + typeof WebAssembly + typeof Worker + typeof fetch + typeof setTimeout + typeof " +
			"crypto + typeof console": `"` + strings.Repeat("undefined", 8) + `"`,
	} {
		st, err := run(t, e, Program{Code: code})
		switch {
		case want == throws:
			if err == nil || err.Code != "" {
				t.Errorf("%s: got %s, %#v", code, st.Value, err)
			}
		case strings.HasPrefix(want, "module"):
			if err == nil || err.Code != Code(want) {
				t.Errorf("%s: got %s, %#v", code, st.Value, err)
			}
		case err != nil || string(st.Value) != want:
			t.Errorf("%s: got %s, %#v, want %s", code, st.Value, err, want)
		}
	}
}

// The host function in a cell's own hands can end that cell and nothing else.
func TestSec_A_BOX_09_TheBridgeItself(t *testing.T) {
	e := newEngine(t, Options{})
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]uint64{
		"no such operation":         {tagged(tagInt, 9), tagged(tagInt, 0)},
		"booting again":             {tagged(tagInt, hostBoot), tagged(tagInt, 0)},
		"an operation as a text":    {tagged(tagString, 1), tagged(tagInt, 0)},
		"a number as a text":        {tagged(tagInt, hostOutput), tagged(tagInt, 7)},
		"a text outside the memory": {tagged(tagInt, hostOutput), tagged(tagString, 0xffff_fff0)},
		"a text of nothing":         {tagged(tagInt, hostDone), tagged(tagString, 0)},
		"too few":                   {tagged(tagInt, hostDone)},
		"too many":                  make([]uint64, 40),
	} {
		t.Run(name, func(t *testing.T) {
			v, _, err := e.Start(t.Context(), Program{Code: "await tools.call('x')"})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			at := v.root.argv &^ 7
			for i, a := range append(make([]uint64, hostArgs), args...) {
				v.mem.WriteUint64Le(at+uint32(i)*8, a)
			}
			defer func() {
				if recover() == nil || v.stop == nil || v.stop.Code != InternalError && v.stop.Code != OutputLimitExceeded {
					t.Errorf("it was not stopped: %v", v.stop)
				}
			}()
			v.hostCall(uint32(hostArgs+len(args)), at)
		})
	}
}

func tagged(tag int32, v uint32) uint64 { return uint64(uint32(tag))<<32 | uint64(v) }

// Nothing of the host's environment, arguments or paths is in a machine.
func TestSec_A_BOX_11_NoSecretsInside(t *testing.T) {
	t.Setenv("HEARTH_CANARY_KEY", "canary-4711-secret")
	e := newEngine(t, Options{})
	v, _, err := e.Start(t.Context(), Program{Code: "globalThis.all = Object.getOwnPropertyNames(globalThis); await tools.call('x')"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, secret := range []string{"canary-4711-secret", "HEARTH_CANARY_KEY", "PATH="} {
		if bytes.Contains(v.bytes(), []byte(secret)) {
			t.Errorf("%q is inside", secret)
		}
	}
}

func TestSec_A_BOX_12_NoHostPathsInside(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Options{})
	paths := []string{dir, home + "/", os.Getenv(cacheDir), "gateway/codemode", "/go/pkg/mod"}
	v, _, err := e.Start(t.Context(), Program{Code: "await tools.call('x')"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, path := range paths {
		if bytes.Contains(v.bytes(), []byte(path)) {
			t.Errorf("%q is inside", path)
		}
	}
	for _, code := range []string{"await import('./x')", "return new Error().stack.nope.x", "for(;;) text('xxxxxxxxxxxx')",
		"throw new Error(new Error().stack)"} {
		_, err := run(t, e, Program{Code: code})
		for _, path := range paths {
			if err == nil || strings.Contains(err.Message, path) {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}
