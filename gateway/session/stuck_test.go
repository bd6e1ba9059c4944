package session

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// A tool or a model that hangs, also one that does not listen to a stop, keeps its
// conversation no longer than a stop takes; the next message is answered.
func TestFault_F_LIFE_06_AHangingStepLetsTheLaneGo(t *testing.T) {
	for name, c := range map[string]struct {
		tool  func(ctx context.Context, forever chan struct{})
		model bool
		limit time.Duration
	}{
		"a tool that hears the stop": {tool: func(ctx context.Context, _ chan struct{}) { <-ctx.Done() }, limit: time.Second},
		"a tool that takes its time": {tool: func(ctx context.Context, _ chan struct{}) { <-ctx.Done(); <-time.After(3 * time.Second) },
			limit: 4 * time.Second},
		"a tool that does not hear the stop": {tool: func(_ context.Context, forever chan struct{}) { <-forever }, limit: 11 * time.Second},
		"a model that says nothing":          {model: true, limit: time.Second},
	} {
		for _, how := range []string{"stopped", "out of time"} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					forever := make(chan struct{})
					hangs := func(ctx context.Context, n int, _ model.Request, yield func(model.Event) bool) {
						switch {
						case n > 0:
							say(yield, "here I am")
						case c.model:
							<-ctx.Done()
						default:
							callWork(yield, 1)
						}
					}
					b := newBench(t, hangs, func(ctx context.Context) { c.tool(ctx, forever) }, policy(Followup))
					defer b.close()
					defer close(forever)
					turn := Turn{RunID: "stuck", SessionKey: benchKey, Text: "hang"}
					if how == "out of time" {
						turn.TimeoutMs = 60_000
					}
					if _, err := b.Submit(t.Context(), turn); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					b.must("next", "are you there?")
					began := time.Now()
					if how == "stopped" {
						if _, err := b.Abort(t.Context(), benchKey, "stuck"); err != nil {
							t.Fatal(err)
						}
					} else {
						began = began.Add(time.Minute)
					}
					if out := b.wait("next"); out.Run.State != RunAnswered {
						t.Errorf("the next message: %+v", out)
					}
					if took := time.Since(began); took > c.limit {
						t.Errorf("the conversation was let go after %v", took)
					}
				})
			})
		}
	}
}

// Sixteen long answers do not keep a new conversation waiting, and neither do ten
// messages of one conversation: each has its turn.
func TestFault_F_LIFE_07_BusySessionsStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := func(ctx context.Context, _ int, req model.Request, yield func(model.Event) bool) {
			if lastUser(req) == "long" {
				select {
				case <-time.After(time.Hour):
				case <-ctx.Done():
					return
				}
			}
			say(yield, "done")
		}
		b := newBench(t, long, nil, policy(Followup))
		defer b.close()
		send := func(key, id, text string) {
			if _, err := b.Submit(t.Context(), Turn{RunID: id, SessionKey: key, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 16 {
			send(fmt.Sprintf("agent:main:chat:busy%d", i), fmt.Sprint("busy", i), "long")
		}
		for i := range 10 {
			send("agent:main:chat:busy0", fmt.Sprint("behind", i), "long")
		}
		synctest.Wait()
		began := time.Now()
		send(benchKey, "mine", "quick")
		b.wait("mine")
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("a new chat waited %v", took)
		}
	})
}
