package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/internal/seed"
)

type bread struct{ Text string }

var breads, sorts = NewBucket[bread]("breads"), NewBucket[string]("sorts")

const loaves = 3000

// filled makes a store with some hundred pages and returns the file's content.
func filled(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.db")
	db, err := Open(path, Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	for part := range 6 {
		err := db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			for i := part * loaves / 6; i < (part+1)*loaves/6; i++ {
				if err := breads.Put(tx, Uint64Key(uint64(i)), bread{strings.Repeat("b", 100+i%300)}); err != nil {
					return err
				}
			}
			return sorts.Put(tx, []byte{byte(part)}, "rye")
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// harm changes a copy of a file as faults of disks do.
func harm(r *rand.Rand, orig []byte, kind string) []byte {
	d := bytes.Clone(orig)
	page := func() int { return (2 + r.IntN(len(d)/4096-2)) * 4096 }
	switch kind {
	case "cut":
		d = d[:r.IntN(len(d))]
	case "bytes":
		for range 1 + r.IntN(64) {
			d[r.IntN(len(d))] = byte(r.Uint32())
		}
	case "zero page":
		clear(d[page():][:4096])
	case "random page":
		p := page()
		for i := range 4096 {
			d[p+i] = byte(r.Uint32())
		}
	case "random head":
		p := page()
		for i := range 64 {
			d[p+i] = byte(r.Uint32())
		}
	case "meta":
		d[r.IntN(2)*4096+r.IntN(100)] ^= 0xff
	case "both metas":
		d[20] ^= 1
		d[4096+20] ^= 1
	case "swapped":
		a, b := page(), page()
		for i := range 4096 {
			d[a+i], d[b+i] = d[b+i], d[a+i]
		}
	case "longer":
		d = append(d, make([]byte, r.IntN(100_000))...)
	}
	return d
}

// useDamaged opens a damaged store, reads all of it and writes to it.
func useDamaged(ctx context.Context, path string) (told int, err error) {
	db, err := Open(path, Options{NoSync: true, ReserveBytes: -1, OnDamage: func(error) { told++ }})
	if err != nil {
		return 0, err
	}
	read := db.View(func(tx *Tx) error {
		for _, err := range breads.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
		}
		for range breads.ScanRaw(tx, Range{Reverse: true}) {
		}
		breads.Count(tx)
		_, _, err := sorts.Get(tx, []byte{2})
		return err
	})
	wrote := db.Update(ctx, Write{Do: func(tx *Tx) error {
		if _, err := breads.DeleteRange(tx, Range{}, 500); err != nil {
			return err
		}
		for i := range 500 {
			if err := breads.Put(tx, Uint64Key(uint64(i*7)), bread{strings.Repeat("n", 400)}); err != nil {
				return err
			}
		}
		return nil
	}})
	again := db.View(func(tx *Tx) error { breads.Count(tx); return nil })
	if errors.Is(db.Problem(), ErrDamaged) && (told != 1 || !errors.Is(again, ErrDamaged)) {
		return told, fmt.Errorf("damage was told %d times; afterwards: %v", told, again)
	}
	return told, errors.Join(read, wrote, db.Close(ctx))
}

// TestFault_F_DB_02_DamagedFiles: a damaged file works or is said to be damaged,
// at its start or when the damage is met; nothing panics, and what is whole can
// be read past it.
func TestFault_F_DB_02_DamagedFiles(t *testing.T) {
	orig := filled(t)
	r := seed.Fixed(t, 7)
	for kind, n := range map[string]int{"none": 1, "cut": 10, "bytes": 25, "zero page": 10, "random page": 10, "random head": 25, "meta": 6,
		"both metas": 2, "swapped": 25, "longer": 2} {
		t.Run(kind, func(t *testing.T) {
			for i := range n {
				path := filepath.Join(t.TempDir(), fmt.Sprintf("h%d.db", i))
				if err := os.WriteFile(path, harm(r, orig, kind), 0o600); err != nil {
					t.Fatal(err)
				}
				rows := salvaged(t, path)
				if one := kind != "cut" && kind != "bytes" && kind != "both metas"; one && rows < loaves/4 {
					t.Errorf("%d: %d of %d records could be read", i, rows, loaves)
				}
				if kind == "swapped" && rows != loaves {
					t.Errorf("%d: of two swapped pages %d of %d records were found", i, rows, loaves)
				}
				if _, err := useDamaged(t.Context(), path); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFailed) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
}

func salvaged(t *testing.T, path string) (rows int) {
	t.Helper()
	s, err := OpenSalvage(path)
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
		return 0
	}
	defer s.Close()
	for _, name := range s.Tables() {
		if err := s.Rows(name, func(_, _ []byte) error {
			if name == "breads" {
				rows++
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	return rows
}

// TestFault_F_DB_06_EmptiedFile: a file that a power cut left empty is no new one.
func TestFault_F_DB_06_EmptiedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, Options{}) // killed before its first write
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, lose := range []func() error{func() error { return os.Truncate(path, 0) }, func() error { return os.Remove(path) }} {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "kept messages here") {
			t.Errorf("%v", err)
		}
	}
}

// A panic of a caller is the caller's.
func TestPanicsOfCallersAreTheirs(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "h.db"), Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != "mine" || db.Problem() != nil {
			t.Errorf("%v, %v", r, db.Problem())
		}
		if err := db.Update(t.Context(), Write{Do: func(*Tx) error { panic("mine") }}); err == nil || errors.Is(err, ErrDamaged) ||
			db.Problem() != nil {
			t.Errorf("%v, %v", err, db.Problem())
		}
		_ = db.Close(t.Context())
	}()
	_ = db.View(func(*Tx) error { panic("mine") })
}

// TestFault_F_DB_02_LastGoodCopy: a copy is whole or is not there, and comes back only
// when it is whole; what it replaces is kept.
func TestFault_F_DB_02_LastGoodCopy(t *testing.T) {
	dir := t.TempDir()
	path, last := filepath.Join(dir, "h.db"), filepath.Join(dir, "h.db.last-good")
	if err := os.WriteFile(path, filled(t), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	if !InUse(path) {
		t.Error("an open store is not in use")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := db.Copy(stopped, last); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := db.Copy(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if n, err := Check(last); err != nil || n < loaves {
		t.Errorf("%d records, %v", n, err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if InUse(path) {
		t.Error("a closed store is in use")
	}
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	kept := ReplacedName(path, "2027-01-15")
	if err := Restore(last, path, kept); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged copy was taken: %v", err)
	}
	if err := os.Link(path, kept); err != nil { // by who was stopped then
		t.Fatal(err)
	}
	if err := Restore(path, last, kept); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(kept); err != nil || st.Size() != 5000 {
		t.Errorf("what was there is lost: %v", err)
	}
	if rows := salvaged(t, path); rows != loaves {
		t.Errorf("%d records came back", rows)
	}
	if err := Restore(path, last, kept); !errors.Is(err, os.ErrExist) {
		t.Errorf("what was kept before is kept no more: %v", err)
	}
	if rows := salvaged(t, path); rows != loaves {
		t.Errorf("%d records are there then", rows)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".h.db.*-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
