package power

import (
	"context"
	"testing"
	"time"
)

func TestFault_F_CLK_03_AGapOfTheClockIsSleep(t *testing.T) {
	at := time.Date(2026, 3, 4, 2, 10, 0, 0, time.UTC)
	clock, tick := make(chan time.Time, 1), make(chan time.Time)
	type nap struct{ from, to time.Time }
	naps := make(chan nap, 4)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	clock <- at
	go func() {
		gaps(ctx, func() time.Time { return <-clock }, tick, func(from, to time.Time) { naps <- nap{from, to} })
		close(done)
	}()
	for _, gone := range []time.Duration{every, every + 10*time.Second, 5*time.Hour + 20*time.Minute, every, -time.Hour} {
		at = at.Add(gone)
		tick <- at
		clock <- at
	}
	cancel()
	<-done
	if len(naps) != 1 {
		t.Fatalf("%d times of sleep", len(naps))
	}
	if n := <-naps; n.to.Sub(n.from) != 5*time.Hour+20*time.Minute {
		t.Errorf("%+v", n)
	}
}
