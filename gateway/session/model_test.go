package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// TestLaneModel holds a lane against a small reference under random messages of
// all modes, tool boundaries, stops, edits, restarts and crashes. The reference
// is the list of accepted messages that have not ended; what must hold:
//
//   - the lane's active run, those it answers too and its queue are that list,
//     in its order, at every quiet moment;
//   - every accepted message gets exactly one terminal event, and answers come
//     in the order of acceptance;
//   - a message counts as answered only if a model was given its words;
//   - at most one model call or tool runs at a time, and none after Close;
//   - no tool runs again for a message after a crash.
func TestLaneModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := script{
			debounce: time.Duration(rapid.SampledFrom([]int{0, 500}).Draw(rt, "debounce")) * time.Millisecond,
			most:     rapid.IntRange(2, 6).Draw(rt, "cap"),
			drop:     rapid.SampledFrom([]Drop{DropOld, DropNew, DropSummarize}).Draw(rt, "drop"),
			ops:      rapid.SliceOfN(rapid.Custom(drawOp), 1, 40).Draw(rt, "ops"),
		}
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = s.play(t) })
		if len(wrong) > 0 {
			rt.Fatal(strings.Join(wrong, "\n"))
		}
	})
}

// script is one run of the model test. It is drawn before it is played,
// because drawing does not work within a bubble of fake time.
type script struct {
	debounce time.Duration
	most     int
	drop     Drop
	ops      []op
}

type op struct {
	Do    string
	Mode  Mode
	Route string
	N     int
}

func drawOp(rt *rapid.T) op {
	o := op{
		Do: rapid.SampledFrom([]string{"submit", "submit", "submit", "step", "step", "step", "stop", "edit", "time", "restart", "crash"}).Draw(rt,
			"do"),
		N: rapid.IntRange(0, 99).Draw(rt, "n"),
	}
	if o.Do == "submit" {
		o.Mode, o.Route = rapid.SampledFrom(Modes()).Draw(rt, "mode"), rapid.SampledFrom([]string{"", "", "tg:1"}).Draw(rt, "route")
	}
	return o
}

// play runs a script and returns what went wrong.
func (s script) play(t *testing.T) []string {
	w := newWorld(t, s)
	do := map[string]func(op){
		"submit": w.submit, "step": w.step, "stop": w.stop, "edit": w.edit, "time": w.time, "restart": w.restart, "crash": w.crash,
	}
	for i, o := range s.ops {
		do[o.Do](o)
		if w.check(); len(w.wrong) > 0 {
			w.errorf("after step %d, %+v", i, o)
			break
		}
	}
	w.drain()
	w.shut()
	return w.wrong
}

// Scripts that once went wrong, or that chance seldom finds.
func TestLaneScripts(t *testing.T) {
	send := func(m Mode) op { return op{Do: "submit", Mode: m, N: 1} }
	answer, words, tools := op{Do: "step", N: 0}, op{Do: "step", N: 2}, op{Do: "step", N: 3}
	late, crash, restart, stop := op{Do: "time", N: 99}, op{Do: "crash"}, op{Do: "restart"}, op{Do: "stop", N: 0}
	for name, ops := range map[string][]op{
		"collected, then a tool, then a crash": {send(Followup), send(Collect), send(Collect), answer, late, tools, crash, tools},
		"collected, then words, then a crash":  {send(Followup), send(Collect), send(Collect), answer, late, words, late, words, crash, words},
		"steered, then a tool, then a crash":   {send(Steer), tools, send(Steer), send(Steer), answer, late, tools, crash, tools},
		"steered, then a restart":              {send(Steer), tools, send(Steer), answer, late, restart, answer},
		"steered while it is being stopped":    {send(Steer), tools, send(Steer), answer, stop, send(Steer)},
		"interrupted while it collects":        {send(Followup), send(Collect), answer, send(Interrupt), late},
		"stopped while it collects":            {send(Followup), send(Collect), send(Collect), answer, stop, late},
		"words, a tool, a crash":               {send(Followup), words, late, words, tools, crash},
		"three crashes":                        {send(Collect), send(Collect), crash, crash, crash, crash},
	} {
		t.Run(name, func(t *testing.T) {
			for _, debounce := range []time.Duration{0, 500 * time.Millisecond} {
				s := script{debounce: debounce, most: 6, drop: DropSummarize, ops: ops}
				synctest.Test(t, func(t *testing.T) {
					for _, wrong := range s.play(t) {
						t.Errorf("debounce %v: %s", debounce, wrong)
					}
				})
			}
		})
	}
}

// A run that is stopped while it takes the words that steer it leaves them
// waiting: they are answered next.
func TestFault_F_WS_11_SteerIsNotLostByAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
			if n == 0 {
				callWork(yield, 1)
				return
			}
			say(yield, "about "+lastUser(req))
		}, func(context.Context) { <-done }, policy(Steer))
		defer b.close()
		b.must("a", "first")
		synctest.Wait()
		b.must("b", "second")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		l := b.laneOf(benchKey)
		if words, err := (steering{b.Manager, l, l.active}).Take(ctx); err == nil {
			t.Fatalf("took %v although it is being stopped", words)
		}
		if s := l.snapshot(); !slices.Equal(s.queued, []string{"b"}) {
			t.Errorf("waiting: %v", s.queued)
		}
		if _, err := b.Abort(t.Context(), benchKey, "a"); err != nil {
			t.Fatal(err)
		}
		close(done)
		if o := b.wait("a"); o.Run.State != RunAborted {
			t.Errorf("the stopped run: %+v", o.Run)
		}
		if o := b.wait("b"); o.Run.State != RunAnswered || o.Message.Text() != "about second" {
			t.Errorf("the one behind it: %+v", o.Run)
		}
		b.oneEndEach("a", "b")
	})
}

// A run that is stopped before it has begun counts as stopped, not as failed.
func TestStoppedWhileItCollects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		b := newBench(t, func(_ context.Context, n int, _ model.Request, yield func(model.Event) bool) {
			if n == 0 {
				<-gate
			}
			say(yield, "ok")
		}, nil, policy(Collect))
		defer b.close()
		b.must("a", "first")
		synctest.Wait()
		b.must("b", "second")
		close(gate)
		synctest.Wait() // b is active and waits for more
		if _, err := b.Abort(t.Context(), benchKey, "b"); err != nil {
			t.Fatal(err)
		}
		if o := b.wait("b"); o.Run.State != RunAborted || o.Run.ErrorText != "" {
			t.Errorf("stopped: %+v", o.Run)
		}
	})
}
