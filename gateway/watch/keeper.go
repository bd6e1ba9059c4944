package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Waits of a keeper.
const (
	atOnce    = 4                      // looks
	settle    = 300 * time.Millisecond // after a notice: changes come in swarms
	tellAfter = 3                      // failures in a row
	leastRest = time.Minute            // after a failure
	mostRest  = 6 * time.Hour
	longest   = time.Hour // between two glances at the clock
)

// Watch is what is looked at, and how often.
type Watch struct {
	ID     string
	Rev    int64 // what was seen for another one does not count
	Every  time.Duration
	Source Source
}

// Does is what is done about what was found.
type Does interface {
	// Happened makes changes durable; also is part of the same transaction. It
	// fails with ErrOver when the watch is another one now.
	Happened(ctx context.Context, w Watch, changes []Change, also func(tx *store.Tx) error) error
	// Away says that a watch could not be looked at for a while, or (nil) that it
	// can be again.
	Away(ctx context.Context, w Watch, problem error)
}

// ErrOver: the watch is another one now, or is not to be looked at.
var ErrOver = errors.New("it is not watched any more")

// ErrLater: it is not to be looked at now, and nothing is wrong with it.
var ErrLater = errors.New("it is looked at later")

// Status is how a watch is.
type Status struct {
	Looked  time.Time // zero: never
	Next    time.Time
	Problem string // why the last look failed
}

// Keeper looks at what it was given. It is safe for concurrent use.
type Keeper struct {
	db   *store.DB
	does Does
	log  *slog.Logger
	seen store.Bucket[Seen]
	kick chan struct{}

	mu  sync.Mutex
	all map[string]*entry
}

// entry is a watch that is kept.
type entry struct {
	Watch
	status  Status
	looking bool
	again   bool // a notice came during a look
	now     bool // somebody asked for one during a look
	hearing bool
	fails   int
	stop    context.CancelFunc // of its notices
}

// New returns a keeper of nothing.
func New(db *store.DB, does Does, log *slog.Logger) *Keeper {
	return &Keeper{
		db: db, does: does, log: log, seen: store.NewBucket[Seen]("watch.seen"), kick: make(chan struct{}, 1), all: map[string]*entry{},
	}
}

// Set says what is watched from now on. What is as it was goes on.
func (k *Keeper) Set(watches []Watch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := make(map[string]*entry, len(watches))
	for _, w := range watches {
		if e := k.all[w.ID]; e != nil && e.Rev == w.Rev {
			e.Every = w.Every
			next[w.ID] = e
			continue
		}
		next[w.ID] = &entry{Watch: w}
	}
	for id, e := range k.all {
		if next[id] != e && e.stop != nil {
			e.stop()
		}
	}
	k.all = next
	k.wake()
}

// Status is how a watch is; ok is false when there is none.
func (k *Keeper) Status(id string) (s Status, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.all[id]; e != nil {
		return e.status, true
	}
	return s, false
}

// Forget takes away what was seen of a watch.
func (k *Keeper) Forget(tx *store.Tx, id string) error { return k.seen.Delete(tx, []byte(id)) }

// Look looks at a watch as soon as possible.
func (k *Keeper) Look(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.all[id]; e != nil {
		e.status.Next, e.now = time.Now(), e.looking
		k.wake()
	}
}

func (k *Keeper) wake() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// notice plans a look for soon.
func (k *Keeper) notice(e *entry) {
	if e.looking {
		e.again = true
		return
	}
	if soon := time.Now().Add(settle); e.status.Next.After(soon) && e.fails == 0 {
		e.status.Next = soon
		k.wake()
	}
}

