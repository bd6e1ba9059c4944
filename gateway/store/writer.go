package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// maxBatch bounds how many writes share one commit, so that a flood does not
// turn into one huge transaction.
const maxBatch = 512

// Write is one unit of work for the writer.
type Write struct {
	// Do changes the store. It may run more than once and must only touch tx.
	Do func(tx *Tx) error
	// Then, when set, runs after the commit is on disk, in commit order, on the
	// writer's goroutine. It must not block and must not call Update.
	Then func()
	// Must marks a write that records how something ended: on a full disk it may
	// use the reserve, which ordinary writes may not.
	Must bool
}

type write struct {
	Write
	err   error
	ready chan struct{} // closed when err is set; nil for Post
}

// Update commits one write and returns when it is durable.
func (db *DB) Update(ctx context.Context, w Write) error {
	q := &write{Write: w, ready: make(chan struct{})}
	if err := db.hand(ctx, q); err != nil {
		return err
	}
	// Not ctx: the write may be committing, and its outcome is the truth.
	<-q.ready
	return q.err
}

// Post hands a write over without waiting for it; its error is lost. Only for
// what may be lost in a crash, such as a checkpoint of streamed text.
func (db *DB) Post(ctx context.Context, w Write) error {
	return db.hand(ctx, &write{Write: w})
}

// Ride adds a write to the next commit that another one brings about, at the latest
// to that of Close, so that it costs no flush of its own. Its error is lost, and so
// is the write in a crash before: only for what is done again without harm.
func (db *DB) Ride(w Write) {
	db.riding.Lock()
	defer db.riding.Unlock()
	db.riders = append(db.riders, &write{Write: w})
}

// board takes the writes that wait for a commit.
func (db *DB) board(batch []*write) []*write {
	db.riding.Lock()
	defer db.riding.Unlock()
	batch = append(batch, db.riders...)
	db.riders = nil
	return batch
}

func (db *DB) hand(ctx context.Context, q *write) error {
	db.closing.RLock()
	defer db.closing.RUnlock()
	if db.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err // not left to chance by the select
	}
	db.owed.Add(1)
	select {
	case db.writes <- q:
		return nil
	case <-ctx.Done():
		db.owed.Add(-1)
		return ctx.Err()
	}
}

func (db *DB) loop() {
	defer close(db.done)
	batch := make([]*write, 0, maxBatch)
	for {
		q, ok := db.next()
		if !ok {
			break
		}
		batch = append(batch[:0], q)
	collect:
		for len(batch) < maxBatch {
			select {
			case next, ok := <-db.writes:
				if !ok {
					break collect
				}
				batch = append(batch, next)
			default:
				break collect
			}
		}
		n := len(batch)
		batch = db.board(batch)
		db.commit(batch)
		db.owed.Add(int64(-n))
		db.rounds.Add(1)
	}
	if batch = db.board(batch[:0]); len(batch) > 0 {
		db.commit(batch)
	}
}

// next waits for a write, and gives whoever asked for one a turn meanwhile. ok is
// false at the end.
func (db *DB) next() (q *write, ok bool) {
	for {
		select {
		case q, ok = <-db.writes:
			return q, ok
		case turn := <-db.turns:
			turn()
		}
	}
}

// inTurn runs fn on the writer's goroutine, between two commits.
func (db *DB) inTurn(ctx context.Context, fn func() error) error {
	end := make(chan error, 1)
	select {
	case db.turns <- func() { end <- fn() }:
		return <-end
	case <-db.done:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// commit applies a batch. A write that fails is taken out and the others are
// run again, so one bad write never costs its neighbours.
func (db *DB) commit(batch []*write) {
	spent := false // the reserve, in this commit: making it anew now would only take its room back
	for len(batch) > 0 {
		if err := db.Problem(); err != nil && !errors.Is(err, ErrFull) {
			finish(batch, err)
			return
		}
		if batch = db.refuseWhenFull(batch, !spent); len(batch) == 0 {
			return
		}
		bad := -1
		var made *changes
		err := db.guard(func() error {
			return db.file.bolt.Update(func(tx *bbolt.Tx) error {
				if made = nil; db.journal != nil {
					made = &changes{}
				}
				for i, q := range batch {
					if err := do(q.Do, &Tx{tx, made}); err != nil {
						bad = i
						return err
					}
				}
				return nil
			})
		})
		switch {
		case db.damage() != nil:
			finish(batch, db.damage())
			return
		case err == nil:
			if db.journal != nil {
				db.journal.add(made)
			}
			finish(batch, nil)
			return
		case bad >= 0 && !isFull(err):
			finish(batch[bad:bad+1], err)
			batch = append(batch[:bad:bad], batch[bad+1:]...)
		case isFull(err):
			if !db.reserve.spend() { // spent before: nothing more can be done
				finish(batch, fmt.Errorf("%w: %v", ErrFull, err))
				return
			}
			spent = true
		default:
			// The flush failed: what is on disk is unknown, so nothing may be
			// acknowledged any more.
			db.failed.Store(true)
			finish(batch, fmt.Errorf("%w: %v", ErrFailed, err))
			return
		}
	}
}

// refuseWhenFull answers the ordinary writes of a batch while the reserve is
// spent and cannot be made anew, and returns the rest.
func (db *DB) refuseWhenFull(batch []*write, mayRefill bool) []*write {
	if !db.reserve.spent.Load() || mayRefill && db.reserve.refill() {
		return batch
	}
	keep := batch[:0:0]
	for _, q := range batch {
		if q.Must {
			keep = append(keep, q)
		} else {
			finish([]*write{q}, ErrFull)
		}
	}
	return keep
}

// do contains a panic of one write function.
func do(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if fromFile(r) {
				panic(fileFault{r})
			}
			err = errors.New("a write to the store panicked: " + fmt.Sprint(r))
		}
	}()
	return fn(tx)
}

func finish(batch []*write, err error) {
	for _, q := range batch {
		q.err = err
		if err == nil && q.Then != nil {
			q.Then()
		}
		if q.ready != nil {
			close(q.ready)
		}
	}
}
