package awake

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bed is a clock that can be put to sleep.
type bed struct {
	mu    sync.Mutex
	slept time.Duration
}

func (b *bed) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Add(b.slept)
}

func (b *bed) sleep(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slept += d
}

// Without sleep a wait is as long as it says, to the nanosecond.
func TestWaitIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, 1, time.Millisecond, 333 * time.Millisecond, 45 * time.Second, time.Hour + 7} {
			began, over := time.Now(), make(chan time.Time)
			AfterFunc(d, func() { over <- time.Now() })
			if took := (<-over).Sub(began); took != max(d, time.Nanosecond) {
				t.Errorf("%v took %v", d, took)
			}
		}
	})
}

// An hour of sleep, at whatever moment of the wait, does not count, and what came
// meanwhile can be read before the wait is over.
func TestFault_F_CLK_03_SleepDoesNotCount(t *testing.T) {
	const limit = 45 * time.Second
	for at := 500 * time.Millisecond; at < limit; at += 4900 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			var b bed
			began, over := time.Now(), make(chan time.Time, 1)
			timer := after(b.now, limit, func() { over <- time.Now() })
			<-time.After(at)
			b.sleep(time.Hour)
			select {
			case <-over:
				t.Fatalf("asleep after %v: over at once", at)
			case <-time.After(longest / 2):
			}
			took := (<-over).Sub(began)
			if took < limit || took > limit+2*longest {
				t.Errorf("asleep after %v: %v of waking time", at, took)
			}
			if left, ok := timer.Stop(); ok || left != 0 {
				t.Errorf("%v left of a wait that is over", left)
			}
		})
	}
}

// A wait is over where nobody gets to run in time either.
func TestOverloadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		timer := after(func() func() time.Time {
			n := time.Duration(0)
			return func() time.Time { n += time.Minute; return time.Now().Add(n) }
		}(), 45*time.Second, func() { close(over) })
		defer timer.Stop()
		select {
		case <-over:
		case <-time.After(10 * time.Minute):
			t.Error("it waits for ever")
		}
	})
}

// What is left is what was not waited awake; Reset begins anew.
func TestStopAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bed
		var calls atomic.Int64
		timer := after(b.now, time.Minute, func() { calls.Add(1) })
		<-time.After(20 * time.Second)
		b.sleep(time.Hour)
		if left, ok := timer.Stop(); !ok || left < 40*time.Second || left > 45*time.Second {
			t.Errorf("%v left", left)
		}
		<-time.After(time.Hour)
		if _, ok := timer.Stop(); ok || calls.Load() != 0 {
			t.Errorf("stopped: %d calls", calls.Load())
		}
		timer.Reset(time.Second)
		<-time.After(999 * time.Millisecond)
		timer.Reset(time.Second)
		<-time.After(999 * time.Millisecond)
		if calls.Load() != 0 {
			t.Error("too soon")
		}
		<-time.After(2 * time.Millisecond)
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("too late")
		ctx, cancel := WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		child, done := context.WithCancel(ctx)
		defer done()
		<-child.Done()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) || context.Cause(ctx) != cause || context.Cause(child) != cause {
			t.Errorf("%v, %v, %v", ctx.Err(), context.Cause(ctx), context.Cause(child))
		}
		ctx, cancel = WithTimeout(t.Context(), time.Second)
		cancel()
		if ctx.Err() != context.Canceled || context.Cause(ctx) != context.Canceled {
			t.Errorf("%v, %v", ctx.Err(), context.Cause(ctx))
		}
		parent, stop := context.WithCancel(t.Context())
		ctx, cancel = WithTimeout(parent, time.Second)
		defer cancel()
		stop()
		<-time.After(time.Minute)
		if ctx.Err() != context.Canceled {
			t.Errorf("%v", ctx.Err())
		}
	})
}

// A computer that is slow, because it saves power or has much to do, is not
// asleep: a wait there ends, neither early nor twice as late.
func TestFault_F_CLK_05_SlowIsNotAsleep(t *testing.T) {
	for _, late := range []time.Duration{5 * time.Millisecond, 40 * time.Millisecond, 400 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			const limit = 45 * time.Second
			var b bed
			slow := func() time.Time { // each time somebody gets to look, it is a little later than it should be
				b.sleep(late)
				return b.now()
			}
			began, over := time.Now(), make(chan time.Duration, 2)
			timer := after(slow, limit, func() { over <- time.Since(began) })
			defer timer.Stop()
			took := <-over
			if took > limit || took < limit/2 {
				t.Errorf("%v late each time: a wait of %v took %v", late, limit, took)
			}
			<-time.After(time.Hour)
			if len(over) > 0 {
				t.Error("it was over twice")
			}
		})
	}
}
