package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// compactPoints are the moments of a compaction at which it may end.
var compactPoints = []string{"begun", "copied", "drained", "flushed", "ready", "renamed", "done"}

func killProgram(t *testing.T) string {
	t.Helper()
	skipWhereOpenFilesStay(t)
	if testing.Short() {
		t.Skip("builds a program")
	}
	bin := filepath.Join(t.TempDir(), "kill")
	build := exec.Command("go", "build", "-tags", "failpoint", "-o", bin, "./testdata/kill")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// acknowledged reads what a killed program said: what each row is, "" where it was
// removed.
func acknowledged(said string) map[uint64]string {
	rows := map[uint64]string{}
	for line := range strings.Lines(said) {
		var n uint64
		switch {
		case !strings.HasSuffix(line, "\n"): // cut short
		case scanned(line, "wrote %d\n", &n):
			rows[n] = strings.Repeat(fmt.Sprint(n, " "), 100)
		case scanned(line, "removed %d\n", &n):
			rows[n] = ""
		}
	}
	return rows
}

func scanned(line, format string, n *uint64) bool {
	_, err := fmt.Sscanf(line, format, n)
	return err == nil
}

// holds: the store at path opens, has what was acknowledged, and nothing lies beside it.
// Of the last write or removal that was not told nobody knows.
func holds(t *testing.T, path string, want map[uint64]string) {
	t.Helper()
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatalf("it does not open: %v", err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	rows := NewBucket[string]("rows")
	unknown := 0
	err = db.View(func(tx *Tx) error {
		for n, v := range want {
			got, _, err := rows.Get(tx, Uint64Key(n))
			if err != nil {
				return err
			}
			if got != v {
				if unknown++; got != "" || unknown > 1 {
					t.Errorf("row %d is %.20q, want %.20q", n, got, v)
				}
			}
		}
		if seq := tx.tx.Bucket([]byte("rows")); len(want) > 0 && (seq == nil || seq.Sequence() < uint64(len(want))) {
			t.Errorf("the number of the table went back: fewer than %d", len(want))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".compacting"); err == nil {
		t.Error("what was begun is left over after the next start")
	}
	if _, err := Check(path); err != nil {
		t.Error(err)
	}
}

// TestFault_F_OPS_CompactionKilled: a process that compacts its store beside writes is
// killed at every step of it and at random moments. The store opens, and has
// everything that was acknowledged.
func TestFault_F_OPS_CompactionKilled(t *testing.T) {
	bin := killProgram(t)
	for _, point := range compactPoints {
		for nth := 1; nth <= 2; nth++ {
			t.Run(fmt.Sprintf("%s@%d", point, nth), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "h.db")
				cmd := exec.Command(bin, path)
				cmd.Env = append(os.Environ(), fmt.Sprintf("HEARTH_FAILPOINT=compact:%s@%d", point, nth))
				said, err := cmd.Output()
				if err == nil {
					t.Fatal("it was not killed")
				}
				if strings.Contains(fmt.Sprint(err), "exit status") {
					t.Fatalf("it failed by itself: %s", err.(*exec.ExitError).Stderr)
				}
				holds(t, path, acknowledged(string(said)))
			})
		}
	}
	r := seed.New(t)
	usual := 300 * time.Millisecond
	for round := range seed.Rounds(6, 200) {
		path := filepath.Join(t.TempDir(), fmt.Sprint("h", round, ".db"))
		cmd := exec.Command(bin, path)
		var said strings.Builder
		cmd.Stdout = &said
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(usual))), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if timer.Stop(); err == nil {
			usual = time.Since(began)
		}
		if _, err := os.Stat(path); err == nil || said.Len() > 0 {
			holds(t, path, acknowledged(said.String()))
		}
	}
}

// TestCompactGivesUp: it is ended in its middle, or more is written than it keeps up
// with; the store is as it was, writes go on, and the next one succeeds.
func TestCompactGivesUp(t *testing.T) {
	skipWhereOpenFilesStay(t)
	path := filepath.Join(t.TempDir(), "h.db")
	db := grown(t, path, 20_000)
	want := everything(t, db)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	if _, _, err := db.Compact(ctx, func(int64) { cancel(enough) }); !errors.Is(err, enough) {
		t.Errorf("ended: %v", err)
	}
	to, err := openHandle(path+".other", &bbolt.Options{Timeout: lockWait, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.bolt.Close() }()
	c := &compaction{db: db, to: to, since: &journal{most: 5000}, tell: func(int64) {
		if err := db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			return (Table{[]byte("other")}).PutRaw(tx, []byte("much"), make([]byte, 6000))
		}}); err != nil {
			t.Error(err)
		}
	}}
	if _, err := c.run(t.Context()); !errors.Is(err, ErrBehind) {
		t.Errorf("more is written: %v", err)
	}
	want["other"], want["other/much"] = "0", string(make([]byte, 6000))
	differ(t, "afterwards", want, everything(t, db))
	if left, _ := filepath.Glob(path + ".compacting"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if _, after, err := db.Compact(t.Context(), func(int64) {}); err != nil || after > 8<<20 {
		t.Errorf("the next one: %d, %v", after, err)
	}
	differ(t, "at the end", want, everything(t, db))
}
