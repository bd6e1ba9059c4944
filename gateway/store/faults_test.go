package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestFault_F_DB_01_CutFile: a file whose end is missing is refused, wherever it
// was cut, and nothing of it is changed.
func TestFault_F_DB_01_CutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	orig := filled(t)
	need := len(bytes.TrimRight(orig, "\x00"))
	for _, at := range []int{1, 100, 4095, 4096, 8191, 8192, need / 2, need - 4096, need - 4097} {
		if err := os.WriteFile(path, orig[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, Options{ReserveBytes: -1})
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: %v", at, err)
		}
		if err == nil {
			_ = db.Close(t.Context())
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, orig[:at]) {
			t.Errorf("cut at %d: the file was changed", at)
		}
	}
}

// TestFault_F_DB_03_OneProcess: who comes second is refused and changes nothing.
func TestFault_F_DB_03_OneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db := open(t, path)
	before, _ := os.ReadFile(path)
	if _, err := Open(path, Options{ReserveBytes: -1}); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the second one changed the file")
	}
	if err := db.Update(t.Context(), Write{Do: func(tx *Tx) error { return sorts.Put(tx, []byte("a"), "rye") }}); err != nil {
		t.Error(err)
	}
}

// TestFault_F_DB_05_ManyWriters: two hundred writers at once never hear that the
// store is busy, and what each wrote is there.
func TestFault_F_DB_05_ManyWriters(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "h.db"))
	var all sync.WaitGroup
	for w := range 200 {
		all.Go(func() {
			for i := range 5 {
				err := db.Update(t.Context(), Write{Do: func(tx *Tx) error {
					return sorts.Put(tx, fmt.Appendf(nil, "%d/%d", w, i), strings.Repeat("x", 100))
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := db.View(func(tx *Tx) error {
		if n := sorts.Count(tx); n != 1000 {
			t.Errorf("%d of 1000 are there", n)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
