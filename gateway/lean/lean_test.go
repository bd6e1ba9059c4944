package lean

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnlyAfterWork: once for each piece of work, when it is over, and not
// while something is being done.
func TestOnlyAfterWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var touched, released atomic.Int64
		var idle atomic.Bool
		touched.Store(9000)
		idle.Store(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			Run(ctx, Options{Every: time.Second, Idle: idle.Load, Touched: touched.Load, Release: func() { released.Add(1); touched.Add(100) }})
		}()
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		pass(1500 * time.Millisecond)
		if released.Load() != 0 {
			t.Fatal("in the middle of the start")
		}
		pass(10 * time.Second)
		if released.Load() != 1 {
			t.Fatalf("%d times after the start, want once", released.Load())
		}
		touched.Add(4000)
		idle.Store(false)
		pass(20 * time.Second)
		if released.Load() != 1 {
			t.Fatal("while something was being done")
		}
		idle.Store(true)
		pass(20 * time.Second)
		if released.Load() != 2 {
			t.Fatalf("%d times after the start and one piece of work, want 2", released.Load())
		}
		cancel()
		<-done
	})
}
