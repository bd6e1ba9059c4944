package memory

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

func TestSearchFindsByWords(t *testing.T) {
	r := newRig(t)
	r.write("MEMORY.md", "# About me\n\nMy cat is called Mimi.\nI like Crème brûlée.\n")
	r.write("memory/2031-03-01.md", "Talked about the garden fence.\n我喜欢吃苹果和香蕉\n")
	r.write("memory/projects/house.md", "The heating costs 120 euros.\n")
	r.write("notes.md", "the cat of somebody else\n")
	r.want(owner, "cat", "MEMORY.md#L1-L4")
	r.want(owner, "CREME brulee", "MEMORY.md#L1-L4")
	r.want(owner, "苹果", "memory/2031-03-01.md#L1-L2")
	r.want(owner, "吃", "memory/2031-03-01.md#L1-L2")
	r.want(owner, "heat", "memory/projects/house.md#L1") // nobody wrote it so: the beginning of a word
	r.want(owner, "2031-03-01", "memory/2031-03-01.md#L1-L2")
	r.want(owner, "zebra")
	if _, err := r.x.Search(t.Context(), Query{Scope: owner, Text: " …!"}); !errors.Is(err, ErrNoWords) {
		t.Errorf("no words: %v", err)
	}
}

func TestSearchRanksRareWordsAndShortTexts(t *testing.T) {
	r := newRig(t)
	r.write("memory/a.md", "tea tea tea "+strings.Repeat("word ", 200)+"\n")
	r.write("memory/b.md", "green tea with quinine\n")
	r.write("memory/c.md", "tea\n")
	if got := r.find(owner, "tea quinine"); len(got) != 3 || got[0] != "memory/b.md#L1" {
		t.Errorf("got %v", got)
	}
}

func TestSearchFollowsTheFiles(t *testing.T) {
	r := newRig(t)
	r.write("memory/a.md", "alpha\n")
	r.want(owner, "alpha", "memory/a.md#L1")
	r.write("memory/a.md", "\n\nbeta is longer\n")
	r.want(owner, "alpha")
	r.want(owner, "beta", "memory/a.md#L3")
	if err := os.Rename(filepath.Join(r.dir, "memory", "a.md"), filepath.Join(r.dir, "memory", "b.md")); err != nil {
		t.Fatal(err)
	}
	r.want(owner, "beta", "memory/b.md#L3")
	r.reopen()
	r.want(owner, "beta", "memory/b.md#L3")
	if err := os.Remove(filepath.Join(r.dir, "memory", "b.md")); err != nil {
		t.Fatal(err)
	}
	r.want(owner, "beta")
	if st := r.x.Status("main"); st.Files != 0 || st.Chunks != 0 {
		t.Errorf("%+v", st)
	}
}

// A second edit within the resolution of the file's date is found as well.
func TestSearchFindsAnEditUnderTheSameDate(t *testing.T) {
	r := newRig(t)
	r.write("memory/a.md", "alpha\n")
	at := filepath.Join(r.dir, "memory", "a.md")
	if err := os.Chtimes(at, r.now, r.now); err != nil {
		t.Fatal(err)
	}
	r.want(owner, "alpha", "memory/a.md#L1")
	r.write("memory/a.md", "gamma\n")
	if err := os.Chtimes(at, r.now, r.now); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.now = r.now.Add(3 * time.Second)
	r.mu.Unlock()
	r.want(owner, "gamma", "memory/a.md#L1")
}

// F-STORE: an index that is lost or damaged is made anew from the files.
func TestFault_MemoryIndexIsRebuilt(t *testing.T) {
	damage := map[string]func(r *rig, tx *store.Tx) error{
		"a segment is gone": func(r *rig, tx *store.Tx) error {
			_, err := r.x.t.segments.DeleteRange(tx, store.Range{}, 1)
			return err
		},
		"a byte is wrong": func(r *rig, tx *store.Tx) error {
			for k, v := range r.x.t.segments.ScanRaw(tx, store.Range{}) {
				key, raw := append([]byte(nil), k...), append([]byte(nil), v...)
				raw[len(raw)-2] ^= 0x40
				return r.x.t.segments.PutRaw(tx, key, raw)
			}
			return errors.New("no segment")
		},
		"a row is no JSON": func(r *rig, tx *store.Tx) error {
			return r.x.t.files.PutRaw(tx, []byte("main\x00memory/a.md"), []byte("{"))
		},
		"another version": func(r *rig, tx *store.Tx) error {
			return r.x.t.state.Put(tx, stateKey, state{Version: 99})
		},
		"all is gone": func(r *rig, tx *store.Tx) error {
			for _, b := range []store.Bucket[struct{}]{r.x.t.segments, r.x.t.vectors, r.x.t.signs} {
				if _, err := b.DeleteRange(tx, store.Range{}, 1000); err != nil {
					return err
				}
			}
			_, err := r.x.t.files.DeleteRange(tx, store.Range{}, 1000)
			return err
		},
		"what a crash left": func(r *rig, tx *store.Tx) error {
			return r.x.t.segments.PutRaw(tx, binary.BigEndian.AppendUint32(nil, 4_000_000), []byte("half"))
		},
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write("memory/a.md", "alpha\n")
			r.write("memory/b.md", "beta\n")
			r.want(owner, "alpha", "memory/a.md#L1")
			if err := r.db.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error { return harm(r, tx) }}); err != nil {
				t.Fatal(err)
			}
			r.reopen()
			r.want(owner, "alpha", "memory/a.md#L1")
			r.want(owner, "beta", "memory/b.md#L1")
			rows := 0
			_ = r.db.View(func(tx *store.Tx) error { rows = r.x.t.segments.Count(tx); return nil })
			if rows != 2 {
				t.Errorf("%d segments for two files", rows)
			}
		})
	}
}

