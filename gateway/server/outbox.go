package server

import (
	"strconv"
	"sync"
)

// outbox is everything that one connection still has to send: a queue of
// frames that must arrive, in order, and for each live run a cursor into its
// text. Only the connection's writer takes from it.
type outbox struct {
	slim  bool // set before the connection sees events
	limit int  // bytes of events that may wait
	wake  chan struct{}

	mu        sync.Mutex // guards all below
	room      sync.Cond  // on mu: answers that wait for room
	queue     []item
	events    int // bytes of queued events
	answers   int // bytes of queued answers
	cursors   map[*run]*cursor
	dirty     []*run
	closed    bool // takes nothing more
	discarded bool // gives nothing more
}

// item is one queued frame.
type item struct {
	frame []byte
	// event frames lack their end, which holds the connection's own number.
	event bool
	// aside frames are whole but count as events: they are for this connection
	// alone and have no number.
	aside bool
	tail  string // after the number, e.g. the state version
	// run, when set, has its text up to upto sent first.
	run  *run
	upto int
}

// cursor is how much of a run's text a connection has got. sent and epoch
// belong to the writer once the cursor is in the map.
type cursor struct {
	sent, epoch int
	dirty       bool
}

func (o *outbox) init(limit int) {
	o.limit = limit
	o.wake = make(chan struct{}, 1)
	o.room.L = &o.mu
	o.cursors = make(map[*run]*cursor)
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// pushEvent queues an event; false means that the client is too slow.
func (o *outbox) pushEvent(it item) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	if o.events > o.limit {
		return false
	}
	o.events += len(it.frame)
	o.queue = append(o.queue, it)
	o.signal()
	return true
}

// pushAnswer queues a whole frame. It waits while the client has not taken the
// answers before, which holds back only the request that it answers.
func (o *outbox) pushAnswer(frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.answers > o.limit && !o.closed {
		o.room.Wait()
	}
	if o.closed {
		return
	}
	o.answers += len(frame)
	o.queue = append(o.queue, item{frame: frame})
	o.signal()
}

// pushFirst queues hello and calls then before the writer can send it: who has
// read hello has missed nothing.
func (o *outbox) pushFirst(frame []byte, then func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.answers += len(frame)
		o.queue = append(o.queue, item{frame: frame})
	}
	then()
	o.signal()
}

// mark notes that a run has new text; a connection that sees the run for the
// first time starts at from.
func (o *outbox) mark(r *run, from, epoch int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	c := o.cursors[r]
	if c == nil {
		c = &cursor{sent: from, epoch: epoch}
		o.cursors[r] = c
	}
	if !c.dirty {
		c.dirty = true
		o.dirty = append(o.dirty, r)
		o.signal()
	}
}

// forget drops a run: it ended, or the client does not watch it any more.
func (o *outbox) forget(match func(*run) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for r := range o.cursors {
		if match(r) {
			delete(o.cursors, r)
		}
	}
}

// work is what the writer does next: a delta, a frame, or both in this order.
type work struct {
	run    *run
	cursor *cursor
	upto   int // -1: as far as the run is visible
	item   item
	frame  bool
}

// next takes the next piece of work; ok is false when there is none now, done
// when there will never be any.
func (o *outbox) next() (w work, ok, done bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.discarded {
		return w, false, true
	}
	if len(o.queue) > 0 {
		it := o.queue[0]
		o.queue[0] = item{}
		if o.queue = o.queue[1:]; len(o.queue) == 0 {
			o.queue = nil
		}
		if it.event || it.aside {
			o.events -= len(it.frame)
		} else if o.answers -= len(it.frame); o.answers <= o.limit {
			o.room.Broadcast()
		}
		w = work{item: it, frame: true}
		if c := o.cursors[it.run]; it.run != nil && c != nil {
			w.run, w.cursor, w.upto = it.run, c, it.upto
		}
		return w, true, false
	}
	for len(o.dirty) > 0 {
		r := o.dirty[0]
		o.dirty = o.dirty[1:]
		if c := o.cursors[r]; c != nil {
			c.dirty = false
			return work{run: r, cursor: c, upto: -1}, true, false
		}
	}
	o.dirty = nil
	return w, false, o.closed
}

// close takes nothing more; with discard what waits is dropped too.
func (o *outbox) close(discard bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if discard {
		o.discarded = true
		o.queue, o.dirty = nil, nil
	}
	o.room.Broadcast()
	o.signal()
}

// appendEvent completes an event frame with the connection's number.
func appendEvent(b, head []byte, seq uint64, tail string) []byte {
	b = append(b, head...)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, tail...)
	return append(b, '}')
}
