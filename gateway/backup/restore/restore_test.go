package restore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

var now = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// home is a person's folder with a Hearth in it, and a disk for backups.
type home struct {
	t     *testing.T
	dir   string
	state statedir.Dir
	disk  string
	to    string // who opens the backups
	key   backup.Key
}

func newHome(t *testing.T) *home {
	h := &home{t: t, dir: t.TempDir(), disk: t.TempDir()}
	h.state = statedir.Dir(filepath.Join(h.dir, "state"))
	h.must(h.state.Ensure())
	id, err := age.GenerateX25519Identity()
	h.must(err)
	key := filepath.Join(t.TempDir(), "key")
	h.must(os.WriteFile(key, []byte(id.String()), 0o600))
	h.key, err = backup.ReadKey(key)
	h.must(err)
	h.to = id.Recipient().String()
	return h
}

func (h *home) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	h.must(os.MkdirAll(filepath.Dir(path), 0o700))
	h.must(os.WriteFile(path, []byte(text), 0o600))
}

// live fills the home as days of use do.
func (h *home) live(words string) {
	db, err := store.Open(h.state.Store(), store.Options{ReserveBytes: -1})
	h.must(err)
	notes := store.NewBucket[string]("notes")
	h.must(db.Update(h.t.Context(), store.Write{Do: func(tx *store.Tx) error { return notes.Put(tx, []byte("n"), words) }}))
	h.must(db.Close(h.t.Context()))
	h.put("state/hearth.json", `{"note": "`+words+`"}`)
	h.put("state/device.key", "the key of "+words)
	h.put("state/hearth.removed.json", "removed until "+words)
	h.put("state/media/a.png", words)
	h.put("state-skills/x/SKILL.md", words)
	h.put("Hearth/MEMORY.md", words)
	h.put("Hearth/deep/er.txt", "always the same")
}

func (h *home) backup(secrets bool) string {
	h.t.Helper()
	db, err := store.Open(h.state.Store(), store.Options{ReserveBytes: -1})
	h.must(err)
	settings, err := os.ReadFile(filepath.Join(h.dir, "state/hearth.json"))
	h.must(err)
	made, err := backup.Create(h.t.Context(), backup.Contents{
		Dir: h.state, Store: db, Workspaces: map[string]string{"main": filepath.Join(h.dir, "Hearth")}, Settings: settings,
		Secrets: secrets,
		Version: "test", Home: h.dir, Values: []byte(`{"a-key":"value"}`),
	}.Source(), backup.Options{Place: h.disk, Recipients: []string{h.to}, Blocks: filepath.Join(string(h.state), "backup.blocks.json"),
		Now: now})
	h.must(errors.Join(err, db.Close(h.t.Context())))
	return filepath.Join(h.disk, made.Name)
}

func (h *home) options(file string) restore.Options {
	return restore.Options{
		Dir: h.state, Config: filepath.Join(string(h.state), "hearth.json"), Home: h.dir, File: file, Key: h.key, Now: now,
	}
}

// says is what the home says about itself.
func (h *home) says() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	for _, name := range []string{
		"state/hearth.json", "state/device.key", "state/hearth.removed.json", "state/media/a.png", "state-skills/x/SKILL.md",
		"Hearth/MEMORY.md",
		"Hearth/deep/er.txt", "Hearth/later.md",
	} {
		b, err := os.ReadFile(filepath.Join(h.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.t.Error(err)
		}
		out[name] = string(b)
	}
	db, err := store.Open(h.state.Store(), store.Options{ReserveBytes: -1})
	h.must(err)
	notes := store.NewBucket[string]("notes")
	h.must(db.View(func(tx *store.Tx) error {
		text, _, err := notes.Get(tx, []byte("n"))
		out["database"] = text
		return err
	}))
	h.must(db.Close(h.t.Context()))
	return out
}

