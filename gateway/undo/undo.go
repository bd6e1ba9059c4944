// Package undo keeps what tools take away from files, and gives it back. It
// owns the copies, which are named by their content, and the list of who
// changed what; both are on disk before a change happens. It does not decide
// what may be changed, and knows nothing of the tools.
//
// A turn is taken back as a whole: each file becomes what it was before the
// turn's first change of it. A file that somebody changed since is left alone
// unless that is forced. Taking back is a turn of its own, so it can be taken
// back as well.
package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const defaultKeep = 7 * 24 * time.Hour

var (
	// ErrNoTurn means that nothing is known of a turn, or not any more.
	ErrNoTurn = errors.New("no file changes of this turn are known; they are kept for seven days")
	// ErrNoLast means that there is no turn left to take back.
	ErrNoLast = errors.New("no turn changed files in the last seven days, or all were taken back already")
	// ErrDamaged means that a copy is missing or is not what was kept.
	ErrDamaged = errors.New("the kept copy is damaged or missing")
)

// Turn says on whose behalf files change.
type Turn struct {
	RunID      string
	SessionKey string
	CallID     string
	Tool       string
	// Aside: somebody else's doing, which is taken back only by its name.
	Aside  bool
	undoOf string
}

// Change is one file before and after. nil means that there is no file.
type Change struct {
	Path          string   // absolute, without links
	Folders       []string // that the change makes, outermost first
	Before, After *Content
}

// Content is what a file holds.
type Content struct {
	Data []byte
	Mode fs.FileMode
}

// Options of a Log.
type Options struct {
	Dir      string // for the copies; made when missing
	DB       *store.DB
	Finder   safepath.Finder
	Now      func() time.Time
	NewID    func() string
	Logger   *slog.Logger
	Keep     time.Duration                 // 0 = seven days
	MaxBytes int64                         // of all copies; 0 = what SetMost and the disk say
	Free     func() (bytes int64, ok bool) // of the disk of Dir; nil = ask the system
}

// Log is what can be taken back.
type Log struct {
	opts Options
	rows store.Bucket[record]
	mu   sync.Mutex // one at a time: keep, apply, forget
	held int64      // bytes of copies, about

	most   func() int64 // see SetMost
	shed   []string     // see Usage
	shedAt time.Time
}

// record is one file's part of one call.
type record struct {
	RunID      string   `json:"runId"`
	SessionKey string   `json:"sessionKey,omitempty"`
	CallID     string   `json:"callId,omitempty"`
	Tool       string   `json:"tool"`
	At         int64    `json:"at"` // ms
	Aside      bool     `json:"aside,omitempty"`
	UndoOf     string   `json:"undoOf,omitempty"`
	Path       string   `json:"path"`
	Folders    []string `json:"folders,omitempty"`
	Before     *mark    `json:"before,omitempty"`
	After      *mark    `json:"after,omitempty"`
	// Open: a command is writing the file, or was when Hearth ended, so that After
	// is not known.
	Open bool `json:"open,omitempty"`
}

// mark is a file's content by name.
type mark struct {
	Hash string      `json:"hash"`
	Size int64       `json:"size"`
	Mode fs.FileMode `json:"mode"`
}

func (m *mark) same(o *mark) bool {
	if m == nil || o == nil {
		return m == o
	}
	return m.Hash == o.Hash
}

// Open returns the log in dir.
func Open(opts Options) (*Log, error) {
	if opts.Keep == 0 {
		opts.Keep = defaultKeep
	}
	if opts.Free == nil {
		opts.Free = freeOf(opts.Dir)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of kept copies: %w", err)
	}
	l := &Log{opts: opts, rows: store.NewBucket[record]("undo")}
	all, err := l.all()
	if err != nil {
		return nil, fmt.Errorf("read the list of file changes: %w", err)
	}
	l.held = bytesOf(all)
	return l, nil
}

// Keep writes down what changes are about to happen, with copies of what they
// take away. It returns when all of that is on disk.
func (l *Log) Keep(ctx context.Context, turn Turn, changes []Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keep(ctx, turn, changes)
}

func (l *Log) keep(ctx context.Context, turn Turn, changes []Change) error {
	recs := make([]record, len(changes))
	added := int64(0)
	for i, c := range changes {
		recs[i] = record{
			RunID: turn.RunID, SessionKey: turn.SessionKey, CallID: turn.CallID, Tool: turn.Tool, Aside: turn.Aside, At: l.opts.Now().UnixMilli(),
			UndoOf: turn.undoOf,
			Path:   c.Path, Folders: c.Folders, Before: markOf(c.Before), After: markOf(c.After),
		}
		if c.Before != nil {
			if err := l.putCopy(recs[i].Before.Hash, c.Before.Data); err != nil {
				return fmt.Errorf("keep a copy of %s: %w", c.Path, err)
			}
			added += recs[i].Before.Size
		}
	}
	_, err := l.write(ctx, recs, added)
	return err
}

// write puts records on disk, whose copies of so many bytes are there.
func (l *Log) write(ctx context.Context, recs []record, added int64) (keys [][]byte, err error) {
	err = l.opts.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		keys = nil
		for _, r := range recs {
			seq, err := l.rows.NextSeq(tx)
			if err != nil {
				return err
			}
			keys = append(keys, store.Uint64Key(seq))
			if err := l.rows.Put(tx, store.Uint64Key(seq), r); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("write down what changes: %w", err)
	}
	failpoint.Hit("afterUndoKept")
	if l.held += added; l.held > l.limit() {
		if err := l.tidy(ctx); err != nil {
			l.opts.Logger.Warn("old copies for undo could not be removed", "err", err)
		}
	}
	return keys, nil
}

// row is a record with its key.
type row struct {
	key []byte
	record
}

// all returns the whole list, oldest first.
func (l *Log) all() (out []row, err error) {
	err = l.opts.DB.View(func(tx *store.Tx) error {
		for r, err := range l.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			out = append(out, row{append([]byte(nil), r.Key...), r.Value})
		}
		return nil
	})
	return out, err
}

func (l *Log) of(runID string) ([]row, error) {
	all, err := l.all()
	if err != nil {
		return nil, err
	}
	var out []row
	for _, r := range all {
		if r.RunID == runID {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, ErrNoTurn
	}
	return out, nil
}

// bytesOf is what the copies of a list weigh.
func bytesOf(rows []row) (n int64) {
	seen := map[string]bool{}
	for _, r := range rows {
		if r.Before != nil && !seen[r.Before.Hash] {
			seen[r.Before.Hash] = true
			n += r.Before.Size
		}
	}
	return n
}
