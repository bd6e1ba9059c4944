package push

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Limits of what waits to be sent.
const (
	maxWaiting   = 256 // for all devices
	maxFresh     = 64
	maxTries     = 8
	maxAtOnce    = 4 // requests; a service that hangs holds up no other one
	tryTime      = 30 * time.Second
	firstPause   = 30 * time.Second
	longestPause = 15 * time.Minute
)

// recipients are who is told, and telling them.
type recipients interface {
	// pointless reports whether nobody needs to be told any more.
	pointless(n notice) bool
	wanting(n notice) []subscription
	subscribed(id string) (subscription, bool)
	send(ctx context.Context, s subscription, n notice) result
}

// entry is a notice on its way to one subscription.
type entry struct {
	to    string // id of the subscription
	n     notice
	at    time.Time // the next try is not before
	tries int
	busy  bool
}

// queue sends notices in the background, those for one subscription one after the
// other. What it holds is lost with the process: see the package.
type queue struct {
	to  recipients
	now func() time.Time
	log *slog.Logger

	mu      sync.Mutex
	fresh   []notice // for which nobody has been looked for
	waiting []*entry
	wake    chan struct{}
}

func newQueue(to recipients, now func() time.Time, log *slog.Logger) *queue {
	return &queue{to: to, now: now, log: log, wake: make(chan struct{}, 1)}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// add takes a notice. It does not block.
func (q *queue) add(n notice) {
	q.mu.Lock()
	if len(q.fresh) < maxFresh {
		q.fresh = append(q.fresh, n)
	}
	q.mu.Unlock()
	q.signal()
}

// over takes back what nobody needs to be told any more.
func (q *queue) over(n notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	same := func(o notice) bool { return o.subject() == n.subject() }
	q.fresh = slices.DeleteFunc(q.fresh, same)
	q.waiting = slices.DeleteFunc(q.waiting, func(e *entry) bool { return !e.busy && same(e.n) })
}

// run sends until ctx ends.
func (q *queue) run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	for {
		q.spread()
		wait := q.begin(ctx, &work)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-q.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// spread looks for whom the fresh notices are.
func (q *queue) spread() {
	q.mu.Lock()
	fresh := q.fresh
	q.fresh = nil
	q.mu.Unlock()
	for _, n := range fresh {
		if q.to.pointless(n) {
			continue
		}
		for _, s := range q.to.wanting(n) {
			q.put(&entry{to: s.ID, n: n, at: q.now()})
		}
	}
}

// put has an entry wait, in the place of an older one about the same.
func (q *queue) put(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(o *entry) bool {
		return !o.busy && o.to == e.to && o.n.subject() == e.n.subject()
	})
	if len(q.waiting) >= maxWaiting {
		if i := slices.IndexFunc(q.waiting, func(o *entry) bool { return !o.busy }); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1) // the oldest
		} else {
			return
		}
	}
	q.waiting = append(q.waiting, e)
}

// begin starts the tries that are due and returns when to look again.
func (q *queue) begin(ctx context.Context, work *sync.WaitGroup) (wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	wait = longestPause
	q.waiting = slices.DeleteFunc(q.waiting, func(e *entry) bool { return !e.busy && now.After(e.n.until) })
	taken := map[string]bool{}
	for _, e := range q.waiting {
		if e.busy {
			taken[e.to] = true
		}
	}
	for _, e := range q.waiting {
		switch due := e.at.Sub(now); {
		case e.busy || taken[e.to]:
		case due > 0:
			wait = min(wait, due)
		case len(taken) < maxAtOnce:
			taken[e.to], e.busy = true, true
			work.Go(func() { q.try(ctx, e) })
		}
	}
	return wait
}

// try tells one device once.
func (q *queue) try(ctx context.Context, e *entry) {
	defer q.signal()
	var r result
	if s, ok := q.to.subscribed(e.to); ok {
		ctx, cancel := context.WithTimeout(ctx, tryTime)
		r = q.to.send(ctx, s, e.n)
		cancel()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	e.busy = false
	e.tries++
	pause := max(min(firstPause<<(e.tries-1), longestPause), r.after)
	e.at = q.now().Add(pause)
	if r.err != nil && ctx.Err() == nil {
		q.log.Warn("a notification was not taken", "kind", e.n.kind, "status", r.status, "err", r.err, "tries", e.tries, "again", r.again)
	}
	if r.err == nil || !r.again || e.tries >= maxTries || e.at.After(e.n.until) {
		q.waiting = slices.DeleteFunc(q.waiting, func(o *entry) bool { return o == e })
	}
}
