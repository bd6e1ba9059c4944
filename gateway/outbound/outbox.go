// Package outbound delivers what a run ended with. The terminal event is put
// into the outbox in the transaction that makes it true; one goroutine hands
// the rows to the surface in order, and what was taken is removed with the next
// commit. What a crash leaves behind is delivered at the next start.
//
// The Outbox is for the gateway's own socket, whose clients also read the
// transcript. The Deliverer is for messaging networks: it records each attempt
// before the request and each receipt after it, so that what a crash leaves
// behind is neither lost nor sent twice. Folders below: chunk cuts text, reply
// decides what of an answer is said, stream says it while it is written.
package outbound

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// batch is how many rows are read at a time.
const batch = 64

// Outbox is the queue of terminal events. Its zero value is not usable.
type Outbox struct {
	db      *store.DB
	rows    store.Bucket[protocol.ChatEvent]
	deliver func(protocol.ChatEvent)
	log     *slog.Logger
	wake    chan struct{}
	waiting atomic.Int64
}

// New returns an outbox that hands events to deliver, which must not block.
func New(db *store.DB, deliver func(protocol.ChatEvent), log *slog.Logger) *Outbox {
	return &Outbox{
		db: db, deliver: deliver, log: log,
		rows: store.NewBucket[protocol.ChatEvent]("outbox"),
		wake: make(chan struct{}, 1),
	}
}

// Put adds an event to the transaction.
func (o *Outbox) Put(tx *store.Tx, ev protocol.ChatEvent) error {
	n, err := o.rows.NextSeq(tx)
	if err != nil {
		return err
	}
	return o.rows.Put(tx, store.Uint64Key(n), ev)
}

// Wake says that rows were committed. It does not block.
func (o *Outbox) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Waiting is the number of rows that have not been delivered, as last seen.
func (o *Outbox) Waiting() int { return int(o.waiting.Load()) }

// Run delivers until ctx ends.
func (o *Outbox) Run(ctx context.Context) {
	var last []byte // delivered, its removal may still be under way
	for {
		keys, events, err := o.read(last)
		if err != nil {
			o.log.Error("the outbox could not be read", "err", err)
		}
		o.waiting.Store(int64(len(keys)))
		for i, ev := range events {
			failpoint.Hit("beforeDelivery")
			o.deliver(ev)
			last = keys[i]
		}
		if len(keys) > 0 {
			o.remove(keys)
			o.waiting.Store(0)
			continue
		}
		select {
		case <-o.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (o *Outbox) read(after []byte) (keys [][]byte, events []protocol.ChatEvent, err error) {
	err = o.db.View(func(tx *store.Tx) error {
		for row, err := range o.rows.Scan(tx, store.Range{After: after}) {
			if err != nil {
				return fmt.Errorf("read the outbox: %w", err)
			}
			keys = append(keys, append([]byte(nil), row.Key...))
			events = append(events, row.Value)
			if len(keys) == batch {
				break
			}
		}
		return nil
	})
	return keys, events, err
}

// remove does not wait, and brings about no commit of its own: a row that comes
// back after a crash is delivered again, and clients know its run by id.
func (o *Outbox) remove(keys [][]byte) {
	o.db.Ride(store.Write{Must: true, Do: func(tx *store.Tx) error {
		for _, k := range keys {
			if err := o.rows.Delete(tx, k); err != nil {
				return err
			}
		}
		return nil
	}})
}
