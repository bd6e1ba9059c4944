package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/store"
)

type rig struct {
	*audit.Log
	dir, path string
	db        *store.DB
	max       int64
}

func newRig(t *testing.T, max int64) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), max: max}
	r.path = filepath.Join(r.dir, "audit.jsonl")
	r.start(t)
	t.Cleanup(func() { r.stop(t) })
	return r
}

func (r *rig) start(t *testing.T) {
	t.Helper()
	db, err := store.Open(filepath.Join(r.dir, "db"), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	r.db = db
	r.Log, err = audit.Open(t.Context(), audit.Options{
		Path: r.path, DB: db, Now: time.Now, MaxBytes: r.max, Keep: 3,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2-hunter2", "[redacted]") },
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) stop(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if r.db == nil {
		return
	}
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := r.db.Close(ctx); err != nil {
		t.Error(err)
	}
	r.db = nil
}

func (r *rig) fill(n int) {
	for i := range n {
		r.Add(audit.Entry{Kind: audit.KindExec, What: fmt.Sprint("ran ls ", i), Who: "main", Facts: map[string]string{"exit": "0"}})
	}
}

func (r *rig) verify(t *testing.T) audit.Report {
	t.Helper()
	rep, err := r.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestChainHoldsOverRestarts(t *testing.T) {
	r := newRig(t, 0)
	for range 3 {
		r.fill(10)
		r.stop(t)
		r.start(t)
	}
	if rep := r.verify(t); !rep.OK || rep.Entries != 30 || rep.Last != 30 {
		t.Errorf("%+v", rep)
	}
	st, err := os.Stat(r.path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	list, err := r.List(t.Context(), audit.Query{Limit: 3, Before: 30})
	if err != nil || len(list) != 3 || list[0].Seq != 29 || list[2].Seq != 27 {
		t.Errorf("%+v %v", list, err)
	}
	if list, err = r.List(t.Context(), audit.Query{Kind: audit.KindAuth}); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}

// Every way to change the file shows, also when it is done while nothing runs.
func TestSec_A_CFG_08_TamperedAudit(t *testing.T) {
	lines := func(b []byte) [][]byte { return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) }
	join := func(ls [][]byte) []byte { return append(bytes.Join(ls, nil), '\n') }
	for name, change := range map[string]func([]byte) []byte{
		"a word is changed":         func(b []byte) []byte { return bytes.Replace(b, []byte("ran ls 4"), []byte("ran rm 4"), 1) },
		"a hash is changed":         func(b []byte) []byte { i := bytes.LastIndex(b, []byte(`"}`)); b[i-1] ^= 1; return b },
		"a line is removed":         func(b []byte) []byte { ls := lines(b); return join(append(ls[:4], ls[5:]...)) },
		"the first line is removed": func(b []byte) []byte { return join(lines(b)[1:]) },
		"the end is cut off":        func(b []byte) []byte { return bytes.Join(lines(b)[:7], nil) },
		"half a line is cut off":    func(b []byte) []byte { return b[:len(b)-30] },
		"lines are swapped":         func(b []byte) []byte { ls := lines(b); ls[3], ls[4] = ls[4], ls[3]; return join(ls) },
		"a line is doubled": func(b []byte) []byte {
			ls := lines(b)
			return join(append(ls[:5:5], append([][]byte{ls[4]}, ls[5:]...)...))
		},
		"a line is added":   func(b []byte) []byte { return append(b, []byte("{\"seq\":11}\n")...) },
		"rubbish is added":  func(b []byte) []byte { return append(b, 0, 1, 2, '\n') },
		"all of it is gone": func([]byte) []byte { return nil },
	} {
		for _, running := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, running %v", name, running), func(t *testing.T) {
				r := newRig(t, 0)
				r.fill(10)
				if rep := r.verify(t); !rep.OK {
					t.Fatalf("%+v", rep)
				}
				if !running {
					r.stop(t)
				}
				b, err := os.ReadFile(r.path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(r.path, change(b), 0o600); err != nil {
					t.Fatal(err)
				}
				if !running {
					r.start(t)
				}
				if rep := r.verify(t); rep.OK || rep.Problem == "" {
					t.Errorf("it passes: %+v", rep)
				}
			})
		}
	}
}

// Somebody who makes a new chain with right hashes is caught by the store.
func TestSec_A_CFG_08_ForgedChain(t *testing.T) {
	r := newRig(t, 0)
	r.fill(10)
	r.stop(t)
	forged := newRig(t, 0)
	forged.fill(10)
	forged.stop(t)
	b, err := os.ReadFile(forged.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	if rep := r.verify(t); rep.OK {
		t.Errorf("%+v", rep)
	}
}

func TestCrashLeavesHalfALine(t *testing.T) {
	r := newRig(t, 0)
	r.fill(5)
	r.stop(t)
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":6,"at":1,"ki`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	r.fill(5)
	if rep := r.verify(t); !rep.OK || rep.Entries != 11 {
		t.Errorf("%+v", rep)
	}
}

func TestRotationKeepsTheChain(t *testing.T) {
	r := newRig(t, 4<<10)
	for range 30 {
		r.fill(10)
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rep := r.verify(t)
	files, _ := filepath.Glob(filepath.Join(r.dir, "audit-*.jsonl"))
	if !rep.OK || rep.Last != 300 || rep.First < 2 || len(files) != 3 {
		t.Errorf("%+v, %d files", rep, len(files))
	}
	r.stop(t)
	r.start(t)
	r.fill(1)
	if rep := r.verify(t); !rep.OK {
		t.Errorf("after a restart: %+v", rep)
	}
	if list, err := r.List(t.Context(), audit.Query{Limit: 60}); err != nil || len(list) != 60 || list[0].Seq != 301 || list[59].Seq != 242 {
		t.Errorf("%d %v", len(list), err)
	}
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	if rep := r.verify(t); rep.OK {
		t.Error("a missing file does not show")
	}
}

func TestSec_A_CFG_08_AuditHoldsNoSecrets(t *testing.T) {
	r := newRig(t, 0)
	r.Add(audit.Entry{Kind: audit.KindConfig, What: "set hunter2-hunter2", Facts: map[string]string{"value": "hunter2-hunter2",
		"long": strings.Repeat("x", 5000), "bad": "\xff\n"}})
	if rep := r.verify(t); !rep.OK {
		t.Fatalf("%+v", rep)
	}
	b, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("hunter2")) || len(b) > 3000 || bytes.Count(b, []byte("\n")) != 1 {
		t.Errorf("%s", b)
	}
}

func TestManyWriters(t *testing.T) {
	r := newRig(t, 0)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { r.fill(100) })
	}
	all.Wait()
	if rep := r.verify(t); !rep.OK || rep.Entries != 2000 {
		t.Errorf("%+v", rep)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"seq":1,"at":1,"kind":"exec","what":"x","prev":"","hash":"00"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &rig{dir: t.TempDir()}
		r.path = filepath.Join(r.dir, "audit.jsonl")
		if err := os.WriteFile(r.path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(filepath.Join(r.dir, "db"), store.Options{NoSync: true, ReserveBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		r.db = db
		if r.Log, err = audit.Open(t.Context(), audit.Options{Path: r.path, DB: db, Now: time.Now}); err != nil {
			_ = db.Close(t.Context())
			return // a line that is too long, say
		}
		defer r.stop(t)
		r.fill(1)
		_, _ = r.Verify(t.Context())
	})
}
