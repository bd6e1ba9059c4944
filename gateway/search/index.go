package search

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// transcript is one conversation between two resets.
type transcript struct{ key, id, title string }

// Source is where the messages are.
type Source interface {
	// Transcripts calls fn with the transcripts of a session, or of all when key
	// is empty, the last used last.
	Transcripts(key string, fn func(key, sessionID, title string) error) error
	// Transcript finds one; ok is false when it, or its session, is gone.
	Transcript(key, sessionID string) (title string, ok bool, err error)
	// Entries reads what follows a position. The first settled of them will not
	// change any more, and nothing will come between them.
	Entries(sessionID string, after int64, limit int) (msgs []protocol.Message, settled int, err error)
	// Shown tells which positions of a transcript are on the branch that is in use.
	// It may hold for the search it is asked for only.
	Shown(key, sessionID string) (func(seq int64) bool, error)
	// Entry reads the message at a position.
	Entry(sessionID string, seq int64) (m protocol.Message, ok bool, err error)
}

// Options of an Index.
type Options struct {
	DB     *store.DB
	Source Source
	Logger *slog.Logger
	// Quiet is how long a burst of changes is waited for; 0 means 2 seconds.
	Quiet time.Duration
}

// Index is the search index of one store.
type Index struct {
	Options
	t tables

	wake chan struct{}
	mu   sync.Mutex
	// dirty are sessions with messages that the index may not have, and how often
	// they were touched.
	dirty    map[string]int
	building bool // the first pass is under way
}

// state is what is kept of the index as a whole.
type state struct {
	Version int    `json:"version"`
	Next    uint32 `json:"next"` // number of the next message
}

// version changes when an index of an older build must be made anew.
const version = 2

// progress is how far a transcript is in the index.
type progress struct {
	SessionKey string `json:"key"`
	UpTo       int64  `json:"upTo"`
}

type tables struct {
	state    store.Bucket[state]
	progress store.Bucket[progress] // session id
	docs     store.Bucket[struct{}] // number → session id, position
	postings store.Bucket[struct{}] // term, 0, first number → last number, steps
}

var stateKey = []byte("state")

// New returns an index; Run keeps it up to date.
func New(o Options) *Index {
	if o.Quiet <= 0 {
		o.Quiet = 2 * time.Second
	}
	return &Index{
		Options: o, wake: make(chan struct{}, 1), dirty: map[string]int{}, building: true,
		t: tables{
			state: store.NewBucket[state]("search"), progress: store.NewBucket[progress]("search.transcripts"),
			docs: store.NewBucket[struct{}]("search.docs"), postings: store.NewBucket[struct{}]("search.words"),
		},
	}
}

// Touch says that something of a session changed. It does not block.
func (x *Index) Touch(sessionKey string) {
	x.mu.Lock()
	x.dirty[sessionKey]++
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Run keeps the index up to date until ctx ends.
func (x *Index) Run(ctx context.Context) {
	if err := x.catchUpAll(ctx); err != nil && ctx.Err() == nil {
		x.Logger.Warn("the search index could not be brought up to date; it is tried again with the next message", "err", err)
	}
	for {
		select {
		case <-x.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(x.Quiet):
		case <-ctx.Done():
			return
		}
		if err := x.catchUp(ctx); err != nil && ctx.Err() == nil {
			x.Logger.Warn("new messages are not in the search index yet; searching reads them directly", "err", err)
		}
	}
}

// catchUpAll looks at every transcript once: what an earlier boot left, or all
// there is when the index is new.
func (x *Index) catchUpAll(ctx context.Context) error {
	if err := x.prepare(ctx); err != nil {
		return err
	}
	var all []transcript
	alive := map[string]bool{}
	err := x.Source.Transcripts("", func(key, id, _ string) error {
		all = append(all, transcript{key: key, id: id})
		alive[id] = true
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.forget(ctx, func(_, sessionID string) bool { return !alive[sessionID] }); err != nil {
		return err
	}
	b := x.newBuilder()
	for _, t := range all {
		if err := x.take(ctx, b, t); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	x.building = false
	x.mu.Unlock()
	return nil
}

// prepare throws an index of another version away.
func (x *Index) prepare(ctx context.Context) error {
	var st state
	var ok bool
	err := x.DB.View(func(tx *store.Tx) (err error) {
		st, ok, err = x.t.state.Get(tx, stateKey)
		return err
	})
	if err == nil && ok && st.Version == version {
		return nil
	}
	clear := func(rows interface {
		DeleteRange(*store.Tx, store.Range, int) (int, error)
	}) error {
		for n := sweepRows; n == sweepRows; {
			err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
				n, err = rows.DeleteRange(tx, store.Range{}, sweepRows)
				return err
			}})
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, rows := range []interface {
		DeleteRange(*store.Tx, store.Range, int) (int, error)
	}{x.t.progress, x.t.docs, x.t.postings} {
		if err := clear(rows); err != nil {
			return fmt.Errorf("clear the search index: %w", err)
		}
	}
	return x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		return x.t.state.Put(tx, stateKey, state{Version: version})
	}})
}