// TestThereAndBack: a restore brings back what was saved, keeps who this Hearth is
// and what was removed since, and can be taken back whole.
func TestThereAndBack(t *testing.T) {
	for _, secrets := range []bool{false, true} {
		t.Run(fmt.Sprint("secrets=", secrets), func(t *testing.T) {
			h := newHome(t)
			h.live("monday")
			before := h.says()
			file := h.backup(secrets)
			h.live("friday")
			h.put("Hearth/later.md", "written since")
			after := h.says()

			s, err := restore.Stage(t.Context(), h.options(file))
			h.must(err)
			if diff := cmp.Diff(after, h.says()); diff != "" {
				t.Error("looking changed something:", diff)
			}
			if (s.Values != nil) != secrets || s.Records == 0 {
				t.Errorf("values %q, records %d", s.Values, s.Records)
			}
			for _, c := range s.Changes {
				if strings.HasSuffix(c.To, "Hearth") && (c.Same != 1 || c.Differ != 1 || c.Newer != 1) {
					t.Errorf("%+v", c)
				}
			}
			_, err = s.Apply()
			h.must(err)
			want := before
			want["state/hearth.removed.json"] = after["state/hearth.removed.json"]
			if !secrets {
				want["state/device.key"] = after["state/device.key"]
			}
			if diff := cmp.Diff(want, h.says()); diff != "" {
				t.Error("restored:", diff)
			}
			_, err = restore.Undo(h.state)
			h.must(err)
			if diff := cmp.Diff(after, h.says()); diff != "" {
				t.Error("taken back:", diff)
			}
			if _, err := restore.Undo(h.state); !errors.Is(err, restore.ErrNothing) {
				t.Error("taken back twice:", err)
			}
		})
	}
}

// TestVerifyLeavesNothing: what a backup holds stands readable on the disk only while it
// is looked at, and what one that was killed has left goes a day later.
func TestVerifyLeavesNothing(t *testing.T) {
	h := newHome(t)
	h.live("one")
	file := h.backup(false)
	for name, age := range map[string]time.Duration{"state.verifying-1": 25 * time.Hour, "state.verifying-2": time.Hour} {
		h.put(name+"/all/left", "words")
		at := now.Add(-age)
		h.must(os.Chtimes(filepath.Join(h.dir, name), at, at))
	}
	v, err := restore.Verify(t.Context(), h.state, file, h.key, now)
	if err != nil || v.Files == 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := restore.Verify(t.Context(), h.state, file+"-gone", h.key, now); err == nil {
		t.Error("a file that is not there is good")
	}
	left, err := filepath.Glob(filepath.Join(h.dir, "state.verifying-*"))
	h.must(err)
	if want := []string{filepath.Join(h.dir, "state.verifying-2")}; !slices.Equal(left, want) {
		t.Errorf("%v is left, want %v", left, want)
	}

	// Where there is no state folder, such as on another machine.
	elsewhere := statedir.Dir(filepath.Join(t.TempDir(), "none", "state"))
	if _, err := restore.Verify(t.Context(), elsewhere, file, h.key, now); err != nil {
		t.Error(err)
	}
}

// TestSec_A_SEC_BackupWithoutSecretsHasNone: a canary in every file that is secret is
// in no byte of a backup without secrets.
func TestSec_A_SEC_BackupWithoutSecretsHasNone(t *testing.T) {
	h := newHome(t)
	h.live("monday")
	const canary = "canary-7c1f"
	for _, name := range []string{"device.key", "gateway.token", "gateway.identity", "gateway.remote-key", "secrets.vault",
		"secrets.plain.json"} {
		h.put("state/"+name, canary)
	}
	into := filepath.Join(t.TempDir(), "into")
	_, err := backup.Unpack(t.Context(), h.backup(false), h.key, into)
	h.must(err)
	h.must(filepath.WalkDir(into, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), canary) || strings.Contains(string(raw), "a-key") {
			t.Errorf("%s holds a secret", path)
		}
		return err
	}))
}

