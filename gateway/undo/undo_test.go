package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/store"
)

type fixture struct {
	t    testing.TB
	dir  string
	work string
	log  *Log
	now  time.Time
	ids  int
}

func newFixture(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: dir, work: filepath.Join(dir, "work"), now: time.Unix(1_800_000_000, 0)}
	if err := os.Mkdir(f.work, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(filepath.Join(dir, "db"), store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	opts := Options{
		Dir: filepath.Join(dir, "copies"), DB: db, Now: func() time.Time { return f.now },
		NewID: func() string { f.ids++; return fmt.Sprint(f.ids) },
	}
	if change != nil {
		change(&opts)
	}
	if f.log, err = Open(opts); err != nil {
		t.Fatal(err)
	}
	return f
}

// change does what a tool does: keep, then change. nil removes the file.
func (f *fixture) change(run, name string, content *string) {
	f.t.Helper()
	f.keep(run, name, content)
	f.do(name, content)
}

func (f *fixture) keep(run, name string, content *string) {
	f.t.Helper()
	c := Change{Path: filepath.Join(f.work, name)}
	p, err := safepath.Finder{}.FindAbs(c.Path)
	if err != nil {
		f.t.Fatal(err)
	}
	c.Folders = p.Missing()
	p.Close()
	if raw, err := os.ReadFile(c.Path); err == nil {
		st, _ := os.Stat(c.Path)
		c.Before = &Content{raw, st.Mode()}
	}
	if content != nil {
		c.After = &Content{[]byte(*content), 0o644}
	}
	if err := f.log.Keep(f.t.Context(), Turn{RunID: run, SessionKey: "s", Tool: "write"}, []Change{c}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) do(name string, content *string) {
	f.t.Helper()
	path := filepath.Join(f.work, name)
	if content == nil {
		_ = os.Remove(path)
		return
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(*content), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) files() map[string]string {
	f.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(f.work, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(f.work, p)
		if d.IsDir() {
			out[rel+"/"] = ""
			return nil
		}
		raw, err := os.ReadFile(p)
		out[rel] = string(raw)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func (f *fixture) apply(run string, force bool) Plan {
	f.t.Helper()
	p, err := f.log.Apply(f.t.Context(), run, force)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func actions(p Plan) (out []string) {
	for _, i := range p.Items {
		out = append(out, filepath.Base(i.Path)+" "+string(i.Action))
	}
	return out
}

func TestUndo(t *testing.T) {
	f := newFixture(t, nil)
	f.do("old", new("v1"))
	f.do("gone", new("g"))
	if err := os.Chmod(filepath.Join(f.work, "old"), 0o750); err != nil {
		t.Fatal(err)
	}
	start := f.files()
	f.change("r1", "old", new("v2"))
	f.change("r1", "old", new("v3"))
	f.change("r1", "gone", nil)
	f.change("r1", "a/b/new", new("n"))
	end := f.files()
	p, err := f.log.Preview("r1")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"old restore", "gone recreate", "new delete"}
	if d := cmp.Diff(want, actions(p)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(end, f.files()); d != "" {
		t.Errorf("the preview changed something: %s", d)
	}
	done := f.apply("r1", false)
	if d := cmp.Diff(start, f.files()); d != "" {
		t.Error(d)
	}
	if st, _ := os.Stat(filepath.Join(f.work, "old")); st.Mode().Perm() != 0o750 {
		t.Errorf("mode %v", st.Mode())
	}
	// Again: nothing is left to do, and no new turn comes of it.
	if again := f.apply("r1", false); again.UndoID != "" || actions(again)[0] != "old nothing" {
		t.Errorf("%+v", again)
	}
	turns, err := f.log.Turns(0)
	if err != nil || len(turns) != 2 || turns[0].UndoOf != "r1" || turns[1].UndoneBy != done.UndoID || len(turns[1].Paths) != 3 {
		t.Errorf("%+v %v", turns, err)
	}
	f.apply(done.UndoID, false)
	if d := cmp.Diff(end, f.files()); d != "" {
		t.Errorf("taking the undo back: %s", d)
	}
	if _, err := f.log.Preview("nobody"); !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
}

func TestConflicts(t *testing.T) {
	f := newFixture(t, nil)
	f.do("a", new("1"))
	f.do("b", new("1"))
	f.change("r", "a", new("2"))
	f.change("r", "b", new("2"))
	f.change("r", "c", new("2"))
	f.do("a", new("mine"))
	f.do("c", nil)
	p := f.apply("r", false)
	if d := cmp.Diff([]string{"a conflict", "b restore", "c nothing"}, actions(p)); d != "" {
		t.Error(d)
	}
	if got := f.files(); got["a"] != "mine" || got["b"] != "1" {
		t.Error(got)
	}
	p = f.apply("r", true)
	if got := f.files(); got["a"] != "1" || !p.Items[0].Forced || !p.Items[0].Done {
		t.Error(got, p)
	}
	f.apply(p.UndoID, false)
	if got := f.files(); got["a"] != "mine" {
		t.Errorf("what was forced away cannot come back: %v", got)
	}
}

func TestWorkspaceIsGone(t *testing.T) {
	f := newFixture(t, nil)
	f.do("d/a", new("1"))
	f.change("r", "d/a", nil)
	if err := os.RemoveAll(f.work); err != nil {
		t.Fatal(err)
	}
	f.apply("r", false)
	if got := f.files(); got["d/a"] != "1" {
		t.Error(got)
	}
}

// TestFault_F_CRASH_BetweenCopyAndChange: the list says more than happened.
func TestFault_F_CRASH_BetweenCopyAndChange(t *testing.T) {
	f := newFixture(t, nil)
	f.do("a", new("1"))
	f.keep("r", "a", new("2"))
	f.keep("r", "b", new("2"))
	start := f.files()
	p := f.apply("r", false)
	if d := cmp.Diff([]string{"a nothing", "b nothing"}, actions(p)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(start, f.files()); d != "" {
		t.Error(d)
	}
}

func TestDamagedCopy(t *testing.T) {
	f := newFixture(t, nil)
	f.do("a", new("1"))
	f.do("b", new("other"))
	f.change("r", "a", new("2"))
	f.change("r", "b", new("2"))
	if err := os.WriteFile(f.log.copyPath(hashOf([]byte("1"))), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := f.apply("r", false)
	if got := f.files(); got["a"] != "2" || got["b"] != "other" || p.Items[0].Action != Failed || !strings.Contains(p.Items[0].Reason,
		"damaged") {
		t.Error(got, p)
	}
}

func TestSec_A_FILE_02_UndoFollowsNoLink(t *testing.T) {
	f := newFixture(t, nil)
	f.do("d/a", new("1"))
	f.change("r", "d/a", new("2"))
	out := filepath.Join(f.dir, "out")
	err := errors.Join(os.Mkdir(out, 0o755), os.WriteFile(filepath.Join(out, "a"), []byte("2"), 0o644),
		os.RemoveAll(filepath.Join(f.work, "d")), os.Symlink(out, filepath.Join(f.work, "d")))
	if err != nil {
		t.Skip(err)
	}
	p := f.apply("r", true)
	if raw, _ := os.ReadFile(filepath.Join(out, "a")); string(raw) != "2" || p.Items[0].Action != Failed {
		t.Errorf("%s %+v", raw, p)
	}
}

func TestTidy(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.MaxBytes = 25 })
	copies := func() int {
		n := 0
		_ = filepath.WalkDir(f.log.opts.Dir, func(_ string, d fs.DirEntry, _ error) error {
			if !d.IsDir() {
				n++
				if st, _ := d.Info(); st.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %v", d.Name(), st.Mode())
				}
			}
			return nil
		})
		return n
	}
	for i := range 4 { // 10 bytes each, the last two fit
		f.do("a", new(fmt.Sprintf("content %02d", i)))
		f.change(fmt.Sprint("r", i), "a", new("x"))
	}
	if n := copies(); n != 2 {
		t.Errorf("%d copies", n)
	}
	turns, _ := f.log.Turns(0)
	if len(turns) != 2 || turns[0].RunID != "r3" {
		t.Errorf("%+v", turns)
	}
	f.now = f.now.Add(7*24*time.Hour + time.Second)
	f.do("a", new("y"))
	f.change("new", "a", new("z"))
	if err := f.log.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if turns, _ = f.log.Turns(0); len(turns) != 1 || copies() != 1 {
		t.Errorf("%+v, %d copies", turns, copies())
	}
	f.apply("new", false)
	if f.files()["a"] != "y" {
		t.Error(f.files())
	}
}

// TestAnyEditsThenUndo: whatever turns did, taking them back newest first ends
// where it began.
func TestAnyEditsThenUndo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newFixture(t, nil)
		names := []string{"a", "b", "d/a", "d/e/f", "g/h"}
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(r, "there") {
			f.do(n, new("start "+n))
		}
		states := []map[string]string{f.files()}
		runs := rapid.IntRange(1, 4).Draw(r, "runs")
		for run := range runs {
			for range rapid.IntRange(1, 5).Draw(r, "edits") {
				n := rapid.SampledFrom(names).Draw(r, "name")
				if _, there := f.files()[n]; there && rapid.Bool().Draw(r, "delete") {
					f.change(fmt.Sprint(run), n, nil)
				} else {
					f.change(fmt.Sprint(run), n, new(rapid.SampledFrom([]string{"", "x", "y\n"}).Draw(r, "content")))
				}
			}
			states = append(states, f.files())
		}
		for run := runs - 1; run >= 0; run-- {
			p := f.apply(fmt.Sprint(run), false)
			if d := cmp.Diff(filesOnly(states[run]), filesOnly(f.files())); d != "" {
				r.Fatalf("run %d: %s %v", run, d, actions(p))
			}
			if p.UndoID != "" && rapid.Bool().Draw(r, "redo") {
				back := f.apply(p.UndoID, false)
				if d := cmp.Diff(filesOnly(states[run+1]), filesOnly(f.files())); d != "" {
					r.Fatalf("redo of %d: %s %v", run, d, actions(back))
				}
				f.apply(back.UndoID, false)
			}
		}
	})
}

func filesOnly(m map[string]string) map[string]string {
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(k, _ string) bool { return strings.HasSuffix(k, "/") })
	return out
}

// TestTheLimitGoesByTheDisk: two gigabytes, or a tenth of what is free with what the
// copies take; what the owner says stands above that.
func TestTheLimitGoesByTheDisk(t *testing.T) {
	free, known, most := int64(0), true, int64(0)
	f := newFixture(t, func(o *Options) { o.Free = func() (int64, bool) { return free, known } })
	f.log.SetMost(func() int64 { return most })
	for _, c := range []struct {
		free  int64
		known bool
		most  int64
		want  int64
	}{
		{1 << 40, true, 0, 2 << 30}, {0, false, 0, 2 << 30}, {5 << 30, true, 0, (5 << 30) / 10}, {10 << 20, true, 0, 64 << 20},
		{5 << 30, true, 100 << 20, 100 << 20},
	} {
		free, known, most = c.free, c.known, c.most
		if got := f.log.Usage().Limit; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestWhatHadToGoTooSoonIsTold: the oldest go first; when that is the newest copy of a
// file that was changed within the hour, it is said.
func TestWhatHadToGoTooSoonIsTold(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.MaxBytes = 25 })
	f.do("old", new("content 00"))
	f.change("r0", "old", new("x"))
	f.now = f.now.Add(2 * time.Hour)
	for i := range 2 { // of the same file: its newest stays
		f.do("a", new(fmt.Sprintf("content a%d", i)))
		f.change(fmt.Sprint("a", i), "a", new("x"))
	}
	f.do("b", new("content b0"))
	f.change("b0", "b", new("x"))
	if u := f.log.Usage(); u.Bytes != 20 || len(u.Shed) != 0 {
		t.Errorf("an old one and one of two had to go: %+v", u)
	}
	f.do("c", new("content c0"))
	f.change("c0", "c", new("x"))
	u := f.log.Usage()
	if u.Bytes != 20 || len(u.Shed) != 1 || filepath.Base(u.Shed[0]) != "a" || !u.ShedAt.Equal(f.now) {
		t.Errorf("the newest of a had to go: %+v", u)
	}
}