// Run looks until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	places := make(chan struct{}, atOnce)
	for ctx.Err() == nil {
		due, wait := k.due(ctx, &work)
		for _, e := range due {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
			work.Go(func() {
				defer func() { <-places }()
				k.look(ctx, e)
			})
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-k.kick:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// due are the watches whose time has come, and how long the next one has.
func (k *Keeper) due(ctx context.Context, work *sync.WaitGroup) (due []*entry, wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	wait = longest
	for _, e := range k.all {
		if !e.hearing {
			e.hearing = true
			k.hear(ctx, e, work)
		}
		switch left := e.status.Next.Sub(now); {
		case e.looking:
		case left <= 0:
			e.looking = true
			due = append(due, e)
		default:
			wait = min(wait, left)
		}
	}
	return due, wait
}

// hear listens for notices of a watch that gives some.
func (k *Keeper) hear(ctx context.Context, e *entry, work *sync.WaitGroup) {
	n, ok := e.Source.(Noticer)
	if !ok {
		return
	}
	ctx, e.stop = context.WithCancel(ctx)
	work.Go(func() {
		err := n.Notices(ctx, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.notice(e)
		})
		if err != nil && ctx.Err() == nil {
			k.log.Debug("no notices come of a watch; it is looked at now and then", "watch", e.ID, "err", err)
		}
	})
}

// look looks once, and plans the next look.
func (k *Keeper) look(ctx context.Context, e *entry) {
	again, fails, err := k.once(ctx, e.Watch)
	wait := e.Every
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, ErrOver):
		wait = mostRest // whoever gave it will take it away
	case err != nil:
		wait = rest(e.Every, fails)
	case again > 0:
		wait = min(wait, again)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	e.looking, e.fails = false, fails
	e.status = Status{Looked: now, Next: now.Add(wait)}
	if err != nil {
		e.status.Problem = err.Error()
	}
	if e.again {
		e.again = false
		k.notice(e)
	}
	if e.now {
		e.now, e.status.Next = false, now
	}
	k.wake()
}

// rest is how long a watch is left alone after so many failures.
func rest(every time.Duration, fails int) time.Duration {
	d := max(every, leastRest)
	for range min(fails-1, 20) {
		if d *= 2; d > mostRest {
			return max(mostRest, every)
		}
	}
	return d
}

// once looks, compares, and gives on what has changed.
func (k *Keeper) once(ctx context.Context, w Watch) (again time.Duration, fails int, err error) {
	var seen Seen
	err = k.db.View(func(tx *store.Tx) (err error) {
		seen, _, err = k.seen.Get(tx, []byte(w.ID))
		return err
	})
	if err != nil {
		return 0, 1, fmt.Errorf("read what was seen: %w", err)
	}
	if seen.Rev != w.Rev {
		seen = Seen{Rev: w.Rev}
	}
	found, err := safely(ctx, w.Source, seen.Kept)
	if ctx.Err() != nil {
		return 0, seen.Fails, ctx.Err()
	}
	switch {
	case errors.Is(err, ErrLater):
		return leastRest, seen.Fails, nil
	case err != nil:
		return 0, seen.Fails + 1, k.failed(ctx, w, seen, err)
	}
	changes, next := Compare(seen, found, time.Now())
	back := seen.Told
	next.Fails, next.Told = 0, false
	if !reflect.DeepEqual(seen, next) {
		err = k.does.Happened(ctx, w, changes, func(tx *store.Tx) error { return k.seen.Put(tx, []byte(w.ID), next) })
	}
	if err == nil && back {
		k.does.Away(ctx, w, nil)
	}
	return found.Again, 0, err
}

// failed notes that a look failed; people are told once.
func (k *Keeper) failed(ctx context.Context, w Watch, seen Seen, problem error) error {
	seen.Fails++
	tell := seen.Fails >= tellAfter && !seen.Told
	seen.Told = seen.Told || tell
	err := k.does.Happened(ctx, w, nil, func(tx *store.Tx) error { return k.seen.Put(tx, []byte(w.ID), seen) })
	if err != nil {
		return err
	}
	if tell {
		k.does.Away(ctx, w, problem)
	}
	return problem
}

// safely looks within the time that a look has. What strangers wrote may be more
// than a parser can bear: that is a failed look and nothing else.
func safely(ctx context.Context, s Source, kept []byte) (f Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("what is there could not be read: %v", p)
		}
	}()
	if f, err = s.Look(ctx, kept); err != nil && ctx.Err() != nil {
		err = fmt.Errorf("it took longer than %s", lookTime)
	}
	return f, err
}
