package move_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// killed names what a process of this test does until it is killed.
const killed = "HEARTH_OPS_CHILD"

// TestOperation is not a test: it is the process that is killed.
func TestOperation(t *testing.T) {
	what := os.Getenv(killed)
	if what == "" {
		t.Skip("only as a process of its own")
	}
	if err := child(t.Context(), what, os.Getenv("HEARTH_OPS_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		t.Fail()
	}
}

// operation is a process that does it.
func (p place) operation(what string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOperation$")
	cmd.Env = append(os.Environ(), killed+"="+what, "HEARTH_OPS_DIR="+string(p))
	return cmd
}

// place is a world of two machines and a disk: what a process works on.
type place string

func (p place) old() statedir.Dir  { return statedir.Dir(filepath.Join(string(p), "old", "state")) }
func (p place) new() statedir.Dir  { return statedir.Dir(filepath.Join(string(p), "new", "state")) }
func (p place) disk() string       { return filepath.Join(string(p), "disk") }
func (p place) file() string       { return filepath.Join(p.disk(), "moved.age") }
func homeOf(d statedir.Dir) string { return filepath.Dir(string(d)) }
func (p place) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(string(p), name))
	return strings.TrimSpace(string(b))
}

var notes = store.NewBucket[string]("notes")

// accept is a message that is accepted: it is on disk.
func accept(ctx context.Context, d statedir.Dir, words ...string) error {
	db, err := store.Open(d.Store(), store.Options{ReserveBytes: -1})
	if err != nil {
		return err
	}
	err = db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		for _, w := range words {
			if err := notes.Put(tx, []byte(w), w); err != nil {
				return err
			}
		}
		return nil
	}})
	return errors.Join(err, db.Close(ctx))
}

// accepted is what a Hearth holds: the store opens, and this is in it.
func accepted(ctx context.Context, d statedir.Dir, words ...string) (out []string, err error) {
	db, err := store.Open(d.Store(), store.Options{ReserveBytes: -1})
	if err != nil {
		return nil, err
	}
	err = db.View(func(tx *store.Tx) error {
		for _, w := range words {
			_, ok, err := notes.Get(tx, []byte(w))
			if err != nil {
				return err
			}
			if ok {
				out = append(out, w)
			}
		}
		return nil
	})
	return out, errors.Join(err, db.Close(ctx))
}

func contents(p place, d statedir.Dir) (backup.Contents, *store.DB, error) {
	db, err := store.Open(d.Store(), store.Options{ReserveBytes: -1})
	return backup.Contents{
		Dir: d, Store: db, Workspaces: map[string]string{"main": filepath.Join(homeOf(d), "Hearth")}, Settings: []byte(`{"a":1}`),
		Secrets: true, Moving: true, Version: "test", Home: homeOf(d), Values: []byte(`{"a-key":"value"}`),
	}, db, err
}

func (p place) restoring(d statedir.Dir, file string, key backup.Key, moved bool) restore.Options {
	return restore.Options{Dir: d, Config: filepath.Join(string(d), "hearth.json"), Home: homeOf(d), File: file, Key: key, Now: time.Now(),
		Moved: moved}
}

// child is one operation, whole.
func child(ctx context.Context, what, dir string) error {
	p := place(dir)
	switch what {
	case "backup":
		c, db, err := contents(p, p.old())
		if err != nil {
			return err
		}
		_, err = backup.Create(ctx, c.Source(), backup.Options{Place: p.disk(), Recipients: []string{p.read("to")},
			Blocks: p.old().BackupBlocks(), Secrets: true, Now: time.Now()})
		return errors.Join(err, db.Close(ctx))
	case "restore":
		s, err := restore.Stage(ctx, p.restoring(p.old(), p.newest(), p.key(), false))
		if err != nil {
			return err
		}
		_, err = s.Apply()
		return err
	case "undo":
		_, err := restore.Undo(p.old())
		return err
	case "export":
		return p.export(ctx)
	case "import":
		return p.put(ctx, "file", p.file(), p.key())
	case "lan":
		if err := p.pack(ctx); err != nil {
			return err
		}
		return p.bring(ctx)
	case "bring":
		return p.bring(ctx)
	case "wake":
		return move.Wake(ctx, p.old(), false)
	}
	return errors.New("no such operation")
}

func (p place) key() backup.Key {
	k, err := backup.ReadKey(filepath.Join(string(p), "key"))
	if err != nil {
		panic(err)
	}
	return k
}

