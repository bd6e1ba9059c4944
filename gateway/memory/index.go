package memory

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Keeper keeps copies of what a change takes away, before it happens.
type Keeper interface {
	Keep(ctx context.Context, turn undo.Turn, changes []undo.Change) error
}

// Embedder turns texts into vectors of what they mean.
type Embedder interface {
	// Name says which model makes them: vectors of two models do not compare.
	Name() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Settings are what a person may choose; zero values have defaults.
type Settings struct {
	Tokens, Overlap          int     // of a chunk; 0: 400, 80
	MaxResults               int     // 0: 6
	MinScore                 float64 // 0…1
	VectorWeight, TextWeight float64 // both 0: 0.7, 0.3
}

func (s Settings) filled() Settings {
	if s.Tokens <= 0 {
		s.Tokens, s.Overlap = 400, 80
	}
	if s.MaxResults <= 0 {
		s.MaxResults = 6
	}
	if s.VectorWeight <= 0 && s.TextWeight <= 0 {
		s.VectorWeight, s.TextWeight = 0.7, 0.3
	}
	return s
}

// Options of an Index.
type Options struct {
	DB        *store.DB
	Finder    safepath.Finder
	Workspace func(agent string) string
	Undo      Keeper // nil: nothing can be taken back
	Embedder  func() Embedder
	Settings  func() Settings
	Now       func() time.Time
	NewID     func() string
	Logger    *slog.Logger
}

// Index finds things in memory files, and changes them.
type Index struct {
	Options
	t tables

	syncing chan struct{} // holds one value while nobody syncs
	edits   sync.Mutex    // one change of a file after the other
	wake    chan string   // agents whose files may have changed

	mu      sync.Mutex
	loaded  bool
	files   map[string]*file // agent, 0, path
	busy    string           // the file that is read now
	problem string           // of the last pass
	embed   embedState
}

// file is what is known of an indexed file; the row of the store.
type file struct {
	Size    int64     `json:"size"`
	Mtime   time.Time `json:"mtime"`
	Indexed time.Time `json:"indexed"`
	Segs    []seg     `json:"segs,omitempty"`
	Why     string    `json:"why,omitempty"` // it is not in the index
}

// seg is a segment of a file, in order.
type seg struct {
	ID    uint32 `json:"id"`
	N     int    `json:"n"`
	Words int    `json:"w"`
}

func (f *file) chunks() (n int) {
	for _, s := range f.Segs {
		n += s.N
	}
	return n
}

type tables struct {
	state    store.Bucket[state]
	files    store.Bucket[file]
	segments store.Bucket[struct{}] // id → see segment.go
	vectors  store.Bucket[struct{}] // id → see vectors.go
	signs    store.Bucket[struct{}]
}

// state is what is kept of the index as a whole.
type state struct {
	Version int    `json:"version"`
	Shape   string `json:"shape"` // of the chunks
	Model   string `json:"model"` // of the vectors
}

// version changes when an index of an older build must be made anew.
const version = 2

var stateKey = []byte("state")

// New returns an index; Run keeps it up to date.
func New(o Options) *Index {
	if o.Embedder == nil {
		o.Embedder = func() Embedder { return nil }
	}
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	x := &Index{
		Options: o, syncing: make(chan struct{}, 1), wake: make(chan string, 16), files: map[string]*file{},
		t: tables{
			state: store.NewBucket[state]("memory"), files: store.NewBucket[file]("memory.files"),
			segments: store.NewBucket[struct{}]("memory.segments"), vectors: store.NewBucket[struct{}]("memory.vectors"),
			signs: store.NewBucket[struct{}]("memory.signs"),
		},
	}
	x.syncing <- struct{}{}
	return x
}

func fileKey(agent, rel string) string { return agent + "\x00" + rel }

func splitKey(key string) (agent, rel string) {
	agent, rel, _ = strings.Cut(key, "\x00")
	return agent, rel
}

func segKey(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// load reads the list of files once, and judges what there is. What is damaged,
// of another version or of other settings is thrown away: the files are the
// truth. The caller holds syncing.
func (x *Index) load(ctx context.Context) error {
	want := state{Version: version, Shape: x.shape()}
	var st state
	files := map[string]*file{}
	used := map[uint32]bool{}
	err := x.DB.View(func(tx *store.Tx) error {
		var err error
		if st, _, err = x.t.state.Get(tx, stateKey); err != nil {
			return err
		}
		for row, err := range x.t.files.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			f := row.Value
			for _, s := range f.Segs {
				raw, ok := openSegment(x.t.segments.GetRaw(tx, segKey(s.ID)), true)
				if !ok || raw.n != s.N || used[s.ID] {
					return fmt.Errorf("the part %d of %q is damaged", s.ID, row.Key)
				}
				used[s.ID] = true
			}
			files[string(row.Key)] = &f
		}
		return nil
	})
	if err != nil || st.Version != want.Version || st.Shape != want.Shape {
		if err != nil {
			x.Logger.Warn("the index of memory is damaged; it is made anew from the files", "err", err)
		}
		return x.clear(ctx, want)
	}
	if err := x.sweep(ctx, used); err != nil {
		return err
	}
	x.mu.Lock()
	x.files, x.loaded = files, true
	x.embed.model = st.Model
	x.mu.Unlock()
	return nil
}

func (x *Index) shape() string {
	s := x.Settings().filled()
	return fmt.Sprintf("%d/%d", s.Tokens, s.Overlap)
}

// clear throws the index away.
func (x *Index) clear(ctx context.Context, st state) error {
	x.mu.Lock()
	x.files, x.loaded = map[string]*file{}, true
	x.embed = embedState{}
	x.mu.Unlock()
	for _, rows := range []interface {
		DeleteRange(*store.Tx, store.Range, int) (int, error)
	}{x.t.files, x.t.segments, x.t.vectors, x.t.signs} {
		for n := sweepRows; n == sweepRows; {
			err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
				n, err = rows.DeleteRange(tx, store.Range{}, sweepRows)
				return err
			}})
			if err != nil {
				return fmt.Errorf("clear the index of memory: %w", err)
			}
		}
	}
	return x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return x.t.state.Put(tx, stateKey, st) }})
}

const sweepRows = 64

// sweep removes segments that a crash left before their file's row was written.
func (x *Index) sweep(ctx context.Context, used map[uint32]bool) error {
	var gone []uint32
	err := x.DB.View(func(tx *store.Tx) error {
		for k := range x.t.segments.ScanRaw(tx, store.Range{}) {
			if len(k) == 4 && !used[binary.BigEndian.Uint32(k)] {
				gone = append(gone, binary.BigEndian.Uint32(k))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.drop(ctx, gone)
}

// drop removes segments.
func (x *Index) drop(ctx context.Context, ids []uint32) error {
	for len(ids) > 0 {
		part := ids[:min(len(ids), sweepRows)]
		ids = ids[len(part):]
		err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			for _, id := range part {
				if err := x.t.segments.Delete(tx, segKey(id)); err != nil {
					return err
				}
				if err := x.t.vectors.Delete(tx, segKey(id)); err != nil {
					return err
				}
				if err := x.t.signs.Delete(tx, segKey(id)); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			return fmt.Errorf("tidy the index of memory: %w", err)
		}
	}
	return nil
}
