package watchdog

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A part that does not move any more is noticed after a minute, with what every
// goroutine does, and given up after three; others are asked on, and one that is
// only slow is left alone.
func TestFault_F_CRASH_23_WhoDoesNotMoveIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		lock := make(chan struct{})
		began := time.Now()
		stuckAt, gaveUpAt, asked := map[string]time.Duration{}, map[string]time.Duration{}, map[string]int{}
		var dump []byte
		part := func(name string, ask func()) Part {
			return Part{name, func() {
				mu.Lock()
				asked[name]++
				mu.Unlock()
				ask()
			}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Run(ctx, Options{
				Parts: []Part{
					part("a lock that nobody gives back", func() { <-lock }),
					part("slow", func() { <-time.After(50 * time.Second) }),
					part("quick", func() {}),
				},
				Stuck: func(name string, stacks []byte) {
					mu.Lock()
					defer mu.Unlock()
					if _, again := stuckAt[name]; again {
						t.Errorf("%s is told twice", name)
					}
					stuckAt[name], dump = time.Since(began), stacks
				},
				GiveUp: func(name string) {
					mu.Lock()
					defer mu.Unlock()
					gaveUpAt[name] = time.Since(began)
				},
			})
		}()
		<-time.After(10 * time.Minute)
		mu.Lock()
		if at := stuckAt["a lock that nobody gives back"]; len(stuckAt) != 1 || at < stuck || at > stuck+2*every {
			t.Errorf("noticed: %v", stuckAt)
		}
		if at := gaveUpAt["a lock that nobody gives back"]; len(gaveUpAt) != 1 || at < giveUp || at > giveUp+2*every {
			t.Errorf("given up: %v", gaveUpAt)
		}
		if !bytes.Contains(dump, []byte("goroutine ")) || !bytes.Contains(dump, []byte("TestFault_F_CRASH_23")) {
			t.Errorf("the stacks say %.200s", dump)
		}
		if asked["quick"] < 15 || asked["slow"] < 5 || asked["a lock that nobody gives back"] != 1 {
			t.Errorf("asked %v", asked)
		}
		mu.Unlock()
		cancel()
		<-done
		close(lock)
		<-time.After(time.Minute)
	})
}