func (p place) newest() string {
	list, err := backup.List(p.disk())
	if err != nil || len(list) == 0 {
		panic("no backup")
	}
	return filepath.Join(p.disk(), list[0].Name)
}

func (p place) export(ctx context.Context) error {
	c, db, err := contents(p, p.old())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(ctx) }()
	if !move.Asleep(p.old()).Sleeps() {
		if err := move.Leave(ctx, p.old(), move.State{ID: "file", At: time.Now().UTC()}); err != nil {
			return err
		}
	}
	lock, err := backup.LockOf(p.read("to"))
	if err != nil {
		return err
	}
	_, err = move.Export(ctx, p.old(), c.Source(), backup.Sealing{Path: p.file(), To: lock, Now: time.Now()})
	return err
}

const device = "device-1"

func (p place) pack(ctx context.Context) error {
	if err := move.Leave(ctx, p.old(), move.State{ID: "move-1", Device: device, At: time.Now().UTC()}); err != nil {
		return err
	}
	c, db, err := contents(p, p.old())
	if err != nil {
		return err
	}
	_, err = move.Pack(ctx, p.old(), c.Source(), time.Now(), nil)
	return errors.Join(err, db.Close(ctx))
}

// bring is the newer machine, which goes on wherever an earlier try ended.
func (p place) bring(ctx context.Context) error {
	packed, _ := move.IsPacked(p.old())
	c, on := move.ReadComing(p.new())
	if _, has := move.Key(p.new()); !has || !on {
		c = move.Coming{ID: "move-1", From: "old", Packed: packed}
		if err := move.Expect(p.new(), c); err != nil {
			return err
		}
		err := move.Bring(ctx, p.new(), c, func(_ context.Context, at int64) ([]byte, error) {
			b, err := move.Piece(p.old(), at)
			return b[:min(len(b), 32<<10)], err
		}, func(int64) {})
		if err != nil {
			return err
		}
	}
	key, err := move.Release(ctx, p.old(), c.ID, device, c.SHA256)
	if err != nil {
		return err
	}
	if err := move.KeepKey(p.new(), key); err != nil {
		return err
	}
	k, err := backup.KeyText(key)
	if err != nil {
		return err
	}
	if err := p.put(ctx, c.ID, move.Incoming(p.new()), k); err != nil {
		return err
	}
	return move.Gone(ctx, p.old(), c.ID, device)
}

func (p place) put(ctx context.Context, id, file string, key backup.Key) error {
	if err := p.new().Ensure(); err != nil {
		return err
	}
	s, err := restore.Stage(ctx, p.restoring(p.new(), file, key, true))
	if err != nil {
		return err
	}
	if err := move.Put(p.new(), id, s); err != nil {
		return err
	}
	return p.finish()
}

func (p place) finish() error {
	_, err := move.Finish(p.new(), func(v []byte) error {
		return statedir.WriteFile(filepath.Join(homeOf(p.new()), "keychain"), v)
	})
	return err
}

// lives reports whether a machine would answer as the Hearth that this is about.
func (p place) lives(d statedir.Dir) bool {
	id, err := os.ReadFile(d.Identity())
	return err == nil && string(id) == "who it is" && !move.Asleep(d).Sleeps() && !restore.Half(d)
}

// operations are tried at random. Each makes what it needs, is killed, and is
// brought to an end as its person would.
type world struct {
	place
	t    *testing.T
	r    *rand.Rand
	took map[string]time.Duration
	kill map[string]int
	whol map[string]int
	ways map[string]int
}

