package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	_ "unsafe" // go:linkname

	_ "github.com/fastschema/qjs" // for its bytes alone; no code of it runs
)

// qjsWasm is qjs.wasm of the module. A rename there breaks the link of this
// test.
//
//go:linkname qjsWasm github.com/fastschema/qjs.wasmBytes
var qjsWasm []byte

// TestPackedBytesAreTheModules: what we carry is what go.mod names. After a
// change there: gzip -9n < qjs.wasm > qjs.wasm.gz.
func TestPackedBytesAreTheModules(t *testing.T) {
	b, err := unpacked(packedWasm)
	if err != nil || !bytes.Equal(b, qjsWasm) {
		t.Errorf("%d bytes are packed, the module has %d: %v", len(b), len(qjsWasm), err)
	}
}

// TestSec_A_BOX_KeptModule: a kept module with other bytes is not used, and is
// replaced.
func TestSec_A_BOX_KeptModule(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, Options{CacheDir: dir})
	good, err := e.wasm()
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "prepared.wasm")
	for name, b := range map[string][]byte{
		"changed": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), "empty": nil, "cut off": good[:1000],
		"too large": make([]byte, maxWasm+1), "other": qjsWasm,
	} {
		if err := os.WriteFile(kept, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := e.wasm(); err != nil || !bytes.Equal(got, good) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := os.ReadFile(kept); err != nil || !bytes.Equal(got, good) {
			t.Errorf("%s: it was not replaced: %v", name, err)
		}
	}
	e.source = nil
	if got, err := e.wasm(); err != nil || !bytes.Equal(got, good) {
		t.Errorf("what was kept is not used: %v", err)
	}
}
