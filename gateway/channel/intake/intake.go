// Package intake keeps what came from a network in order until it is taken, and how
// far everything was taken, so that what was missed can be asked for after a break or
// a restart. It owns order, repeats and the mark on disk; what a message says, and
// where missed ones are found, is the network's client's business.
package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Item is a message that came. Mark says when, in a number of the network's own that
// grows with time; ID tells it from all others of the account, so that what comes
// twice is handed over once.
type Item struct {
	ID   string
	Mark int64
	In   channel.Inbound
	// Taken is called when the message was taken, if it is set.
	Taken func()
}

// Options of a Queue. Logger is needed; without Durable nothing is kept over restarts.
type Options struct {
	Durable channel.Durable
	Logger  *slog.Logger
}

// Queue holds the messages of an account that wait to be taken.
type Queue struct {
	o Options

	mu      sync.Mutex
	items   []Item
	seen    map[string]bool
	order   []string // of seen, the oldest first
	kept    kept
	arrived chan struct{} // holds one when items got something
}

// Bounds of a queue.
const (
	mostWaiting = 20_000
	mostSeen    = 40_000
	mostKept    = 200
)

// kept is what stays over restarts: the mark of the newest message that was taken, the
// one that the account began with, and which were taken last.
type kept struct {
	Mark  int64    `json:"mark"`
	Begin int64    `json:"begin"`
	Taken []string `json:"taken,omitempty"`
}

// ErrFull means that too much waits: the client lets go of its connection, and asks
// for what it missed later.
var ErrFull = errors.New("too many messages wait to be taken")

const markKey = "mark"

// New returns an empty queue.
func New(o Options) *Queue {
	return &Queue{o: o, seen: map[string]bool{}, arrived: make(chan struct{}, 1)}
}

// Remember reads the mark that was kept.
func (q *Queue) Remember(ctx context.Context) error {
	if q.o.Durable == nil {
		return nil
	}
	b, err := q.o.Durable.Get(ctx, markKey)
	if err != nil || len(b) == 0 {
		return err
	}
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return fmt.Errorf("read how far messages were taken: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = k
	for _, id := range k.Taken {
		q.see(id)
	}
	return nil
}

// Since is behind which mark missed messages are looked for: overlap before that of
// the newest one that was taken, because those of different conversations are not
// taken in the order of their marks, but not before the account's beginning. ok is
// false for an account that has not begun.
func (q *Queue) Since(overlap int64) (mark int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(q.kept.Mark-overlap, q.kept.Begin), q.kept.Mark != 0
}

// Begin says where an account begins of which nothing was taken yet: what is older is
// nobody's business.
func (q *Queue) Begin(ctx context.Context, mark int64) error {
	q.mu.Lock()
	q.kept.Begin = mark
	q.mu.Unlock()
	return q.advance(ctx, "", mark)
}

// Add puts a message into the line, unless it came before.
func (q *Queue) Add(it Item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.seen[it.ID] {
		return nil
	}
	if len(q.items) >= mostWaiting {
		return ErrFull
	}
	q.items = append(q.items, it)
	q.see(it.ID)
	select {
	case q.arrived <- struct{}{}:
	default:
	}
	return nil
}

// Seen reports whether a message came before.
func (q *Queue) Seen(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.seen[id]
}

func (q *Queue) see(id string) {
	q.seen[id] = true
	q.order = append(q.order, id)
	if n := len(q.order) - mostSeen; n > 0 {
		for _, old := range q.order[:n] {
			delete(q.seen, old)
		}
		q.order = append([]string(nil), q.order[n:]...)
	}
}

// Pauses before a message that was not taken is offered again.
const (
	leastRest = 50 * time.Millisecond
	mostRest  = 30 * time.Second
)

// Take gives one message to inbox, again until it was taken. Its error is ctx's.
func Take(ctx context.Context, inbox channel.Inbox, in channel.Inbound, log *slog.Logger) error {
	for rest := leastRest; ; rest = min(2*rest, mostRest) {
		err := inbox(ctx, in)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			log.Warn("a message was not taken; it is offered again", "err", err, "after", rest)
		}
		if err := sleep.For(ctx, rest); err != nil {
			return err
		}
	}
}

// Hand gives the messages to inbox, one after the other and each again until it was
// taken, until ctx ends.
func (q *Queue) Hand(ctx context.Context, inbox channel.Inbox) {
	for {
		it, ok := q.first()
		if !ok {
			select {
			case <-q.arrived:
				continue
			case <-ctx.Done():
				return
			}
		}
		if Take(ctx, inbox, it.In, q.o.Logger) != nil {
			return
		}
		if it.Taken != nil {
			it.Taken()
		}
		q.mu.Lock()
		q.items = q.items[1:]
		q.mu.Unlock()
		if err := q.advance(ctx, it.ID, it.Mark); err != nil && ctx.Err() == nil {
			q.o.Logger.Warn("how far messages were taken could not be kept", "err", err)
		}
	}
}

func (q *Queue) first() (Item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return Item{}, false
	}
	return q.items[0], true
}

// advance keeps that a message was taken.
func (q *Queue) advance(ctx context.Context, id string, mark int64) error {
	q.mu.Lock()
	q.kept.Mark = max(q.kept.Mark, mark)
	if id != "" {
		q.kept.Taken = append(q.kept.Taken, id)
		if n := len(q.kept.Taken) - mostKept; n > 0 {
			q.kept.Taken = append([]string(nil), q.kept.Taken[n:]...)
		}
	}
	b, err := json.Marshal(q.kept)
	q.mu.Unlock()
	if err != nil || q.o.Durable == nil {
		return err
	}
	return q.o.Durable.Put(ctx, markKey, b)
}