func TestSettingsOfChunksMakeTheIndexAnew(t *testing.T) {
	r := newRig(t)
	r.write("memory/a.md", strings.Repeat("some words in a line\n", 100))
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	few := r.x.Status("main").Chunks
	r.set = Settings{Tokens: 50, Overlap: 10}
	r.reopen()
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if many := r.x.Status("main").Chunks; many <= few {
		t.Errorf("%d chunks of 400 tokens, %d of 50", few, many)
	}
}

func TestVectorsFindWhatIsMeant(t *testing.T) {
	r := newRig(t)
	r.emb = &fakeModel{name: "fake/one"}
	r.write("memory/a.md", "kitten\n")
	r.write("memory/b.md", "automobile\n")
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	r.x.embedPending(t.Context())
	if r.emb.asked != 2 || r.x.Status("main").Vectors != 2 {
		t.Fatalf("asked for %d texts, %d vectors", r.emb.asked, r.x.Status("main").Vectors)
	}
	res, err := r.x.Search(t.Context(), Query{Scope: owner, Text: "dog"})
	if err != nil || res.Mode != "hybrid" || len(res.Hits) == 0 || res.Hits[0].Path != "memory/a.md" || res.Hits[0].Words ||
		!res.Hits[0].Meaning {
		t.Fatalf("%+v %v", res, err)
	}
	// What did not change is not asked for again, through an edit and a restart.
	r.write("memory/a.md", "kitten\n"+strings.Repeat("\n# Other\n\n"+strings.Repeat("longer text here\n", 60), 1))
	r.reopen()
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	r.x.embedPending(t.Context())
	if chunks := r.x.Status("main").Chunks; r.x.Status("main").Vectors != chunks {
		t.Errorf("%d vectors of %d chunks", r.x.Status("main").Vectors, chunks)
	}
	before := r.emb.asked
	r.reopen()
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	r.x.embedPending(t.Context())
	if r.emb.asked != before {
		t.Errorf("a restart asked for %d texts", r.emb.asked-before)
	}
	// Another model's vectors do not compare.
	r.emb = &fakeModel{name: "fake/two"}
	if res, err := r.x.Search(t.Context(), Query{Scope: owner, Text: "kitten"}); err != nil || res.Mode != "words" || res.Partial == "" ||
		len(res.Hits) == 0 {
		t.Errorf("%+v %v", res, err)
	}
	r.x.embedPending(t.Context())
	if res, err := r.x.Search(t.Context(), Query{Scope: owner, Text: "vehicle"}); err != nil || res.Mode != "hybrid" ||
		res.Hits[0].Path != "memory/b.md" {
		t.Errorf("%+v %v", res, err)
	}
}

// A service that does not answer leaves the words.
func TestFault_MemoryWithoutItsEmbeddings(t *testing.T) {
	r := newRig(t)
	r.emb = &fakeModel{name: "fake"}
	r.write("memory/a.md", "kitten\n")
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	r.x.embedPending(t.Context())
	r.emb.fail = errors.New("503")
	res, err := r.x.Search(t.Context(), Query{Scope: owner, Text: "kitten"})
	if err != nil || res.Mode != "words" || !strings.Contains(res.Partial, "503") || len(res.Hits) != 1 {
		t.Errorf("%+v %v", res, err)
	}
	r.write("memory/b.md", "puppy\n")
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	r.x.embedPending(t.Context())
	if st := r.x.Status("main"); st.EmbedProblem == "" {
		t.Errorf("%+v", st)
	}
}
