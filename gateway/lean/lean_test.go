package lean

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnlyAfterWork: once for each piece of work, when it is over, and not
// while something is being done.
func TestOnlyAfterWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		touched, idle, released := int64(9000), true, 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			Run(ctx, Options{Every: time.Second, Idle: func() bool { return idle }, Touched: func() int64 { return touched }, Release: func() { released++; touched += 100 }})
		}()
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		pass(1500 * time.Millisecond)
		if released != 0 {
			t.Fatal("in the middle of the start")
		}
		pass(10 * time.Second)
		if released != 1 {
			t.Fatalf("%d times after the start, want once", released)
		}
		touched, idle = touched+4000, false
		pass(20 * time.Second)
		if released != 1 {
			t.Fatal("while something was being done")
		}
		idle = true
		pass(20 * time.Second)
		if released != 2 {
			t.Fatalf("%d times after the start and one piece of work, want 2", released)
		}
		cancel()
		<-done
	})
}
