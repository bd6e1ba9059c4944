package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"
)

type record struct {
	N int
}

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	return db
}

func TestUpdateIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db := open(t, path)
	b := NewBucket[record]("r")
	put := func(k string, n int) error {
		return db.Update(t.Context(), Write{Do: func(tx *Tx) error { return b.Put(tx, []byte(k), record{n}) }})
	}
	for i, k := range []string{"a", "b", "ba", "c"} {
		if err := put(k, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	tests := []struct {
		name string
		r    Range
		want string
	}{
		{"all", Range{}, "a b ba c"},
		{"reverse", Range{Reverse: true}, "c ba b a"},
		{"prefix", Range{Prefix: []byte("b")}, "b ba"},
		{"prefix reverse", Range{Prefix: []byte("b"), Reverse: true}, "ba b"},
		{"before", Range{Before: []byte("ba"), Reverse: true}, "b a"},
		{"before in prefix", Range{Prefix: []byte("b"), Before: []byte("ba"), Reverse: true}, "b"},
		{"after", Range{After: []byte("b")}, "ba c"},
		{"after missing", Range{After: []byte("aa")}, "b ba c"},
		{"window", Range{After: []byte("a"), Before: []byte("c")}, "b ba"},
		{"empty", Range{Prefix: []byte("x")}, ""},
		{"last prefix", Range{Prefix: []byte("c"), Reverse: true}, "c"},
		{"0xff prefix", Range{Prefix: []byte{0xff}, Reverse: true}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			err := db.View(func(tx *Tx) error {
				for row, err := range b.Scan(tx, tc.r) {
					if err != nil {
						return err
					}
					got = append(got, string(row.Key))
				}
				return nil
			})
			if err != nil || strings.Join(got, " ") != tc.want {
				t.Fatalf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// One bad write must not cost its neighbours in the same batch, and what
// follows a commit must follow it in order.
func TestABadWriteLeavesItsBatchAlone(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "h.db"))
	b := NewBucket[record]("r")
	bad := errors.New("bad")
	var mu sync.Mutex
	var order []uint64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var seq uint64
			err := db.Update(t.Context(), Write{
				Do: func(tx *Tx) (err error) {
					if i%10 == 3 {
						return bad
					}
					if i%10 == 7 {
						panic("oops")
					}
					if seq, err = b.NextSeq(tx); err != nil {
						return err
					}
					return b.Put(tx, Uint64Key(seq), record{i})
				},
				Then: func() {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, seq)
				},
			})
			if (i%10 == 3) != errors.Is(err, bad) || (i%10 == 7) != (err != nil && strings.Contains(err.Error(), "panicked")) {
				t.Errorf("write %d: %v", i, err)
			}
		}()
	}
	wg.Wait()
	if len(order) != 160 {
		t.Fatalf("%d writes were committed, want 160", len(order))
	}
	for i, seq := range order {
		if seq != uint64(i+1) {
			t.Fatalf("Then ran out of order: %v", order[:i+1])
		}
	}
}

func TestFault_F_LIFE_01_SecondOpenIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	open(t, path)
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Fatalf("second open: %v, want ErrLocked", err)
	}
}

func TestFault_F_DB_06_MissingIsNotEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db := open(t, path)
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "missing") {
		t.Fatalf("open without the file: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("an empty store was made over a missing one")
	}
}

// Cut short at any page, overwritten, or another program's: refused with the
// bytes untouched, and never a crash.
func TestFault_F_DB_TruncatedOrForeign(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "h.db")
	db := open(t, path)
	b := NewBucket[string]("r")
	for i := range 50 {
		err := db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			return b.Put(tx, Uint64Key(uint64(i)), strings.Repeat("x", 3000))
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	used := usedBytes(whole)
	refuse := func(name string, content []byte) {
		t.Helper()
		p := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(p, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Open(p, Options{ReserveBytes: -1}); !errors.Is(err, ErrDamaged) {
			if got != nil {
				_ = got.Close(t.Context())
			}
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if after, _ := os.ReadFile(p); !bytes.Equal(after, content) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	for n := 1; n < used; n += 4096 {
		refuse(fmt.Sprintf("cut at %d", n), whole[:n])
	}
	refuse("text", []byte(strings.Repeat("hello world\n", 4000)))
	refuse("sqlite", append([]byte("SQLite format 3\x00"), make([]byte, 20000)...))
	refuse("zeros", make([]byte, 32<<10))
	foreign := filepath.Join(dir, "foreign.db")
	fdb, err := bbolt.Open(foreign, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = fdb.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
	_ = fdb.Close()
	if _, err := Open(foreign, Options{ReserveBytes: -1}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "other") {
		t.Errorf("foreign bbolt file: %v", err)
	}
}

func usedBytes(file []byte) int {
	most := 0
	for _, off := range []int{0, os.Getpagesize()} {
		most = max(most, int(binary.LittleEndian.Uint64(file[off+56:])))
	}
	return most * os.Getpagesize()
}

func TestSec_A_CFG_07_NewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db := open(t, path)
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(schemaKey, binary.BigEndian.AppendUint32(nil, schemaVersion()+1))
	})
	_ = raw.Close()
	if _, err := Open(path, Options{}); !errors.Is(err, ErrNewer) {
		t.Fatalf("open a newer store: %v", err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "h.db"))
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(t.Context(), Write{Do: func(*Tx) error { return nil }}); !errors.Is(err, ErrClosed) {
		t.Errorf("Update: %v", err)
	}
	if err := db.View(func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("View: %v", err)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 20} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			db, err := Open(filepath.Join(b.TempDir(), "h.db"), Options{ReserveBytes: -1})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close(b.Context())
			bk := NewBucket[record]("r")
			b.SetParallelism(writers)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					err := db.Update(b.Context(), Write{Do: func(tx *Tx) error {
						n, err := bk.NextSeq(tx)
						if err != nil {
							return err
						}
						return bk.Put(tx, Uint64Key(n), record{int(n)})
					}})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
