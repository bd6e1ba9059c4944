package approval

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// request is the live part of a pending record.
type request struct {
	id      string
	rec     Record
	exact   [32]byte
	waiters int
	took    bool // somebody has taken what is allowed once
	over    bool
	done    chan struct{} // closed when over
	expiry  *time.Timer
	look    *time.Timer // for somebody who may decide
	nobody  bool        // when it was last looked
}

// Open makes a request on behalf of a client of the wire and returns at once.
// requester cannot allow it itself.
func (b *Broker) Open(ctx context.Context, a Ask, requester string) (Record, error) {
	if err := a.check(); err != nil {
		return Record{}, err
	}
	r, err := b.open(ctx, a, requester, b.settings(a))
	if err != nil {
		return Record{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r.waiters-- // it waits with Wait, if at all
	return r.rec, nil
}

// open finds the pending request for the same wish of the same run, or makes
// one. The caller waits for it. A wish that is shown with other words (a tool's
// other arguments) is a question of its own, even when one rule could allow both:
// a person decides about what they read.
func (b *Broker) open(ctx context.Context, a Ask, requester string, set Settings) (*request, error) {
	now := b.Now()
	if b.Name != nil && requester == "" {
		a.Says = a.Says.By(b.Name(a.AgentID))
	}
	r := &request{exact: a.Exact(), waiters: 1, done: make(chan struct{})}
	b.mu.Lock()
	t := b.tally(a.RunID, now)
	if t.denied >= maxDenials {
		b.mu.Unlock()
		return nil, ErrTired
	}
	n := 0
	for _, w := range b.waiting {
		if w.over || w.rec.Ask.SessionKey != a.SessionKey {
			continue
		}
		if w.exact == r.exact && slices.Equal(w.rec.Ask.Lines, a.Lines) && w.rec.Ask.RunID == a.RunID && w.rec.Requester == "" &&
			requester == "" {
			w.waiters++
			b.mu.Unlock()
			return w, nil
		}
		n++
	}
	if n >= maxPending {
		b.mu.Unlock()
		return nil, ErrFlood
	}
	t.asked++
	r.rec = Record{
		ID: b.NewID(), Ask: a, State: StatePending, Epoch: b.epoch, Asked: t.asked, Requester: requester,
		CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(set.Life).UnixMilli(),
	}
	r.id = r.rec.ID
	b.waiting[r.id] = r // before the write: it counts against the limit
	b.mu.Unlock()

	rec := r.rec
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return b.t.create(tx, rec) }})
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.waiting, rec.ID)
		r.over, r.rec.State = true, StateWithdrawn
		close(r.done)
		return nil, fmt.Errorf("the request for an approval could not be kept, so it was not asked: %w", err)
	}
	b.begin(r, a, set.Life)
	return r, nil
}

// begin starts the clocks of a request and tells people.
func (b *Broker) begin(r *request, ask Ask, life time.Duration) {
	id, reachable := r.id, b.reachable(ask)
	b.mu.Lock()
	if !r.over {
		r.nobody = !reachable
		r.expiry = time.AfterFunc(life, func() { b.settle(id, StateExpired, "nobody decided in time") })
		r.look = time.AfterFunc(unattendedAfter, func() { b.lookAround(id) })
	}
	rec := r.rec
	b.mu.Unlock()
	if b.Requested != nil {
		b.Requested(rec)
	}
}

func (b *Broker) reachable(a Ask) bool { return b.Reachable != nil && b.Reachable(a) }

