package memory

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// rig is an index over a folder of its own.
type rig struct {
	t    testing.TB
	dir  string
	db   *store.DB
	undo *undo.Log
	x    *Index
	emb  *fakeModel
	set  Settings
	ids  int
	mu   sync.Mutex
	now  time.Time
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, dir: filepath.Join(t.TempDir(), "work"), now: time.Date(2031, 3, 4, 15, 4, 0, 0, time.UTC)}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(filepath.Join(t.TempDir(), "hearth.db"), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	r.db = db
	r.undo, err = undo.Open(undo.Options{Dir: filepath.Join(t.TempDir(), "undo"), DB: db, Now: r.clock, NewID: r.id,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r.reopen()
	return r
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) id() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return fmt.Sprint("id", r.ids)
}

// reopen is what a restart does.
func (r *rig) reopen() {
	r.x = New(Options{
		DB: r.db, Finder: safepath.Finder{}, Workspace: func(string) string { return r.dir }, Undo: r.undo, Now: r.clock, NewID: r.id,
		Logger:   slog.New(slog.DiscardHandler),
		Settings: func() Settings { return r.set },
		Embedder: func() Embedder {
			if r.emb == nil {
				return nil
			}
			return r.emb
		},
	})
}

func (r *rig) write(rel, text string) {
	r.t.Helper()
	at := filepath.Join(r.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(rel string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(rel)))
	if err != nil {
		return ""
	}
	return string(b)
}

var owner = Scope{Agent: "main"}

// find returns the citations of a search.
func (r *rig) find(s Scope, q string) (out []string) {
	r.t.Helper()
	res, err := r.x.Search(r.t.Context(), Query{Scope: s, Text: q})
	if err != nil {
		r.t.Fatalf("search %q: %v", q, err)
	}
	for _, h := range res.Hits {
		out = append(out, h.Citation())
	}
	return out
}

func (r *rig) want(s Scope, q string, want ...string) {
	r.t.Helper()
	if got := r.find(s, q); strings.Join(got, " ") != strings.Join(want, " ") {
		r.t.Errorf("%q finds %v, want %v", q, got, want)
	}
}

// fakeModel makes vectors of the letters of a text, so that like texts are near.
type fakeModel struct {
	name  string
	mu    sync.Mutex
	asked int
	fail  error
}

func (f *fakeModel) Name() string { return f.name }

func (f *fakeModel) Embed(_ context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	f.asked += len(texts)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = meaning(t)
	}
	return out, nil
}

// meaning knows a few words that mean the same.
func meaning(text string) []float32 {
	same := map[string]string{"cat": "pet", "kitten": "pet", "dog": "pet", "automobile": "car", "vehicle": "car"}
	v := make([]float32, 128)
	eachTerm(text, func(term []byte) {
		w := string(term)
		if s, ok := same[w]; ok {
			w = s
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(w))
		seed := h.Sum64()
		for i := range v {
			seed = seed*6364136223846793005 + 1442695040888963407
			v[i] += float32(int64(seed)>>40) / (1 << 23)
		}
	})
	return v
}
