// Package power says when the computer slept, and keeps it from falling asleep
// by itself while somebody wants that. It wakes nothing and puts nothing to
// sleep.
package power

import (
	"context"
	"errors"
	"time"
)

// ErrNone: this system cannot be kept awake by a program of its user.
var ErrNone = errors.New("this system lets no program keep it awake")

// every is how often the clock is looked at where the system does not tell of
// sleep.
const every = 30 * time.Second

// Shorter pauses are of a busy computer.
const pause = 45 * time.Second

// gaps watches the clock: when far more time has passed than was waited for, the
// computer slept. tick is nil but in tests.
func gaps(ctx context.Context, now func() time.Time, tick <-chan time.Time, slept func(from, to time.Time)) {
	if tick == nil {
		t := time.NewTicker(every)
		defer t.Stop()
		tick = t.C
	}
	// The monotonic clock stops with the computer on some systems.
	last := now().Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		at := now().Round(0)
		if at.Sub(last) > every+pause {
			slept(last, at)
		}
		last = at
	}
}