// TestAnotherMachine: restored into an empty home, folders that were in the old home
// are in the new one.
func TestAnotherMachine(t *testing.T) {
	old, fresh := newHome(t), newHome(t)
	old.live("monday")
	file := old.backup(true)
	want := old.says()
	o := fresh.options(file)
	o.Key = old.key
	h := fresh
	s, err := restore.Stage(t.Context(), o)
	h.must(err)
	_, err = s.Apply()
	h.must(err)
	if diff := cmp.Diff(want, h.says()); diff != "" {
		t.Error(diff)
	}
}

// TestFault_F_OPS_RestoreCutShort: a restore, and taking it back, cut short behind
// any of their renames can be finished and can be taken back, and nothing is
// lost.
func TestFault_F_OPS_RestoreCutShort(t *testing.T) {
	moves := []string{"a", "b", "fresh"} // nothing is there for the last one
	build := func(t *testing.T) (statedir.Dir, restore.Journal) {
		dir := t.TempDir()
		j := restore.Journal{Phase: restore.Swapping, Backup: "x"}
		for _, name := range moves {
			m := restore.Move{To: filepath.Join(dir, name), New: filepath.Join(dir, name+".new"), Old: filepath.Join(dir, name+".old")}
			j.Moves = append(j.Moves, m)
			write(t, m.New, "saved")
			if name != "fresh" {
				write(t, m.To, "own")
			}
		}
		return statedir.Dir(filepath.Join(dir, "state")), j
	}
	// every rename of a restore, in order
	forth := func(j restore.Journal) (out [][2]string) {
		for _, m := range j.Moves {
			if !strings.HasSuffix(m.To, "fresh") {
				out = append(out, [2]string{m.To, m.Old})
			}
			out = append(out, [2]string{m.New, m.To})
		}
		return out
	}
	back := func(j restore.Journal) (out [][2]string) {
		for i := len(j.Moves) - 1; i >= 0; i-- {
			m := j.Moves[i]
			out = append(out, [2]string{m.To, m.New})
			if !strings.HasSuffix(m.To, "fresh") {
				out = append(out, [2]string{m.Old, m.To})
			}
		}
		return out
	}
	tried := 0
	for cut := 0; cut <= 5; cut++ {
		for undoCut := -1; undoCut <= 5; undoCut++ {
			tried++
			dir, j := build(t)
			steps := forth(j)
			if undoCut >= 0 {
				cut := len(steps)
				j.Phase = restore.Undoing
				steps = append(steps[:cut:cut], back(j)[:undoCut]...)
			} else {
				steps = steps[:cut]
			}
			for _, s := range steps {
				if err := os.Rename(s[0], s[1]); err != nil {
					t.Fatal(err)
				}
			}
			keep(t, dir, j)
			done, err := restore.Resume(dir)
			if err != nil {
				t.Fatalf("cut %d, %d: %v", cut, undoCut, err)
			}
			want := "saved saved saved"
			if undoCut >= 0 {
				want = "own own "
			}
			if got := state(done); got != want {
				t.Errorf("cut %d, %d: finished as %q, want %q", cut, undoCut, got, want)
			}
			if undoCut < 0 {
				if done, err = restore.Undo(dir); err != nil || state(done) != "own own " {
					t.Errorf("cut %d: taken back as %q, %v", cut, state(done), err)
				}
			}
		}
		dir, j := build(t)
		for _, s := range forth(j)[:cut] {
			if err := os.Rename(s[0], s[1]); err != nil {
				t.Fatal(err)
			}
		}
		keep(t, dir, j)
		if done, err := restore.Undo(dir); err != nil || state(done) != "own own " {
			t.Errorf("cut %d, taken back at once: %q, %v", cut, state(done), err)
		}
		tried++
	}
	t.Logf("%d places to be cut short: none lost anything", tried)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keep writes a journal as a restore that was cut short left it.
func keep(t *testing.T, dir statedir.Dir, j restore.Journal) {
	t.Helper()
	raw, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	write(t, string(dir)+".restore.json", string(raw))
}

func state(j restore.Journal) string {
	var out []string
	for _, m := range j.Moves {
		b, _ := os.ReadFile(m.To)
		out = append(out, string(b))
	}
	return strings.Join(out, " ")
}
