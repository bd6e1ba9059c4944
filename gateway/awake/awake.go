// Package awake measures waking time: how long this program really ran, with the
// pauses left out in which the computer slept or the program was held. Whoever
// waits for somebody else's word with a limit uses it, because time in which
// nobody could have listened says nothing about who was to speak.
//
// A wait is made of short steps. A step that took far longer than it should was
// slept through: it does not count, and another one follows before the wait is
// over, in which what came meanwhile is read. Both clocks are looked at, since
// the one that only goes forward stops with the computer on some systems and
// goes on on others.
package awake

import (
	"context"
	"sync"
	"time"
)

const (
	steps    = 8 // of one wait
	longest  = 5 * time.Second
	shortest = 10 * time.Millisecond
	// A step may be late by its own length, between these two: that is a busy
	// computer and no sleeping one.
	leastSlack = 50 * time.Millisecond
	mostSlack  = 500 * time.Millisecond
	// A computer that is late in every step is not asleep but overloaded; a wait
	// ends there too.
	mostLate = 40
)

// Timer calls a function after some waking time. It is safe for concurrent use.
type Timer struct {
	call func()
	now  func() time.Time

	mu    sync.Mutex
	timer *time.Timer
	turn  uint64 // of Reset and Stop: what an older step finds is not its own
	left  time.Duration
	step  time.Duration // the one that runs; 0: none does
	whole time.Duration // of a full step
	began time.Time
	late  int // steps in a row
}

// AfterFunc calls f in a goroutine of its own after d of waking time.
func AfterFunc(d time.Duration, f func()) *Timer { return after(time.Now, d, f) }

func after(now func() time.Time, d time.Duration, f func()) *Timer {
	t := &Timer{call: f, now: now}
	t.Reset(d)
	return t
}

// Reset begins anew with d.
func (t *Timer) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left, t.late = max(d, 0), 0
	t.whole = min(max(d/steps, shortest), longest)
	t.begin()
}

// Stop ends the wait and says how much of it was left; ok is false when it was
// over before.
func (t *Timer) Stop() (left time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.step == 0 {
		return t.left, false
	}
	if took := t.passed(); !t.isLate(took) {
		t.left = max(t.left-took, 0)
	}
	t.turn++
	t.step = 0
	t.timer.Stop()
	return t.left, true
}

// begin starts a step. t.mu is held.
func (t *Timer) begin() {
	t.turn++
	turn := t.turn
	if t.timer != nil {
		t.timer.Stop()
	}
	t.step, t.began = max(min(t.whole, t.left), time.Nanosecond), t.now()
	t.timer = time.AfterFunc(t.step, func() { t.over(turn) })
}

func (t *Timer) over(turn uint64) {
	t.mu.Lock()
	if t.turn != turn || t.step == 0 {
		t.mu.Unlock()
		return
	}
	switch {
	case !t.isLate(t.passed()):
		t.left, t.late = t.left-t.step, 0
	case t.late == 0 || t.late == mostLate:
		t.late++ // the first is forgiven whole
	default:
		t.late++
		t.left = max(t.left-t.step, shortest) // the end is never in a step that was slept through
	}
	if t.left > 0 && t.late <= mostLate {
		t.begin()
		t.mu.Unlock()
		return
	}
	t.left, t.step = 0, 0
	t.mu.Unlock()
	t.call()
}

// passed is what the clocks say of the step, the greater one.
func (t *Timer) passed() time.Duration {
	now := t.now()
	return max(now.Sub(t.began), now.Round(0).Sub(t.began.Round(0)))
}

func (t *Timer) isLate(took time.Duration) bool {
	return took > t.step+min(max(t.step, leastSlack), mostSlack)
}

// WithTimeout is context.WithTimeout for waking time.
func WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return WithTimeoutCause(parent, d, context.DeadlineExceeded)
}

// WithTimeoutCause is context.WithTimeoutCause for waking time.
func WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	late := &timeout{Context: ctx}
	t := AfterFunc(d, func() {
		late.mark()
		cancel(cause)
	})
	return late, func() {
		t.Stop()
		cancel(context.Canceled)
	}
}

// timeout says of itself, as other contexts do, that its time is over.
type timeout struct {
	context.Context
	mu   sync.Mutex
	over bool
}

func (c *timeout) mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = c.Context.Err() == nil
}

func (c *timeout) Err() error {
	err := c.Context.Err()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.over {
		return context.DeadlineExceeded
	}
	return err
}
