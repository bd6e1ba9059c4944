package engine

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// packedWasm is qjs.wasm of github.com/fastschema/qjs, packed by gzip; a test
// compares it with the module's. Linking the module itself would put the bytes
// into our program unpacked, three times as large.
//
//go:embed qjs.wasm.gz
var packedWasm []byte

// What the module's bytes and our rewriting of them must hash to. Everything
// in this room that knows an address, an offset or a function's number was
// checked against these and against nothing else.
const (
	pinSource   = "88fcbeead33cca3ec8394feb0fb3eec8047ec9ac5062aba7a63799cee11989b7"
	pinPrepared = "141c271caaf57966f4258a8366dd484660004673f8072e3001c802e0cb2c648b"
)

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// maxWasm is more than either form of the module has.
const maxWasm = 4 << 20

func unpacked(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking the module: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxWasm))
	if err != nil {
		return nil, fmt.Errorf("unpacking the module: %w", err)
	}
	return b, nil
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

// wasm gives the prepared module. Unpacking and preparing it takes a third of
// the time that the first cell does, so what came out is kept beside the
// machine code; it counts only with the right hash.
func (e *Engine) wasm() ([]byte, error) {
	kept := ""
	if e.opts.CacheDir != "" {
		kept = filepath.Join(e.opts.CacheDir, "prepared.wasm")
		if b, err := readKept(kept); err == nil && sum(b) == pinPrepared {
			return b, nil
		}
	}
	source, err := unpacked(e.source)
	if err != nil {
		return nil, err
	}
	b, err := pinned(source)
	if err == nil && kept != "" {
		if err := writeKept(kept, b); err != nil {
			e.opts.Log.Debug("code mode: the prepared module is not kept", "err", err)
		}
	}
	return b, err
}

func readKept(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxWasm {
		return nil, fmt.Errorf("%s is not what was kept", name)
	}
	b := make([]byte, st.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

func writeKept(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "prepared-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
