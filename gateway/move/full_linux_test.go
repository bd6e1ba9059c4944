package move_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/move"
)

// small has a world whose old machine, new machine and disk are on one small disk,
// and leaves so many bytes of it.
func small(t *testing.T, w *world) (leave func(bytes int64), again func()) {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no small disk can be made here (it takes root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	t.Setenv("TMPDIR", disk)
	w.place = ""
	w.fresh()
	fill := filepath.Join(disk, "fill")
	return func(bytes int64) {
			var st syscall.Statfs_t
			w.must(syscall.Statfs(disk, &st))
			w.must(os.WriteFile(fill, make([]byte, max(0, int64(st.Bavail)*st.Bsize-bytes)), 0o600))
		}, func() {
			w.must(os.Remove(fill))
		}
}

// TestFault_F_OPS_DiskFull fills the disk at every step of a backup, a restore, an
// export, an import and a move, by leaving more and more room: it fails with words
// that say so, nothing is lost, and with room again the same goes on to the end.
func TestFault_F_OPS_DiskFull(t *testing.T) {
	steps := map[string]struct {
		before []string // done while there is room
		then   func(w *world)
	}{
		"backup": {then: func(w *world) { w.holds(w.old(), "one", "two") }},
		"restore": {before: []string{"backup"}, then: func(w *world) {
			if restore.Half(w.old()) {
				_, err := restore.Resume(w.old())
				w.must(err)
			}
			w.holds(w.old(), "one", "two")
		}},
		"export": {then: func(w *world) {
			if !w.lives(w.old()) && move.Asleep(w.old()).Phase == move.Leaving {
				if _, err := os.Stat(w.file()); err == nil {
					w.t.Error("there is a file of a Hearth that can be woken without a word")
				}
			}
		}},
		"import": {before: []string{"export"}, then: func(w *world) { w.alone() }},
		"lan":    {then: func(w *world) { w.alone() }},
	}
	for what, s := range steps {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			failed, done := 0, 0
			for _, kb := range []int64{0, 8, 64, 200, 320, 400, 480, 640, 800, 960, 1200, 1600, 2400, 4000, 8000} {
				leave, again := small(t, w)
				for _, b := range s.before {
					w.run(b, false)
				}
				leave(kb << 10)
				err := child(t.Context(), what, string(w.place))
				if err == nil {
					done++
				} else {
					failed++
					if !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "no space left") {
						t.Errorf("%d KB: it does not say that the disk is full: %v", kb, err)
					}
				}
				again()
				s.then(w)
				if err == nil {
					continue
				}
				if what == "import" || what == "lan" {
					w.arrive(what) // holds and alone are looked at there
					continue
				}
				if what == "export" && move.Asleep(w.old()).Phase == move.Left {
					_ = os.Remove(w.file())
				}
				if err := child(t.Context(), what, string(w.place)); err != nil {
					t.Errorf("%d KB: with room again: %v", kb, err)
				}
				w.holds(w.old(), "one", "two")
			}
			t.Logf("%d times full, %d times there was room enough", failed, done)
			if failed == 0 || done == 0 {
				t.Error("the steps of room are not well chosen")
			}
		})
	}
}

// A backup on a disk that is full leaves none of it there.
func TestFault_F_OPS_DiskFullLeavesNothing(t *testing.T) {
	w := newWorld(t)
	leave, again := small(t, w)
	leave(100 << 10)
	if err := child(t.Context(), "backup", string(w.place)); err == nil {
		t.Fatal("there was room")
	}
	files, err := os.ReadDir(w.disk())
	if err != nil || len(files) != 0 {
		t.Errorf("left: %v %v", files, err)
	}
	again()
	list, err := backup.List(w.disk())
	if err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
