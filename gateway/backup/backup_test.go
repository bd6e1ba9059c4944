package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/internal/seed"
)

var passphrase = secret.New("four random words here")

// world is a state folder and a workspace, and a place for their backups.
type world struct {
	t                       *testing.T
	state, workspace, place string
	options                 backup.Options
	key                     backup.Key
	database                []byte
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{t: t, state: filepath.Join(dir, "state"), workspace: filepath.Join(dir, "Hearth"), place: filepath.Join(dir, "disk")}
	for _, d := range []string{w.state, w.workspace, w.place} {
		w.must(os.MkdirAll(d, 0o700))
	}
	recipient := w.newKey()
	w.options = backup.Options{
		Place: w.place, Recipients: []string{recipient}, Blocks: filepath.Join(w.state, "backup.blocks.json"),
		Now: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC),
	}
	return w
}

// newKey is a key as age-keygen makes it: no passphrase slows the tests.
func (w *world) newKey() (recipient string) {
	id, err := age.GenerateX25519Identity()
	w.must(err)
	path := filepath.Join(w.t.TempDir(), "key")
	w.must(os.WriteFile(path, []byte(id.String()+"\n"), 0o600))
	w.key, err = backup.ReadKey(path)
	w.must(err)
	return id.Recipient().String()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(path, text string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(path), 0o700))
	w.must(os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) source() backup.Source {
	s := backup.Source{Version: "test", Roots: []backup.Root{
		{Name: "state", Dir: w.state, Must: true, Skip: func(name string) bool { return name == "backup.blocks.json" }},
		{Name: "workspace/main", Dir: w.workspace},
	}}
	if w.database != nil {
		s.Store = func(_ context.Context, take func(int64, func(io.Writer) error) error) error {
			return take(int64(len(w.database)), func(to io.Writer) error { _, err := to.Write(w.database); return err })
		}
	}
	return s
}

// create makes a backup an hour after the last one.
func (w *world) create() backup.Made {
	w.t.Helper()
	w.options.Now = w.options.Now.Add(time.Hour)
	made, err := backup.Create(w.t.Context(), w.source(), w.options)
	w.must(err)
	return made
}

func (w *world) unpack(name string) (string, *backup.Manifest, error) {
	into := filepath.Join(w.t.TempDir(), "into")
	m, err := backup.Unpack(w.t.Context(), filepath.Join(w.place, name), w.key, into)
	return into, m, err
}

// tree is the text of every file below dir, and where links lead.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(path)
		case d.Type().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			out[rel] = string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(out, "backup.blocks.json")
	return out
}

// TestRoundTrip: what is restored is what was there, of full backups and of those
// upon them, after files grew, shrank, came and went.
func TestRoundTrip(t *testing.T) {
	w, rng := newWorld(t), seed.New(t)
	w.database = make([]byte, 40*backup.BlockSize)
	for i := range 12 {
		w.put(filepath.Join(w.workspace, "notes", string(rune('a'+i))+".md"), strings.Repeat("line\n", rng.IntN(20_000)))
	}
	w.put(filepath.Join(w.state, "hearth.json"), "{}")
	w.put(filepath.Join(w.workspace, "empty"), "")
	w.must(os.Symlink("notes/a.md", filepath.Join(w.workspace, "link")))
	w.must(os.MkdirAll(filepath.Join(w.workspace, "nothing", "here"), 0o750))
	for i := range 6 {
		made := w.create()
		if i == 0 && !made.Full {
			t.Error("the first one is not full")
		}
		into, m, err := w.unpack(made.Name)
		w.must(err)
		if diff := cmp.Diff(tree(t, w.state), without(tree(t, filepath.Join(into, "state")), "hearth.db")); diff != "" {
			t.Fatal("state:", diff)
		}
		if diff := cmp.Diff(tree(t, w.workspace), tree(t, filepath.Join(into, "workspace", "main"))); diff != "" {
			t.Fatal("workspace:", diff)
		}
		db, err := os.ReadFile(filepath.Join(into, "state", "hearth.db"))
		if err != nil || !bytes.Equal(db, w.database) {
			t.Fatalf("database: %d bytes of %d, %v", len(db), len(w.database), err)
		}
		if _, err := os.Stat(filepath.Join(into, "workspace/main/nothing/here")); err != nil || m.Roots["state"] != w.state {
			t.Error(err, m.Roots)
		}
		w.change(rng)
	}
}

