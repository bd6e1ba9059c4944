package session

import (
	"context"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// How messages join a run that answers others: steering lets them into it at a
// tool boundary, collecting starts it with all that wait.

const (
	summarizedText = "Dropped: too many messages were waiting. Its beginning is told to the model with the next one."
	droppedText    = "Dropped: too many messages were waiting. Send it again if it still matters."
)

// steering is where an active run looks for new words.
type steering struct {
	m *Manager
	l *lane
	r *run
}

// Waiting reports whether words are there to steer with, after the quiet time
// that lets a burst arrive as one.
func (s steering) Waiting(ctx context.Context) bool {
	for {
		quiet, ok := s.l.steerable(s.r)
		if !ok || quiet <= 0 {
			return ok
		}
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return false
		}
	}
}

// Take claims the waiting messages for the run. Its entries go on behind them.
func (s steering) Take(ctx context.Context) ([]model.Message, error) {
	taken, err := s.l.pull(s.r, func(q *run) bool { return q.rec.Mode == Steer && q.rec.together(s.r.rec) })
	if err != nil {
		return nil, err
	}
	if err := s.m.join(ctx, s.l, s.r, taken); err != nil {
		s.l.putBack(taken) // the run is being stopped, or the disk is full: they wait on
		return nil, err
	}
	words := make([]model.Message, len(taken))
	for i, q := range taken {
		words[i] = model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: q.text}}}
	}
	failpoint.Hit("afterSteer")
	return words, nil
}

// steerable tells how long to wait until the messages that may steer are
// quiet; ok is false when there are none.
func (l *lane) steerable(r *run) (quiet time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.queue {
		if q.rec.Mode == Steer && q.rec.together(r.rec) {
			ok = true
			quiet = max(quiet, q.debounce-time.Since(l.last))
		}
	}
	return quiet, ok
}

// pull takes the waiting runs that match for r, in order, up to the first that
// does not: nothing overtakes. A run that is being stopped takes none: what was
// said after the stop is not stopped with it.
func (l *lane) pull(r *run, match func(*run) bool) (taken []*run, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	n := 0
	for n < len(l.queue) && match(l.queue[n]) {
		n++
	}
	taken = slices.Clone(l.queue[:n])
	l.queue = slices.Delete(l.queue, 0, n)
	l.joining = taken
	return taken, nil
}

// putBack undoes a pull.
func (l *lane) putBack(taken []*run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue, l.joining = append(slices.Clip(taken), l.queue...), nil
}

// gather makes one turn of everything that waits to be collected.
func (m *Manager) gather(l *lane, r *run) {
	if r.rec.Mode != Collect || !r.behind {
		return
	}
	for quiet := l.quietFor(r); quiet > 0; quiet = l.quietFor(r) {
		select {
		case <-time.After(quiet):
		case <-r.ctx.Done():
			return
		}
	}
	more, err := l.pull(r, func(q *run) bool { return q.rec.Mode == Collect && q.rec.together(r.rec) })
	if err != nil {
		return // it is being stopped
	}
	if err := m.join(r.ctx, l, r, more); err != nil {
		m.Logger.Warn("waiting messages could not be collected and are answered one by one", "session", l.key, "err", err)
		l.putBack(more)
		return
	}
	failpoint.Hit("afterCollect")
}

func (l *lane) quietFor(r *run) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.debounce - time.Since(l.last)
}

// join claims runs for r durably, so that a crash knows them together. The
// entries of r go on behind the last of them.
func (m *Manager) join(ctx context.Context, l *lane, r *run, more []*run) error {
	if len(more) == 0 {
		return nil
	}
	recs := make([]Run, len(more))
	for i, q := range more {
		recs[i] = q.rec
		m.because(&recs[i], protocol.WhyRule(q.rec.Mode), "it came while another message was being answered and was answered together with it")
		recs[i].State, recs[i].Into, recs[i].Epoch, recs[i].StartedAt = RunClaimed, r.id, m.Epoch, m.nowMs()
	}
	head := r.rec
	head.AnswerTurn = recs[len(recs)-1].Turn // recovery looks there for what was seen
	err := m.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		for _, rec := range append(recs[:len(recs):len(recs)], head) {
			if err := m.t.runs.Put(tx, []byte(rec.ID), rec); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return err
	}
	l.mu.Lock()
	for i, q := range more {
		q.rec = recs[i]
		l.joined = append(l.joined, q.id)
	}
	l.joining = nil
	l.mu.Unlock()
	r.rec = head
	r.with = append(r.with, more...)
	r.place.Lock()
	defer r.place.Unlock()
	r.turn, r.step = more[len(more)-1].rec.Turn, 0
	return nil
}

// dropOldest lets the oldest waiting messages give way while more wait than
// the policy allows.
func (m *Manager) dropOldest(l *lane, p QueuePolicy) {
	if p.Cap <= 0 {
		return
	}
	text := droppedText
	if p.Drop == DropSummarize {
		text = summarizedText
	}
	for _, r := range l.overflow(p.Cap) {
		r.cancel(errAborted)
		m.settle(r, ending{state: RunDropped, stop: "dropped", errText: text, errKind: "unknown"})
		m.forget(r)
	}
}

func (l *lane) overflow(most int) []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.queue) - most
	if n <= 0 {
		return nil
	}
	out := slices.Clone(l.queue[:n])
	l.queue = slices.Delete(l.queue, 0, n)
	return out
}
