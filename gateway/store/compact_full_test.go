//go:build linux

package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// TestFault_F_OPS_CompactionWithoutRoom: the disk is full while the copy is written, or
// has too little room for it: it is given up, nothing of the store is changed, and
// nothing is left over.
func TestFault_F_OPS_CompactionWithoutRoom(t *testing.T) {
	skipWhereOpenFilesStay(t)
	path := filepath.Join(t.TempDir(), "h.db")
	db := grown(t, path, 20_000)
	want := everything(t, db)
	t.Run("full while it is copied", func(t *testing.T) {
		disk := tinyDisk(t, "1m")
		to, err := openHandle(filepath.Join(disk, "new"), &bbolt.Options{Timeout: lockWait, NoSync: true, InitialMmapSize: mapFor(0)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = to.bolt.Close() }()
		c := &compaction{db: db, to: to, since: &journal{most: journalMost}, tell: func(int64) {}}
		if _, err := c.run(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("too little from the beginning", func(t *testing.T) {
		disk := tinyDisk(t, "40m")
		small, err := Open(filepath.Join(disk, "h.db"), Options{ReserveBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = small.Close(context.WithoutCancel(t.Context())) }()
		_, _, err = small.Compact(t.Context(), func(int64) {})
		if !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), "MB are free") {
			t.Errorf("it ended with %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(disk, "*.compacting")); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	})
	differ(t, "afterwards", want, everything(t, db))
	if db.Problem() != nil || db.journal != nil {
		t.Errorf("afterwards: %v, recording %v", db.Problem(), db.journal != nil)
	}
}
