package subagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// retry is when something is tried again that did not work.
const retry = 5 * time.Second

// maxTries is how often a start is tried before the sub-agent has failed.
const maxTries = 3

// ErrLater is returned by what is handed in when it should be tried at the next
// start of the program, because this one is ending.
var ErrLater = errors.New("later")

// Options of a Book.
type Options struct {
	DB     *store.DB
	Now    func() time.Time
	Logger *slog.Logger
	Limits func() Limits
	// Follow is told how all sub-agents are, after each change and before anything
	// is done about it; nil: nobody wants to know.
	Follow func(all []Record)
}

// Sessions are those of sub-agents. What is asked of them must be safe to repeat:
// after a crash it is done again for the same record.
type Sessions interface {
	// Start accepts the task as the run r.RunID of the session r.Key.
	Start(ctx context.Context, r Record) error
	// Tell accepts the result as a message to the session r.ParentKey.
	Tell(ctx context.Context, r Record) error
	// Stop ends the run of a sub-agent.
	Stop(ctx context.Context, r Record) error
	// Remove deletes a sub-agent's session.
	Remove(ctx context.Context, r Record) error
	// Archive puts it away.
	Archive(ctx context.Context, r Record) error
}

// Book is safe for concurrent use.
type Book struct {
	Options
	t     tables
	wake  chan struct{}
	tries map[string]int // of starts, by run id; of Run's goroutine
	does  Sessions       // of Run's goroutine
}

// New returns the book of a store.
func New(o Options) *Book {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Book{Options: o, t: tables{store.NewBucket[Record]("spawns")}, wake: make(chan struct{}, 1), tries: map[string]int{}}
}

// Wake says that something changed. It does not block.
func (b *Book) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Add writes down a sub-agent that is to be started. After it has returned, the
// sub-agent runs once and its end is told once, also after a crash.
func (b *Book) Add(ctx context.Context, r Record) error {
	err := b.DB.Update(ctx, store.Write{Then: b.Wake, Do: func(tx *store.Tx) error {
		all, err := b.t.all(tx)
		if err != nil {
			return err
		}
		if err := room(all, b.Limits(), r.ParentKey); err != nil {
			return err
		}
		if r.Order, err = b.t.rows.NextSeq(tx); err != nil {
			return err
		}
		r.State, r.CreatedAt = Queued, b.Now().UnixMilli()
		return b.t.put(tx, r)
	}})
	if err == nil {
		failpoint.Hit("afterSpawn")
	}
	return err
}

// End notes in the transaction that ends a run what came of it, if the run is a
// sub-agent's. Call Wake after the commit.
func (b *Book) End(tx *store.Tx, runID, outcome, result string) error {
	r, ok, err := b.t.rows.Get(tx, []byte(runID))
	if err != nil || !ok || !r.Open() {
		return err
	}
	if len(result) > maxResult {
		result = strings.ToValidUTF8(result[:maxResult], "") + "\n[the rest was cut; sessions_history has it]"
	}
	r.State, r.Outcome, r.Result, r.EndedAt = Ended, outcome, result, b.Now().UnixMilli()
	return b.t.put(tx, r)
}

// Stopped marks the sub-agents of a session to be stopped: all of them, or those
// that one of its runs started. It hears of what is done already, so it only logs
// what fails.
func (b *Book) Stopped(ctx context.Context, parentKey, parentRun string) {
	if !b.any(func(r Record) bool { return r.ParentKey == parentKey && r.Open() }) {
		return // no need to write
	}
	_, err := b.mark(ctx, func(r Record) bool {
		return r.ParentKey == parentKey && (parentRun == "" || r.ParentRun == parentRun)
	})
	if err != nil {
		b.Logger.Error("the sub-agents of a stopped session go on", "session", parentKey, "err", err)
	}
}

// StopOf marks the sub-agents to be stopped of all sessions that are meant.
func (b *Book) StopOf(ctx context.Context, meant func(parentKey string) bool) error {
	if !b.any(func(r Record) bool { return r.Open() && meant(r.ParentKey) }) {
		return nil // no need to write
	}
	_, err := b.mark(ctx, func(r Record) bool { return meant(r.ParentKey) })
	return err
}

// Kill marks one sub-agent of a session to be stopped.
func (b *Book) Kill(ctx context.Context, runID string) (bool, error) {
	n, err := b.mark(ctx, func(r Record) bool { return r.RunID == runID })
	return n > 0, err
}

func (b *Book) mark(ctx context.Context, meant func(Record) bool) (n int, err error) {
	err = b.DB.Update(ctx, store.Write{Must: true, Then: b.Wake, Do: func(tx *store.Tx) error {
		n = 0
		all, err := b.t.all(tx)
		if err != nil {
			return err
		}
		for _, r := range all {
			if !r.Open() || r.Stop || !meant(r) {
				continue
			}
			n++
			if r.Stop = true; r.State == Queued {
				r.State, r.Outcome, r.EndedAt = Ended, "aborted", b.Now().UnixMilli()
			}
			if err := b.t.put(tx, r); err != nil {
				return err
			}
		}
		return nil
	}})
	return n, err
}

func (b *Book) any(meant func(Record) bool) bool {
	all, err := b.All()
	if err != nil {
		return true
	}
	for _, r := range all {
		if meant(r) {
			return true
		}
	}
	return false
}

