//go:build linux

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tinyDisk mounts a file system of its own size, so that "full" is the
// kernel's word and not a stub's.
func tinyDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no small file system can be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// On a full disk new messages are refused before they are acknowledged, ends
// of running work are still recorded from the reserve, reading goes on, and
// room makes it whole again without a restart.
func TestFault_F_DISK_01_Full(t *testing.T) {
	dir := tinyDisk(t, "8m")
	db, err := Open(filepath.Join(dir, "h.db"), Options{ReserveBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	b := NewBucket[string]("r")
	put := func(n uint64, must bool) error {
		return db.Update(t.Context(), Write{Must: must, Do: func(tx *Tx) error {
			return b.Put(tx, Uint64Key(n), strings.Repeat("x", 8<<10))
		}})
	}
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	var acked []uint64
	n := uint64(1)
	for ; n < 5000; n++ {
		if err = put(n, false); err != nil {
			break
		}
		acked = append(acked, n)
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("after %d writes: %v, want ErrFull", len(acked), err)
	}
	if !errors.Is(db.Problem(), ErrFull) {
		t.Errorf("Problem is %v while writes are refused", db.Problem())
	}
	if err := put(1_000_000, true); err != nil {
		t.Errorf("the end of a run could not be recorded: %v", err)
	}
	err = db.View(func(tx *Tx) error {
		for _, k := range acked {
			if !b.Has(tx, Uint64Key(k)) {
				t.Errorf("acknowledged record %d is lost", k)
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := put(2_000_000, false); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if db.Problem() != nil {
		t.Errorf("with room again the problem stays: %v", db.Problem())
	}
}

// fill takes what is left of the disk but a little.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			break
		}
	}
}
