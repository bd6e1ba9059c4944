//go:build linux

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// swapped puts another file behind the descriptor of the open store and returns
// what puts the first one back: so a disk that fails needs neither root nor FUSE.
func swapped(t *testing.T, path, with string, flags int) (back func()) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); to != path {
			continue
		}
		fd, _ := strconv.Atoi(e.Name())
		kept, err := syscall.Dup(fd)
		if err != nil {
			t.Fatal(err)
		}
		other, err := syscall.Open(with, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Dup3(other, fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		_ = syscall.Close(other)
		return func() {
			_ = syscall.Dup3(kept, fd, syscall.O_CLOEXEC)
			_ = syscall.Close(kept)
		}
	}
	t.Fatalf("%s is not open", path)
	return nil
}

func putOne(t *testing.T, db *DB, key string, must bool) error {
	t.Helper()
	return db.Update(t.Context(), Write{Must: must, Do: func(tx *Tx) error { return sorts.Put(tx, []byte(key), "x") }})
}

func has(t *testing.T, db *DB, key string) (there bool) {
	t.Helper()
	if err := db.View(func(tx *Tx) error { there = sorts.Has(tx, []byte(key)); return nil }); err != nil {
		t.Errorf("reading: %v", err)
	}
	return there
}

// A disk that cannot be written: no write is acknowledged from then on, reading
// goes on, and the next start has all that was acknowledged. After one failed
// flush it stays so even when the disk says that all is well again: what the
// kernel kept of the pages is unknown.
func TestFault_F_DISK_02_03_DisksThatFail(t *testing.T) {
	tests := []struct {
		name, with string
		flags      int
	}{
		{"the disk has become read-only", "/dev/null", os.O_RDONLY},
		{"flushing fails, writing does not", "/dev/null", os.O_RDWR}, // it takes all and cannot be flushed
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.db")
			db, err := Open(path, Options{ReserveBytes: -1})
			if err != nil {
				t.Fatal(err)
			}
			if err := putOne(t, db, "before", false); err != nil {
				t.Fatal(err)
			}
			back := swapped(t, path, c.with, c.flags)
			acked := false
			err = db.Update(t.Context(), Write{
				Do:   func(tx *Tx) error { return sorts.Put(tx, []byte("while"), "x") },
				Then: func() { acked = true },
			})
			if !errors.Is(err, ErrFailed) || acked {
				t.Errorf("acknowledged %v, %v", acked, err)
			}
			back()
			for _, must := range []bool{false, true} {
				if err := putOne(t, db, "after", must); !errors.Is(err, ErrFailed) {
					t.Errorf("after the failure (must %v): %v", must, err)
				}
			}
			if !errors.Is(db.Problem(), ErrFailed) {
				t.Errorf("the problem is %v", db.Problem())
			}
			if !has(t, db, "before") {
				t.Error("nothing is read any more")
			}
			if err := db.Close(t.Context()); err != nil {
				t.Error(err)
			}
			db = open(t, path)
			if !has(t, db, "before") || has(t, db, "while") || has(t, db, "after") {
				t.Error("after the start it does not hold what was acknowledged, and nothing else")
			}
		})
	}
}

// A folder that is moved, deleted, exchanged or closed while the store is open:
// nothing is acknowledged that the next start would not find, and when it is
// back all goes on.
func TestFault_F_DISK_07_08_FolderGoesAway(t *testing.T) {
	type move func(t *testing.T, dir, aside string) (back func())
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]move{
		"moved": func(t *testing.T, dir, aside string) func() {
			rename(t, dir, aside)
			return func() { rename(t, aside, dir) }
		},
		"another in its place": func(t *testing.T, dir, aside string) func() {
			rename(t, dir, aside)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "h.db"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { rename(t, dir, aside+"2"); rename(t, aside, dir) }
		},
		"closed": func(t *testing.T, dir, _ string) func() {
			if os.Geteuid() == 0 {
				t.Skip("no folder is closed to root")
			}
			if err := os.Chmod(dir, 0); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Chmod(dir, 0o700) }
		},
	}
	for name, away := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "state")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			db := open(t, filepath.Join(dir, "h.db"))
			if err := putOne(t, db, "before", false); err != nil {
				t.Fatal(err)
			}
			back := away(t, dir, filepath.Join(root, "aside"))
			for _, must := range []bool{false, true} {
				if err := putOne(t, db, "while", must); !errors.Is(err, ErrGone) {
					t.Errorf("while it was away (must %v): %v", must, err)
				}
			}
			if !errors.Is(db.Problem(), ErrGone) {
				t.Errorf("the problem is %v", db.Problem())
			}
			if !has(t, db, "before") {
				t.Error("nothing is read any more")
			}
			back()
			if err := putOne(t, db, "after", false); err != nil || db.Problem() != nil {
				t.Errorf("back again: %v, %v", err, db.Problem())
			}
		})
	}
	t.Run("deleted", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "h.db")
		db := open(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := putOne(t, db, "while", true); !errors.Is(err, ErrGone) {
			t.Error(err)
		}
	})
}

// A disk that holds one write up for long: whoever reads does not wait for it,
// a write that is handed over may be given up, and none becomes a failure.
func TestFault_F_DISK_05_SlowDisk(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "h.db"))
	if err := putOne(t, db, "before", false); err != nil {
		t.Fatal(err)
	}
	held, goOn := make(chan struct{}), make(chan struct{})
	ends := make(chan error, 21)
	go func() {
		ends <- db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			close(held)
			<-goOn
			return sorts.Put(tx, []byte("slow"), "x")
		}})
	}()
	<-held
	for range 20 {
		go func() { ends <- putOne(t, db, "behind", false) }()
	}
	for range 100 {
		if !has(t, db, "before") {
			t.Fatal("what was acknowledged is not read")
		}
	}
	if err := db.Problem(); err != nil {
		t.Errorf("waiting is no failure: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Update(gone, Write{Do: func(*Tx) error { return nil }}); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up before: %v", err)
	}
	close(goOn)
	for range 21 {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if !has(t, db, "slow") || !has(t, db, "behind") {
		t.Error("what waited is not there")
	}
}