// All lists every sub-agent that is not forgotten, the oldest first.
func (b *Book) All() (all []Record, err error) {
	err = b.DB.View(func(tx *store.Tx) error {
		all, err = b.t.all(tx)
		return err
	})
	return all, err
}

// Of lists the sub-agents of a session.
func (b *Book) Of(parentKey string) (out []Record, err error) {
	all, err := b.All()
	for _, r := range all {
		if r.ParentKey == parentKey {
			out = append(out, r)
		}
	}
	return out, err
}

// Run starts, tells and puts away until ctx ends.
func (b *Book) Run(ctx context.Context, with Sessions) {
	b.does = with
	if !b.DB.Restored().IsZero() {
		if _, err := b.mark(ctx, func(r Record) bool { return b.DB.Past(r.CreatedAt) }); err != nil {
			b.Logger.Error("sub-agents of a restored backup could not be ended", "err", err)
			return
		}
	}
	for ctx.Err() == nil {
		wait, err := b.round(ctx)
		if errors.Is(err, ErrLater) {
			return
		}
		if err != nil && ctx.Err() == nil {
			b.Logger.Error("the sub-agents could not be looked after; trying again", "err", err)
			wait = retry
		}
		b.pause(ctx, wait)
	}
}

// pause waits until there may be something to do; 0: until it is woken.
func (b *Book) pause(ctx context.Context, wait time.Duration) {
	if wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, wait)
		defer stop()
	}
	select {
	case <-b.wake:
	case <-ctx.Done():
	}
}

// round does what there is to do, and tells when there is more; 0: when woken.
func (b *Book) round(ctx context.Context) (wait time.Duration, err error) {
	all, err := b.All()
	if err != nil {
		return 0, err
	}
	if b.Follow != nil {
		b.Follow(all)
	}
	limits, running, open := b.Limits(), 0, map[string]bool{}
	for _, r := range all {
		if r.State == Running {
			running++
		}
		if r.State != Told {
			open[r.ParentKey] = true
		}
	}
	var failed []error
	sooner := func(d time.Duration) {
		if wait == 0 || d < wait {
			wait = d
		}
	}
	for _, r := range all {
		var err error
		switch {
		case r.State == Running && r.Stop:
			err = b.does.Stop(ctx, r)
		case r.State == Queued && running < limits.Concurrent:
			if err = b.start(ctx, r); err == nil {
				running++
			}
		case r.State == Ended:
			err = b.tell(ctx, r)
		case r.State == Told && !open[r.Key]: // its own sub-agents are done too
			var left time.Duration
			if left, err = b.putAway(ctx, r, limits); left > 0 {
				sooner(left)
			}
		}
		if errors.Is(err, ErrLater) {
			return 0, err
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("sub-agent %s: %w", r.RunID, err))
		}
	}
	return wait, errors.Join(failed...)
}

// start hands the task over. Only then it counts as running: after a crash in
// between it is handed over again, which changes nothing.
func (b *Book) start(ctx context.Context, r Record) error {
	err := b.does.Start(ctx, r)
	if errors.Is(err, ErrLater) || ctx.Err() != nil {
		return ErrLater
	}
	if err != nil {
		if b.tries[r.RunID]++; b.tries[r.RunID] < maxTries {
			return fmt.Errorf("start it: %w", err)
		}
		return b.change(ctx, r.RunID, func(r *Record) {
			r.State, r.Outcome, r.Result, r.EndedAt = Ended, "failed", "It could not be started: "+err.Error(), b.Now().UnixMilli()
		})
	}
	failpoint.Hit("afterSpawnStart")
	delete(b.tries, r.RunID)
	return b.change(ctx, r.RunID, func(r *Record) {
		if r.State == Queued { // it may have ended already
			r.State = Running
		}
	})
}

// tell hands the result over, in the same way.
func (b *Book) tell(ctx context.Context, r Record) error {
	if !r.Stop {
		failpoint.Hit("beforeSpawnTell")
		err := b.does.Tell(ctx, r)
		if errors.Is(err, ErrLater) || ctx.Err() != nil {
			return ErrLater
		}
		if err != nil {
			return fmt.Errorf("tell its result: %w", err)
		}
		failpoint.Hit("afterSpawnTell")
	}
	return b.change(ctx, r.RunID, func(r *Record) { r.State = Told })
}

// putAway removes or archives the session of a sub-agent that is done; left is
// how long that has to wait.
func (b *Book) putAway(ctx context.Context, r Record, l Limits) (left time.Duration, err error) {
	keep := l.Archive
	if keep <= 0 {
		keep = forgotten
	}
	left = time.UnixMilli(r.EndedAt).Add(keep).Sub(b.Now())
	switch {
	case r.Cleanup == Delete:
		err = b.does.Remove(ctx, r)
	case left > 0:
		return left, nil
	case l.Archive > 0:
		err = b.does.Archive(ctx, r)
	}
	if err != nil {
		return 0, fmt.Errorf("put its session away: %w", err)
	}
	return 0, b.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error { return b.t.rows.Delete(tx, []byte(r.RunID)) }})
}

func (b *Book) change(ctx context.Context, runID string, to func(*Record)) error {
	return b.DB.Update(context.WithoutCancel(ctx), store.Write{Must: true, Then: b.Wake, Do: func(tx *store.Tx) error {
		r, ok, err := b.t.rows.Get(tx, []byte(runID))
		if err != nil || !ok {
			return err
		}
		to(&r)
		return b.t.put(tx, r)
	}})
}
