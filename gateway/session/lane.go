package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// lane owns everything about a session's turns: what waits, what runs, and how
// far its answer has come. Its mutex guards all of it, and the fields of its
// runs that are marked so.
type lane struct {
	key string

	mu      sync.Mutex
	queue   []*run // accepted and not started, in the order of acceptance
	active  *run
	joined  []string  // runs whose messages the active one answers too
	joining []*run    // taken for the active one, which has not claimed them yet
	working bool      // a goroutine serves the lane
	held    bool      // the active run may not begin yet
	last    time.Time // when a message came last
}

// run is a turn that has not ended.
type run struct {
	id       string // rec.ID, for anyone to read
	rec      Run    // owned by the lane's goroutine once it is active
	text     string
	turn     uint64 // where its entries go; changed by the lane's goroutine under place
	with     []*run // whose messages it answers too; lane's goroutine
	behind   bool   // it waited behind another run; lane.mu
	debounce time.Duration
	ctx      context.Context
	cancel   context.CancelCauseFunc
	done     chan struct{} // closed after rec is final

	said       strings.Builder    // all words of the answer; lane.mu
	start      int                // where the words begin that the transcript lacks; lane.mu
	ended      bool               // the next words begin anew; lane.mu
	tell       sync.Mutex         // holds while an event of the run is sent
	seq        int64              // of chat and agent events; tell
	place      sync.Mutex         // holds while a place in the transcript is taken
	step       int                // of the last entry written; place
	nest       *NestedCalls       // of calls that programs make; lane's goroutine
	calls      []failover.Attempt // of models; lane's goroutine
	spent      float64            // for all of them, where somebody asked; lane's goroutine
	thought    thought            // lane's goroutine
	checked    int                // bytes of said that are checkpointed; lane's goroutine
	checkedAt  time.Time
	checkpoint chan struct{} // holds a token while no checkpoint is under way
}

func (m *Manager) newRun(rec Run, text string) *run {
	r := &run{id: rec.ID, rec: rec, text: text, turn: rec.Turn, done: make(chan struct{}), checkpoint: make(chan struct{}, 1)}
	r.checkpoint <- struct{}{}
	r.ctx, r.cancel = context.WithCancelCause(m.runCtx)
	return r
}

// enqueue adds a run that has been accepted and tells whether it has to wait.
// It is called in the order of acceptance and does not block.
func (m *Manager) enqueue(r *run) (waits bool) {
	l := m.laneOf(r.rec.SessionKey)
	m.mu.Lock()
	m.live[r.id] = r
	closed := m.closed
	if !closed { // under the lock: Close waits for what was added before it began
		m.work.Add(1)
	}
	m.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	r.behind = r.behind || l.working
	l.queue = append(l.queue, r)
	l.last, waits = time.Now(), l.working
	if r.rec.Mode == Interrupt && l.active != nil {
		l.active.cancel(errInterrupted)
	}
	switch {
	case closed:
	case l.working:
		m.work.Done()
	default:
		l.working = true
		go m.serve(l)
	}
	return waits
}

// serve runs the queue of a lane until it is empty.
func (m *Manager) serve(l *lane) {
	defer m.work.Done()
	for {
		r := l.next(m.runCtx)
		if r == nil {
			return
		}
		m.gather(l, r)
		m.perform(l, r)
	}
}

// next takes the first waiting run, or ends the lane's work.
func (l *lane) next(ctx context.Context) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active, l.joined, l.joining = nil, nil, nil
	if len(l.queue) == 0 || ctx.Err() != nil {
		l.working = false
		return nil
	}
	r := l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	l.active = r
	return r
}

// hold says whether the active run may not begin yet.
func (l *lane) hold(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
}

// release says that a run's end is durable: what is told of the lane from now
// on does not count it.
func (l *lane) release(r *run) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == r {
		l.active, l.joined = nil, nil
	}
}

// take removes waiting runs (all, or the one named; of one transcript only, if it
// is given) from the queue and returns them. If the active run was meant too it is
// stopped in the same moment, with what it answers and what is about to join it:
// what was accepted before is stopped, and what is accepted afterwards never joins
// a run that is ending. stopped are the ids of those.
func (l *lane) take(runID, sessionID string) (waiting []*run, stopped []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keep := l.queue[:0:0]
	for _, r := range l.queue {
		if (runID == "" || r.id == runID) && of(r, sessionID) {
			waiting = append(waiting, r)
		} else {
			keep = append(keep, r)
		}
	}
	l.queue = keep
	if l.active == nil || !of(l.active, sessionID) {
		return waiting, nil
	}
	stopped = append([]string{l.active.id}, l.joined...)
	for _, r := range l.joining {
		stopped = append(stopped, r.id)
	}
	if runID != "" && !slices.Contains(stopped, runID) {
		return waiting, nil
	}
	l.active.cancel(errAborted)
	for _, r := range l.joining {
		r.cancel(errAborted) // should it go back into the queue
	}
	return waiting, stopped
}

// of reports whether a run belongs to a transcript; "" is any.
func of(r *run, sessionID string) bool { return sessionID == "" || r.rec.SessionID == sessionID }

// waiting is how many messages wait for their turn.
func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// idle reports whether an accepted run would start at once.
func (l *lane) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active == nil && len(l.queue) == 0
}

// laneState is a lane at one moment.
type laneState struct {
	active string   // run id
	held   bool     // it waits too
	joined []string // run ids that it answers too
	text   string   // of its answer that is not in the transcript yet
	end    int      // bytes of its whole answer so far
	queued []string
}

func (l *lane) snapshot() (s laneState) {
	if l == nil {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.active; r != nil {
		s.active, s.text, s.end = r.id, r.segment(), r.said.Len()
		s.joined, s.held = slices.Clone(l.joined), l.held
	}
	for _, r := range l.queue {
		s.queued = append(s.queued, r.id)
	}
	return s
}

// say adds words to the active run's answer and returns all of it.
func (l *lane) say(r *run, words string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.ended && r.said.Len() > 0 {
		r.said.WriteString("\n\n")
	}
	if r.ended {
		r.start, r.ended = r.said.Len(), false
	}
	r.said.WriteString(words)
	return r.said.String()
}

// endSegment says that the words so far stand in the transcript.
func (l *lane) endSegment(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.ended = true
}

// segment returns the words that do not stand in the transcript yet.
func (l *lane) segment(r *run) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.segment()
}

func (r *run) segment() string {
	if r.ended {
		return ""
	}
	return r.said.String()[r.start:]
}

// reword changes the words of a waiting run.
func (l *lane) reword(runID, text string, hints Hints) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.queue {
		if r.id == runID {
			r.text, r.rec.Hints = text, hints
		}
	}
}
