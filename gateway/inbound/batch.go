package inbound

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
)

// maxBatch messages are gathered at most.
const maxBatch = 50

// batch is what becomes one turn. The gate's mutex guards it until it is
// ready; then it belongs to Run.
type batch struct {
	id     uint64 // of its first message; the order of batches
	stream string
	lane   string // conversation: its batches are handed on one after the other
	seqs   []uint64
	due    time.Time // when to stop waiting for more
	limit  time.Time // when to stop waiting however much comes
	sealed *sealedRow

	attempts int  // failures that count
	crashed  bool // one of them stands for a stop of the gateway
	delays   int  // failures that do not
	past     bool // it came before a backup became the store: see store.DB.Past
	retryAt  time.Time
}

func newBatch(row pendingRow) *batch {
	return &batch{
		id: row.Seq, stream: streamKey(row.In), lane: string(conversationKey(row.In)),
		seqs: []uint64{row.Seq},
	}
}

// expect holds what is open of a stream until come is called, so that a message
// that is being made durable still joins it.
func (g *Gate) expect(stream string) (come func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.coming[stream]++
	return func() {
		g.mu.Lock()
		if g.coming[stream]--; g.coming[stream] == 0 {
			delete(g.coming, stream)
		}
		g.mu.Unlock()
		g.nudge()
	}
}

// line puts a message in line. Text joins what waits of the same stream; a
// sealed batch stands alone and closes it. It is called in the order of
// acceptance and does not block.
func (g *Gate) line(b *batch) {
	g.mu.Lock()
	open := g.open[b.stream]
	switch {
	case b.sealed != nil:
		g.closeOpen(open)
		g.ready = append(g.ready, b)
	case open == nil:
		g.open[b.stream] = b
	default:
		open.seqs = append(open.seqs, b.seqs...)
		open.due = b.due
		if open.due.After(open.limit) {
			open.due = open.limit
		}
		if len(open.seqs) >= maxBatch {
			g.closeOpen(open)
		}
	}
	g.mu.Unlock()
	g.nudge()
}

// closeOpen moves a waiting batch to those that are ready; g.mu is held.
func (g *Gate) closeOpen(b *batch) {
	if b == nil {
		return
	}
	delete(g.open, b.stream)
	g.ready = append(g.ready, b)
}

func (g *Gate) nudge() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// next returns the first batch that can be handed on, or how long there is
// nothing to do (negative: until something happens). A batch that is tried
// again later holds back its conversation and no other.
func (g *Gate) next(now time.Time) (*batch, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := time.Duration(-1)
	sooner := func(t time.Time) {
		if d := t.Sub(now); wait < 0 || d < wait {
			wait = max(d, 0)
		}
	}
	if !g.tellAt.IsZero() {
		sooner(g.tellAt)
	}
	var due []*batch
	for _, b := range g.open {
		switch {
		case b.due.After(now):
			sooner(b.due)
		case g.coming[b.stream] > 0 && b.limit.After(now):
			sooner(b.limit)
		default:
			due = append(due, b)
		}
	}
	sortBatches(due)
	for _, b := range due {
		g.closeOpen(b)
	}
	held := map[string]bool{}
	for _, b := range g.ready {
		switch {
		case held[b.lane]:
		case b.retryAt.After(now):
			held[b.lane] = true
			sooner(b.retryAt)
		default:
			return b, 0
		}
	}
	return nil, wait
}

// done takes a batch out of the line.
func (g *Gate) done(b *batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, r := range g.ready {
		if r == b {
			g.ready = append(g.ready[:i:i], g.ready[i+1:]...)
			return
		}
	}
}

// Waiting is how many turns are gathered or in line.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open) + len(g.ready)
}

func sortRows(rows []pendingRow) {
	slices.SortStableFunc(rows, func(a, b pendingRow) int { return cmp.Compare(a.Seq, b.Seq) })
}

func keySeq(key []byte) uint64 { return binary.BigEndian.Uint64(key) }
