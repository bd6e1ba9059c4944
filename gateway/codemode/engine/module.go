package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	_ "unsafe" // go:linkname

	_ "github.com/fastschema/qjs" // for its bytes alone; no code of it runs
)

// qjsWasm is qjs.wasm of the module. A rename there breaks the link, not a
// cell; other bytes break the pin below.
//
//go:linkname qjsWasm github.com/fastschema/qjs.wasmBytes
var qjsWasm []byte

// What the module's bytes and our rewriting of them must hash to. Everything
// in this room that knows an address, an offset or a function's number was
// checked against these and against nothing else.
const (
	pinSource   = "88fcbeead33cca3ec8394feb0fb3eec8047ec9ac5062aba7a63799cee11989b7"
	pinPrepared = "0a6c5bbe338c92396b10605efacc0101d7888188242158960e8f36dd64669811"
)

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func pinned(source []byte) ([]byte, error) {
	if got := sum(source); got != pinSource {
		return nil, fmt.Errorf("the module's bytes are %s, not the ones this build was made for", got)
	}
	wasm, err := prepare(source)
	if err != nil {
		return nil, err
	}
	if got := sum(wasm); got != pinPrepared {
		return nil, fmt.Errorf("the prepared bytes are %s, not the ones this build was made for", got)
	}
	return wasm, nil
}