// noise fills b with what cannot be made smaller.
func noise(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

func without(m map[string]string, key string) map[string]string {
	delete(m, key)
	return m
}

// change does to the files what days do.
func (w *world) change(rng *rand.Rand) {
	for range 5 {
		w.database[rng.IntN(len(w.database))]++
	}
	if rng.IntN(2) == 0 {
		w.database = append(w.database, make([]byte, rng.IntN(3*backup.BlockSize))...)
	} else {
		w.database = w.database[:len(w.database)-rng.IntN(backup.BlockSize)]
	}
	name := filepath.Join(w.workspace, "notes", string(rune('a'+rng.IntN(12)))+".md")
	w.put(name, strings.Repeat("other\n", rng.IntN(10_000)))
	_ = os.Remove(filepath.Join(w.workspace, "notes", string(rune('a'+rng.IntN(12)))+".md"))
	w.put(filepath.Join(w.workspace, "new", string(rune('a'+rng.IntN(26)))), "new")
}

// TestSecondIsSmall: after a change of 1 % of the database's pages at random, a
// backup has at most a tenth of the bytes.
func TestSecondIsSmall(t *testing.T) {
	w, rng := newWorld(t), seed.New(t)
	const page = 4 << 10
	w.database = make([]byte, 16<<20)
	noise(rng, w.database) // nothing of it can be made smaller
	first := w.create()
	for range len(w.database) / page / 100 {
		noise(rng, w.database[rng.IntN(len(w.database)/page)*page:][:page])
	}
	second := w.create()
	if second.Full || second.Bytes > first.Bytes/10 {
		t.Errorf("the second has %d bytes of %d, full %v", second.Bytes, first.Bytes, second.Full)
	}
}

// TestWhenAFullOneIsMade: without what the last one had, without its file, for
// other recipients, after a month, and when what changed is half of it.
func TestWhenAFullOneIsMade(t *testing.T) {
	for name, do := range map[string]func(*world, backup.Made){
		"blocks lost": func(w *world, _ backup.Made) { w.must(os.Remove(w.options.Blocks)) },
		"file lost":   func(w *world, m backup.Made) { w.must(os.Remove(filepath.Join(w.place, m.Name))) },
		"file cut":    func(w *world, m backup.Made) { w.must(os.Truncate(filepath.Join(w.place, m.Name), 100)) },
		"a month":     func(w *world, _ backup.Made) { w.options.Now = w.options.Now.AddDate(0, 0, 32) },
		"asked for":   func(w *world, _ backup.Made) { w.options.Full = true },
		"other key":   func(w *world, _ backup.Made) { w.options.Recipients = []string{w.newKey()} },
		"half changed": func(w *world, _ backup.Made) {
			noise(seed.New(w.t), w.database)
			if m := w.create(); m.Full {
				w.t.Error("the first change made a full one")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.database = make([]byte, 64*backup.BlockSize)
			noise(seed.New(t), w.database)
			do(w, w.create())
			if m := w.create(); !m.Full {
				t.Error("no full backup was made")
			}
		})
	}
}

// TestSec_A_FILE_BackupsThatAreNotOurs: a wrong passphrase, a byte changed anywhere,
// a file cut short and a missing base are told apart, and nothing is taken.
func TestSec_A_FILE_BackupsThatAreNotOurs(t *testing.T) {
	w := newWorld(t)
	w.database = make([]byte, 4*backup.BlockSize)
	full := w.create()
	w.database[0]++
	part := w.create()
	own := w.key
	w.newKey()
	if _, _, err := w.unpack(full.Name); !errors.Is(err, backup.ErrKey) {
		t.Error("another key:", err)
	}
	w.key = own
	if _, _, err := w.unpack(part.Name); err != nil {
		t.Error(err)
	}
	path := filepath.Join(w.place, part.Name)
	raw, err := os.ReadFile(path)
	w.must(err)
	rng := seed.New(t)
	for range 60 {
		bad := bytes.Clone(raw)
		if rng.IntN(3) == 0 {
			bad = bad[:rng.IntN(len(bad))]
		} else {
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		}
		w.must(os.WriteFile(path, bad, 0o600))
		if _, _, err := w.unpack(part.Name); !errors.Is(err, backup.ErrDamaged) && !errors.Is(err, backup.ErrKey) {
			t.Fatal("a damaged file:", err)
		}
	}
	w.must(os.WriteFile(path, raw, 0o600))
	w.must(os.Remove(filepath.Join(w.place, full.Name)))
	if _, _, err := w.unpack(part.Name); !errors.Is(err, backup.ErrNoBase) {
		t.Error("without its base:", err)
	}
}

// TestKeyUnderAPassphrase: the key of a place is made once; its passphrase opens
// the backups, another one or a short one does not.
func TestKeyUnderAPassphrase(t *testing.T) {
	w := newWorld(t)
	if _, err := backup.MakeKey(w.place, secret.New("short")); !errors.Is(err, backup.ErrWeak) {
		t.Error("a short passphrase:", err)
	}
	recipient, err := backup.MakeKey(w.place, passphrase)
	w.must(err)
	w.options.Recipients = []string{recipient}
	made := w.create()
	if again, err := backup.MakeKey(w.place, passphrase); err != nil || again != recipient {
		t.Error("the key was made anew:", err)
	}
	if _, err := backup.KeyOf(t.Context(), w.place, secret.New("something else")); !errors.Is(err, backup.ErrKey) {
		t.Error("another passphrase:", err)
	}
	w.key, err = backup.KeyOf(t.Context(), w.place, passphrase)
	w.must(err)
	if _, _, err := w.unpack(made.Name); err != nil {
		t.Error(err)
	}
}

// TestSurplus: days, weeks and months keep one each, and what those build upon.
func TestSurplus(t *testing.T) {
	var list []backup.Info
	at := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	for d := range 400 {
		list = append(list, backup.Info{Name: at.AddDate(0, 0, -d).Format(time.DateOnly), At: at.AddDate(0, 0, -d)})
	}
	for i := range list { // a full one on the first of each month
		if list[i].Full = list[i].At.Day() == 1; !list[i].Full {
			list[i].Base = list[i].At.Format("2006-01") + "-01"
		}
	}
	gone := map[string]bool{}
	for _, b := range backup.Surplus(list, backup.Keep{Daily: 7, Weekly: 4, Monthly: 12}, time.UTC) {
		gone[b.Name] = true
	}
	kept := map[string]bool{}
	for _, b := range list {
		if !gone[b.Name] {
			kept[b.Name] = true
		}
	}
	for _, b := range list {
		if kept[b.Name] && b.Base != "" && b.At.After(at.AddDate(0, 0, -395)) && !kept[b.Base] {
			t.Errorf("%s is kept, what it builds upon is not", b.Name)
		}
	}
	for _, want := range []string{"2026-11-23", "2026-11-17", "2026-11-01", "2026-11-15", "2026-10-31", "2026-10-01", "2025-12-31",
		"2025-12-01"} {
		if !kept[want] {
			t.Errorf("%s is not kept", want)
		}
	}
	if len(kept) > 7+4+2*12 {
		t.Errorf("%d are kept", len(kept))
	}
	if left := backup.Surplus(list[:1], backup.Keep{}, time.UTC); len(left) != 0 {
		t.Error("the newest would be removed")
	}
}

// TestPlaceThatIsAway: a disk that is not plugged in is no new folder.
func TestPlaceThatIsAway(t *testing.T) {
	w := newWorld(t)
	w.must(os.RemoveAll(w.place))
	if _, err := backup.Create(t.Context(), w.source(), w.options); err == nil || !strings.Contains(err.Error(), "not there") {
		t.Error(err)
	}
	if _, err := os.Stat(w.place); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder was made")
	}
}