// lookAround denies a request about which nobody could have decided since the
// last time (A-EXEC-01).
func (b *Broker) lookAround(id string) {
	b.mu.Lock()
	r := b.waiting[id]
	if r == nil || r.over {
		b.mu.Unlock()
		return
	}
	ask, before, over := r.rec.Ask, r.nobody, b.Now().UnixMilli() >= r.rec.ExpiresAt
	b.mu.Unlock()
	if over { // the computer slept: a question holds until the time that everybody was told
		b.settle(id, StateExpired, "nobody decided in time")
		return
	}
	nobody := !b.reachable(ask)
	if nobody && before {
		b.settle(id, StateDenied, "nobody who may decide could be reached")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.over {
		r.nobody = nobody
		r.look.Reset(unattendedAfter)
	}
}

// settle ends a request without a person.
func (b *Broker) settle(id string, state State, reason string) {
	var rec Record
	err := b.DB.Update(b.base, store.Write{Must: true, Do: func(tx *store.Tx) (err error) {
		rec, err = b.t.end(tx, id, func(r *Record) error {
			r.State, r.Reason, r.DecidedAt = state, reason, b.Now().UnixMilli()
			return nil
		})
		return err
	}})
	switch {
	case errors.Is(err, ErrResolved), errors.Is(err, ErrNotFound):
		return // a decision came first, and whoever made it tells
	case err != nil:
		// It stays pending in the store, where its time is over, and is no for us.
		b.Logger.Error("the end of an approval could not be kept", "id", id, "err", err)
		b.mu.Lock()
		r := b.waiting[id]
		b.mu.Unlock()
		if r == nil {
			return
		}
		rec = r.rec
		rec.State, rec.Reason = state, reason
	}
	b.finish(rec)
}

// finish lets everybody who waits have the decision.
func (b *Broker) finish(rec Record) {
	b.mu.Lock()
	r := b.waiting[rec.ID]
	if r == nil || r.over {
		b.mu.Unlock()
		return
	}
	r.rec, r.over = rec, true
	for _, t := range []*time.Timer{r.expiry, r.look} {
		if t != nil {
			t.Stop()
		}
	}
	delete(b.waiting, rec.ID)
	if t := b.tally(rec.Ask.RunID, b.Now()); rec.State == StateDenied || rec.State == StateExpired {
		t.denied++
	}
	close(r.done)
	b.mu.Unlock()
	if b.Resolved != nil {
		b.Resolved(rec)
	}
}

// wait returns the decision about a request that the caller joined. first is
// true for one of those who waited. When ctx ends, whoever asked is gone, and
// with the last of them the request.
func (b *Broker) wait(ctx context.Context, r *request) (rec Record, first bool, err error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		b.mu.Lock()
		r.waiters--
		last := r.waiters <= 0
		b.mu.Unlock()
		if last {
			b.settle(r.id, StateWithdrawn, "the run that asked has ended")
		}
		return rec, false, context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first, r.took = !r.took, true
	return r.rec, first, nil
}

// Wait returns a request of a client once it is decided. A decision can be read
// again; what it allows is for the client to do once.
func (b *Broker) Wait(ctx context.Context, id string) (Record, error) {
	b.mu.Lock()
	r := b.waiting[id]
	b.mu.Unlock()
	if r == nil {
		return b.Get(id)
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return Record{}, context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return r.rec, nil
}

// Get returns a request in any state.
func (b *Broker) Get(id string) (rec Record, err error) {
	err = b.DB.View(func(tx *store.Tx) error {
		var ok bool
		if rec, ok, err = b.t.records.Get(tx, []byte(id)); err == nil && !ok {
			err = ErrNotFound
		}
		return err
	})
	return rec, err
}

// Over lists requests that have ended, the newest first. before is where a page
// goes on, 0 at its beginning; next is 0 when nothing follows.
func (b *Broker) Over(before uint64, limit int) (out []Record, next uint64, err error) {
	r := store.Range{Reverse: true}
	if before > 0 {
		r.Before = store.Uint64Key(before)
	}
	err = b.DB.View(func(tx *store.Tx) error {
		for row, err := range b.t.order.Scan(tx, r) {
			if err != nil {
				return err
			}
			if len(out) == limit {
				next = placeOf(row.Key) + 1
				return nil
			}
			rec, ok, err := b.t.records.Get(tx, []byte(row.Value))
			if err != nil {
				return err
			}
			if ok && rec.State != StatePending {
				out = append(out, rec)
			}
		}
		return nil
	})
	return out, next, err
}

// placeOf is the number of a place in the order.
func placeOf(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

// Pending lists what waits, the oldest first.
func (b *Broker) Pending() (out []Record) {
	b.mu.Lock()
	for _, r := range b.waiting {
		if !r.over {
			out = append(out, r.rec)
		}
	}
	b.mu.Unlock()
	sortRecords(out)
	return out
}

// tally is the count of a run; b.mu is held. Runs that asked for nothing for
// long are forgotten.
func (b *Broker) tally(run string, now time.Time) *tally {
	if run == "" {
		return &tally{} // a client of the wire
	}
	t := b.runs[run]
	if t == nil {
		if len(b.runs) >= maxRuns {
			for id, old := range b.runs {
				if now.Sub(old.last) > 2*MaxLife {
					delete(b.runs, id)
				}
			}
		}
		t = &tally{}
		b.runs[run] = t
	}
	t.last = now
	return t
}

// Close stops the clocks. Who still waits goes by their own context.
func (b *Broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.waiting {
		for _, t := range []*time.Timer{r.expiry, r.look} {
			if t != nil {
				t.Stop()
			}
		}
	}
}
