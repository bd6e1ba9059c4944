// Package database is the feature that looks after the one database file: it
// keeps a good copy, reads all of it when asked to, gives back what it does not use,
// and says when the file or its disk is in trouble. Reading, writing and mending are
// packages store's and recovery's.
package database

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
)

const (
	// copyFirst is how long after the start the store is first copied: a start
	// has other things to do.
	copyFirst = 2 * time.Minute
	// copyEvery is how old the last good copy may become.
	copyEvery = 24 * time.Hour
	// lookEvery is how often is looked whether something is due.
	lookEvery = 10 * time.Minute
	// copyMargin is what a copy leaves free on the disk.
	copyMargin = 1 << 30
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store *store.DB
	Dir   statedir.Dir
	Tasks *task.Book
	Work  *background.Group
	Load  func() (active, queued int) // of answers: what nobody should disturb
	Now   func() time.Time
	Log   *slog.Logger
}

type feature struct {
	o Options

	mu      sync.Mutex
	task    string // the newest check or compaction
	last    checked
	compact compacted
	itself  time.Time // when it was compacted unasked
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o: o}
	o.Tasks.Own(protocol.TaskStoreCheck, doer{f.check})
	o.Tasks.Own(protocol.TaskStoreCompact, doer{f.compactNow})
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodStoreStatus, f.status),
			method.Plain(protocol.MethodStoreCheck, f.check),
			method.Plain(protocol.MethodStoreCompact, f.compactNow),
		},
		Checks: f.checks, Problems: f.problems,
		Run: func(ctx context.Context) error {
			f.lookAfter(ctx)
			return nil
		},
	}
}

// checks are the problems, for the doctor.
func (f *feature) checks(context.Context, protocol.DoctorParams) (out []protocol.HealthCheck) {
	for _, p := range f.problems() {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		out = append(out, protocol.HealthCheck{Area: "gateway", State: protocol.CheckFail, What: what, Advice: advice})
	}
	return out
}

// problems are those that a person should know about.
func (f *feature) problems() []protocol.Problem {
	problem := func(text string) []protocol.Problem { return []protocol.Problem{{Code: "STORE", Message: text}} }
	switch err := f.o.Store.Problem(); {
	case errors.Is(err, store.ErrDamaged):
		return problem(method.DamagedWords)
	case errors.Is(err, store.ErrGone):
		return problem("New messages are not accepted: " + method.GoneWords(err))
	case err != nil:
		return problem("New messages are not accepted: " + err.Error() + ". Make room on the disk, or restart Hearth; what was accepted is safe.")
	}
	if free, ok := f.o.Dir.Free(); ok && free < statedir.Full {
		return problem(fmt.Sprintf("The disk is nearly full: %d MB are left. Make room; soon new messages are not accepted, what was accepted "+
			"is safe.", free>>20))
	}
	if err := f.o.Store.Blemish(); err != nil {
		return problem("Something in Hearth's database cannot be read: " + err.Error() + ". Stop the gateway, then `hearth store check` says " +
			"what is left, and `hearth store restore` takes the last good copy.")
	}
	return nil
}

// lookAfter keeps a good copy of the store, made once a day, and gives back what the
// store does not use, until ctx ends.
func (f *feature) lookAfter(ctx context.Context) {
	copies := 0
	for wait := copyFirst; ; wait = lookEvery {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		f.compactWhenDue(ctx)
		if copies++; copies%int(time.Hour/lookEvery) == 1 && f.copyDue() {
			if err := f.o.Store.Copy(ctx, f.o.Dir.LastGood()); err != nil && ctx.Err() == nil {
				f.o.Log.Warn("the store could not be copied", "err", err)
			}
		}
	}
}

// copyDue: the last copy is old, the store was changed since, and there is much
// room on the disk.
func (f *feature) copyDue() bool {
	if f.o.Store.Problem() != nil || f.o.Store.Blemish() != nil {
		return false
	}
	if st, err := os.Stat(f.o.Dir.LastGood()); err == nil {
		now, nerr := os.Stat(f.o.Dir.Store())
		if f.o.Now().Sub(st.ModTime()) < copyEvery || nerr == nil && now.ModTime().Before(st.ModTime()) {
			return false
		}
	}
	free, ok := f.o.Dir.Free()
	return !ok || free > 2*f.o.Store.Size()+copyMargin
}