// catchUp takes up the sessions that changed.
func (x *Index) catchUp(ctx context.Context) error {
	x.mu.Lock()
	again := x.building
	touched := maps.Clone(x.dirty)
	x.mu.Unlock()
	if again {
		return x.catchUpAll(ctx)
	}
	b := x.newBuilder()
	alive, open := map[string]bool{}, map[string]bool{}
	for key := range touched {
		err := x.Source.Transcripts(key, func(_, id, _ string) error {
			alive[id] = true
			rest, err := x.takeSettled(ctx, b, transcript{key: key, id: id})
			open[key] = open[key] || rest
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	err := x.forget(ctx, func(key, sessionID string) bool { return touched[key] > 0 && !alive[sessionID] })
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, n := range touched {
		if x.dirty[key] == n && !open[key] {
			delete(x.dirty, key)
		}
	}
	return nil
}

// take takes up a transcript and remembers if something is left of it.
func (x *Index) take(ctx context.Context, b *builder, t transcript) error {
	open, err := x.takeSettled(ctx, b, t)
	if open || err != nil {
		x.mu.Lock()
		x.dirty[t.key]++
		x.mu.Unlock()
	}
	return err
}

// readEntries is how many entries are read at a time.
const readEntries = 256

// takeSettled gives the builder what has settled of a transcript; open tells
// that there is more.
func (x *Index) takeSettled(ctx context.Context, b *builder, t transcript) (open bool, err error) {
	seen, err := x.seen(t.id)
	if err != nil {
		return false, err
	}
	after := seen.UpTo
	if after > 0 && seen.SessionKey != t.key { // it became a chat of its own
		b.progress[t.id] = progress{SessionKey: t.key, UpTo: after}
	}
	for ctx.Err() == nil {
		msgs, settled, err := x.Source.Entries(t.id, after, readEntries)
		if err != nil {
			return true, err
		}
		for i := range msgs[:settled] {
			after = msgs[i].Meta.Seq
			b.add(t, after, &msgs[i])
			if b.full() {
				if err := b.flush(ctx); err != nil {
					return true, err
				}
			}
		}
		if settled < len(msgs) || len(msgs) < readEntries {
			return settled < len(msgs), nil
		}
	}
	return true, ctx.Err()
}

func (x *Index) upTo(sessionID string) (int64, error) {
	p, err := x.seen(sessionID)
	return p.UpTo, err
}

func (x *Index) seen(sessionID string) (p progress, err error) {
	err = x.DB.View(func(tx *store.Tx) (err error) {
		p, _, err = x.t.progress.Get(tx, []byte(sessionID))
		return err
	})
	return p, err
}

// rawID is a session id in 16 bytes; text that is no UUID stays as it is.
func rawID(sessionID string) []byte {
	id, err := hex.DecodeString(strings.ReplaceAll(sessionID, "-", ""))
	if err != nil || len(id) != 16 {
		return nil
	}
	return id
}

func textID(raw []byte) string {
	h := hex.EncodeToString(raw)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

func docValue(sessionID string, seq int64) []byte {
	return binary.BigEndian.AppendUint64(rawID(sessionID), uint64(seq))
}

func docKey(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func docOf(v []byte) doc {
	return doc{textID(v[:16]), int64(binary.BigEndian.Uint64(v[16:]))}
}
