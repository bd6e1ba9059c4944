package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/internal/seed"
)

const powerCompactChild = "HEARTH_TEST_POWER_LOSS_COMPACT"

// fileOnDisk is what of a file is safe, and what is not yet.
type fileOnDisk struct {
	safe []byte
	open []diskOp
}

func (f *fileOnDisk) do(op diskOp) {
	if !op.flush {
		f.open = append(f.open, op)
		return
	}
	for _, o := range f.open {
		f.safe = o.on(f.safe)
	}
	f.open = nil
}

// TestFault_F_OPS_PowerLossWhileCompacting: as TestFault_F_CRASH_20_PowerLoss, while the
// store is compacted and written to at once. A file that took another's place is safe
// with its folder's flush; before it, either of the two may be there after a loss of
// power, whatever of it was flushed.
func TestFault_F_OPS_PowerLossWhileCompacting(t *testing.T) {
	if path := os.Getenv(powerCompactChild); path != "" {
		fillAndCompact(t, path)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: nothing can be said of power loss here")
	}
	path := filepath.Join(t.TempDir(), "h.db")
	rng := seed.Fixed(t, 21)
	// now is the store as programs see it, was what it took the place of while the
	// folder is not flushed, next the file that is to take it.
	now, was, next := &fileOnDisk{}, (*fileOnDisk)(nil), &fileOnDisk{}
	acked, renames, safe, failures := 0, 0, 0, 0
	ops := traced(t, strace, path, powerCompactChild)
	for i, op := range ops {
		switch {
		case op.ack > 0:
			acked = op.ack
		case op.rename:
			was, now, next = now, next, &fileOnDisk{}
			renames++
		case op.file == filepath.Dir(path):
			if was != nil {
				was, safe = nil, safe+1
			}
		case op.file == path:
			now.do(op)
		default:
			next.do(op)
		}
		if acked == 0 {
			continue
		}
		if err := afterPowerLoss(t, rng, now, was, next, acked); err != nil {
			if failures++; failures < 4 {
				t.Errorf("after step %d of %d, %d acknowledged, renamed %d times: %v", i, len(ops), acked, renames, err)
			}
		}
	}
	if acked != powerWrites || renames != 2 || safe != 2 {
		t.Errorf("%d of %d acknowledged, %d files took the place, %d of them safely; has strace's notation changed?",
			acked, powerWrites, renames, safe)
	}
}

// afterPowerLoss looks at each of the files that may be the store then.
func afterPowerLoss(t *testing.T, rng *rand.Rand, now, was, next *fileOnDisk, acked int) error {
	lost := func(f *fileOnDisk) []byte { return lose(rng, f.safe, f.open) }
	beside := map[*fileOnDisk]*fileOnDisk{now: next}
	if was != nil {
		beside = map[*fileOnDisk]*fileOnDisk{now: nil, was: now}
	}
	for f, other := range beside {
		path := filepath.Join(t.TempDir(), "h.db")
		if other != nil && len(other.safe)+len(other.open) > 0 {
			if err := os.WriteFile(besides(path), lost(other), 0o600); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, lost(f), 0o600); err != nil {
			return err
		}
		if err := hasAll(t, path, acked); err != nil {
			return err
		}
	}
	return nil
}

// fillAndCompact is the process that loses its power.
func fillAndCompact(t *testing.T, path string) {
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	filler := NewBucket[[]byte]("filler") // so that the copy takes a while
	for n := range 8 {
		if err := db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			return filler.Put(tx, Uint64Key(uint64(n)), bytes.Repeat([]byte{byte(n)}, 8<<10))
		}}); err != nil {
			t.Fatal(err)
		}
	}
	compact := func() {
		if _, _, err := db.Compact(t.Context(), func(int64) {}); err != nil {
			t.Error(err)
		}
	}
	beside := make(chan struct{})
	for n := 1; n <= powerWrites; n++ {
		writeAndAcknowledge(t, db, n)
		switch n {
		case 5:
			go func() { defer close(beside); compact() }()
		case 14:
			<-beside
			compact()
		}
	}
	if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}
