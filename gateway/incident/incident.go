// Package incident remembers where Hearth itself failed: a part that stopped in
// the middle of its work. The log has it too, but nobody reads logs before
// asking why; what is kept here is what doctor and status tell. It never holds
// what people wrote.
package incident

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	keep        = 50 // of them; older ones are forgotten
	longestWhat = 300
	longestAt   = 4 << 10
)

// Incident is one failure.
type Incident struct {
	At    int64  `json:"at"`
	Where string `json:"where"` // what was being done: "/model", "chat.send"
	What  string `json:"what"`  // the failure's own words
	Stack string `json:"stack,omitempty"`
}

// Log is the store of incidents.
type Log struct {
	life   context.Context
	db     *store.DB
	now    func() time.Time
	bucket store.Bucket[Incident] // order
}

// New returns a log in db. It is written to for as long as db is open, also when
// ctx has ended.
func New(ctx context.Context, db *store.DB, now func() time.Time) *Log {
	return &Log{life: context.WithoutCancel(ctx), db: db, now: now, bucket: store.NewBucket[Incident]("incidents")}
}

// Note keeps a failure. It is called where something panicked, so it must not
// fail itself: what cannot be written is left to the log file.
func (l *Log) Note(ctx context.Context, where string, panicked any) {
	in := Incident{At: l.now().UnixMilli(), Where: where, What: plain(fmt.Sprint(panicked), longestWhat),
		Stack: plain(string(debug.Stack()), longestAt)}
	_ = l.db.Post(context.WithoutCancel(ctx), store.Write{Do: func(tx *store.Tx) error {
		n, err := l.bucket.NextSeq(tx)
		if err != nil {
			return err
		}
		if err := l.bucket.Put(tx, store.Uint64Key(n), in); err != nil {
			return err
		}
		if n <= keep {
			return nil
		}
		_, err = l.bucket.DeleteRange(tx, store.Range{Before: store.Uint64Key(n - keep + 1)}, -1)
		return err
	}})
}

// Broke is Note for whoever has no context.
func (l *Log) Broke(where string, panicked any) { l.Note(l.life, where, panicked) }

// quoted finds what a failure quotes: that may be a person's words.
var quoted = regexp.MustCompile("(?s)\".*\"|`.*`")

func plain(s string, longest int) string {
	s = quoted.ReplaceAllString(strings.ToValidUTF8(s, ""), `"…"`)
	return strings.ToValidUTF8(s[:min(len(s), longest)], "")
}

// Since lists the failures after a moment, the oldest first.
func (l *Log) Since(t time.Time) (out []Incident, err error) {
	err = l.db.View(func(tx *store.Tx) error {
		for row, err := range l.bucket.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if row.Value.At >= t.UnixMilli() {
				out = append(out, row.Value)
			}
		}
		return nil
	})
	return out, err
}
