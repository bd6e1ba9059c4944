package stopwatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/stopwatch"
)

// Waiting counts once, however many wait, and not at all as time of the call.
func TestTheTimeOfAPersonIsNotTheTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := stopwatch.Start()
		ctx := w.Within(t.Context())
		<-time.After(time.Second)
		one := stopwatch.Hold(ctx)
		<-time.After(time.Minute)
		two := stopwatch.Hold(ctx)
		one()
		one()
		<-time.After(time.Minute)
		if got := w.Ran(); got != time.Second {
			t.Errorf("while somebody is waited for it ran %v", got)
		}
		two()
		<-time.After(2 * time.Second)
		if got := w.Ran(); got != 3*time.Second {
			t.Errorf("it ran %v", got)
		}
		stopwatch.Hold(t.Context())() // belongs to no call
	})
}