func newWorld(t *testing.T) *world {
	return &world{t: t, r: seed.New(t), took: map[string]time.Duration{}, kill: map[string]int{}, whol: map[string]int{},
		ways: map[string]int{}}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// fresh makes two machines: a Hearth of some use, and one without any.
func (w *world) fresh() {
	if w.place != "" {
		_ = os.RemoveAll(string(w.place))
	}
	dir, err := os.MkdirTemp("", "hearth-ops-*")
	w.must(err)
	w.place = place(dir)
	w.must(errors.Join(os.MkdirAll(w.disk(), 0o700), w.old().Ensure(), os.MkdirAll(filepath.Join(homeOf(w.old()), "Hearth"), 0o700),
		os.MkdirAll(homeOf(w.new()), 0o700)))
	id, err := age.GenerateX25519Identity()
	w.must(err)
	w.must(os.WriteFile(filepath.Join(dir, "key"), []byte(id.String()), 0o600))
	w.must(os.WriteFile(filepath.Join(dir, "to"), []byte(id.Recipient().String()), 0o600))
	w.must(os.WriteFile(w.old().Identity(), []byte("who it is"), 0o600))
	big := make([]byte, 300<<10)
	for i := range big {
		big[i] = byte(w.r.Uint32())
	}
	w.must(os.WriteFile(filepath.Join(homeOf(w.old()), "Hearth", "MEMORY.md"), big, 0o600))
	w.must(accept(w.t.Context(), w.old(), "one", "two"))
}

// run does an operation in a process; it is killed at some moment when it shall be.
func (w *world) run(what string, shallDie bool) {
	w.t.Helper()
	cmd := w.operation(what)
	var said strings.Builder
	cmd.Stderr = &said
	began := time.Now()
	w.must(cmd.Start())
	if shallDie {
		usual := cmp.Or(w.took[what], 60*time.Millisecond)
		timer := time.AfterFunc(time.Duration(w.r.Int64N(int64(usual*11/10))), func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err := cmd.Wait()
	var ended *exec.ExitError
	switch {
	case err == nil:
		w.took[what] = time.Since(began)
		if shallDie {
			w.whol[what]++
		}
	case shallDie && errors.As(err, &ended) && ended.ExitCode() == -1:
		w.kill[what]++
	default:
		w.t.Fatalf("%s: %v %s", what, err, said.String())
	}
}

// holds checks that a Hearth is whole: its store opens, what was accepted is there,
// and so are its files.
func (w *world) holds(d statedir.Dir, want ...string) {
	w.t.Helper()
	got, err := accepted(w.t.Context(), d, "one", "two", "three")
	if err != nil || !slices.Equal(got, want) {
		w.t.Fatalf("%s: it holds %v, want %v, %v", d, got, want, err)
	}
	if st, err := os.Stat(filepath.Join(homeOf(d), "Hearth", "MEMORY.md")); err != nil || st.Size() != 300<<10 {
		w.t.Fatalf("%s: its memory is not there: %v", d, err)
	}
}

func (w *world) way(name string) { w.ways[name]++ }

func (w *world) backup() {
	if w.r.IntN(2) == 0 {
		w.run("backup", false)
		w.must(accept(w.t.Context(), w.old(), "three"))
	} else {
		w.must(accept(w.t.Context(), w.old(), "three"))
	}
	w.run("backup", true)
	w.holds(w.old(), "one", "two", "three")
	list, err := backup.List(w.disk())
	w.must(err)
	for _, b := range list {
		if _, err := restore.Verify(w.t.Context(), w.old(), filepath.Join(w.disk(), b.Name), w.key(), time.Now()); err != nil {
			w.t.Fatalf("%s: %v", b.Name, err)
		}
	}
	w.way(fmt.Sprintf("backup: %d whole", len(list)))
}

// restore and its undo: afterwards it is what it was, or what was saved, and never a
// part of both.
func (w *world) restore() {
	w.run("backup", false)
	w.must(accept(w.t.Context(), w.old(), "three"))
	what, want := "restore", []string{"one", "two"}
	if w.r.IntN(2) == 0 {
		w.run("restore", false)
		what = "undo"
	}
	w.run(what, true)
	if restore.Half(w.old()) {
		if w.r.IntN(2) == 0 {
			w.way(what + ": finished")
			j, err := restore.Resume(w.old())
			w.must(err)
			if j.Phase == restore.Undone {
				want = []string{"one", "two", "three"}
			}
		} else {
			w.way(what + ": taken back")
			_, err := restore.Undo(w.old())
			w.must(err)
			want = []string{"one", "two", "three"}
		}
	} else if j, err := restore.Read(w.old()); errors.Is(err, restore.ErrNothing) || j.Phase == restore.Undone {
		w.way(what + ": as before")
		want = []string{"one", "two", "three"}
	} else {
		w.way(what + ": restored")
	}
	w.holds(w.old(), want...)
}

// export: it is awake and whole, or asleep with a way to wake it and to go on.
func (w *world) export() {
	w.run("export", true)
	s := move.Asleep(w.old())
	_, missing := os.Stat(w.file())
	switch {
	case !s.Sleeps():
		w.way("export: awake")
		if missing == nil {
			w.t.Fatal("there is a file, and the Hearth in it is awake here")
		}
	case s.Phase == move.Leaving:
		if missing == nil {
			w.t.Fatal("there is a file, and it could be woken here without a word")
		}
		if w.r.IntN(2) == 0 {
			w.way("export: woken")
			w.must(move.Wake(w.t.Context(), w.old(), false))
			break
		}
		w.way("export: gone on")
		w.run("export", false)
	default:
		w.way("export: left")
		if err := move.Wake(w.t.Context(), w.old(), false); !errors.Is(err, move.ErrSure) {
			w.t.Fatalf("it was woken without a word: %v", err)
		}
		if missing != nil {
			w.run("export", false)
		}
	}
	w.holds(w.old(), "one", "two")
}

func (w *world) imports() {
	w.run("export", false)
	if w.r.IntN(2) == 0 { // another Hearth is there already
		w.must(errors.Join(w.new().Ensure(), accept(w.t.Context(), w.new(), "three")))
	}
	w.run("import", true)
	w.alone()
	w.arrive("import")
}

// arrive goes on after the newer machine was killed, as it says, until it is awake.
func (w *world) arrive(what string) {
	s := move.Asleep(w.new())
	switch {
	case !s.Sleeps() && w.lives(w.new()):
		w.way(what + ": awake there")
	case !s.Sleeps():
		w.way(what + ": begun again")
		w.run(what, false)
	default:
		err := w.finish()
		if errors.Is(err, move.ErrAgain) {
			w.way(what + ": put again")
			w.run(what, false)
		} else {
			w.way(what + ": finished")
			w.must(err)
		}
	}
	if !w.lives(w.new()) {
		w.t.Fatal("it is not awake there")
	}
	w.alone()
	w.holds(w.new(), "one", "two")
	if v, err := os.ReadFile(filepath.Join(homeOf(w.new()), "keychain")); err != nil || !strings.Contains(string(v), "a-key") {
		w.t.Fatalf("its keys did not come along: %v", err)
	}
}

// alone: never two.
func (w *world) alone() {
	w.t.Helper()
	if w.lives(w.old()) && w.lives(w.new()) {
		w.t.Fatal("two are awake as one")
	}
}

func (w *world) lan() {
	w.run("lan", true)
	w.alone()
	if !w.lives(w.old()) && w.r.IntN(2) == 0 { // its person wants it back
		err := move.Wake(w.t.Context(), w.old(), false)
		w.alone()
		switch {
		case err == nil:
			w.way("lan: woken")
			w.holds(w.old(), "one", "two")
			if err := w.operation("bring").Run(); err == nil || w.lives(w.new()) {
				w.t.Fatal("the other machine woke up although this one was woken")
			}
			return
		case !errors.Is(err, move.ErrSure):
			w.t.Fatal(err)
		}
	}
	if w.lives(w.new()) {
		w.way("lan: awake there")
	}
	w.arrive("lan")
}

func (w *world) wake() {
	w.must(w.pack(w.t.Context()))
	w.run("wake", true)
	w.alone()
	if move.Asleep(w.old()).Sleeps() {
		w.way("wake: again")
		if key, err := move.Release(w.t.Context(), w.old(), "move-1", device, ""); err == nil || !key.IsZero() {
			w.t.Fatal("a key was given while it was being woken")
		}
		w.must(move.Wake(w.t.Context(), w.old(), false))
	}
	w.holds(w.old(), "one", "two")
	if !w.lives(w.old()) {
		w.t.Fatal("it is not awake")
	}
}

// TestFault_F_OPS_Killed kills processes that back up, restore, take a restore back,
// export, import, move and wake, at random moments. After each the store opens, what
// was accepted is there, never are two awake as one, and the ways out that a person
// is told of lead out.
func TestFault_F_OPS_Killed(t *testing.T) {
	w := newWorld(t)
	defer func() { _ = os.RemoveAll(string(w.place)) }()
	all := []func(){w.backup, w.restore, w.export, w.imports, w.lan, w.lan, w.wake}
	n, rounds := 0, 0
	for want := seed.Rounds(24, 800); n < want; rounds++ {
		w.fresh()
		all[rounds%len(all)]()
		n = 0
		for _, k := range w.kill {
			n += k
		}
		if rounds > 10*want {
			t.Fatalf("only %d of %d were killed", n, rounds)
		}
	}
	t.Logf("%d rounds, %d kills %v, %v were whole before; ways out: %v", rounds, n, w.kill, w.whol, w.ways)
}
