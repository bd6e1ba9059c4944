package undo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

func (f *fixture) watch(run string, names ...string) *Watched {
	f.t.Helper()
	for i, n := range names {
		if !filepath.IsAbs(n) && !strings.HasPrefix(n, "?") {
			names[i] = filepath.Join(f.work, n)
		}
	}
	w, err := f.log.Watch(f.t.Context(), Turn{RunID: run, SessionKey: "s", Tool: "exec"}, names)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

// What a command wrote comes back like what a tool wrote, once it has ended.
func TestWatch(t *testing.T) {
	f := newFixture(t, nil)
	f.do("old", new("v1"))
	f.do("same", new("s"))
	start := f.files()
	w := f.watch("r", "old", "made", "same", "old")
	if w.Kept != 3 || len(w.Missed) != 0 {
		t.Fatalf("%+v", w)
	}
	f.do("old", new("v2"))
	f.do("made", new("m"))
	for range 2 { // while it runs, only force
		p, err := f.log.Preview("r")
		if err != nil || cmp.Diff([]string{"old conflict", "made conflict", "same nothing"}, actions(p)) != "" ||
			!strings.Contains(p.Items[0].Reason, "still runs") {
			t.Errorf("%v, %v", actions(p), err)
		}
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := f.files()
	p := f.apply("r", false)
	if d := cmp.Diff([]string{"old restore", "made delete"}, actions(p)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(start, f.files()); d != "" {
		t.Error(d)
	}
	f.apply(p.UndoID, false)
	if d := cmp.Diff(end, f.files()); d != "" {
		t.Error(d)
	}
	// One that changes nothing leaves no turn behind.
	w = f.watch("idle", "old")
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.log.Preview("idle"); !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
}

// A command whose end nobody saw: nothing is overwritten unasked, force works.
func TestFault_F_CRASH_08_UndoOfAnUnknownEnd(t *testing.T) {
	f := newFixture(t, nil)
	f.do("a", new("1"))
	f.watch("r", "a")
	f.do("a", new("2"))
	if p := f.apply("r", false); actions(p)[0] != "a conflict" || f.files()["a"] != "2" {
		t.Errorf("%+v", p)
	}
	if p := f.apply("r", true); actions(p)[0] != "a restore" || f.files()["a"] != "1" {
		t.Errorf("%+v", p)
	}
}

// Of what is no file, not ours to read, too large or nowhere, nothing is kept,
// and it is said.
func TestWatchMisses(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Finder = safepath.Finder{Private: []string{o.Dir}} })
	big := filepath.Join(f.work, "big")
	if err := errors.Join(os.WriteFile(big, nil, 0o600), os.Truncate(big, maxWatched+1),
		os.Mkdir(filepath.Join(f.work, "dir"), 0o700)); err != nil {
		t.Fatal(err)
	}
	w := f.watch("r", "big", "dir", "/dev/null", "/proc/self/mem", "?what is not known", filepath.Join(f.dir, "copies", "x"), "good")
	if w.Kept != 1 || len(w.Missed) != 6 {
		t.Errorf("kept %d, missed %q", w.Kept, w.Missed)
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Error(err)
	}
}
