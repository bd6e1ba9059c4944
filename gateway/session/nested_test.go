package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// work answers with one call of the tool, then with words.
func work(_ context.Context, n int, _ model.Request, yield func(model.Event) bool) {
	if n > 0 {
		say(yield, "done")
		return
	}
	yield(model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: "p", Name: "work", Arguments: []byte("{}")}})
	yield(model.Event{Kind: model.EventStop, Stop: model.StopTool})
}

func nested(n int) model.ToolCall {
	return model.ToolCall{ID: fmt.Sprintf("p/%d", n), Name: "read", Arguments: []byte("{}")}
}

// Calls of a program stand in the transcript under it, begun and ended on any
// goroutine; the model is not sent them.
func TestCodeMode_NestedCallsStandInTheTranscript(t *testing.T) {
	const calls = 8
	b := newBench(t, work, func(ctx context.Context) {
		n, ok := NestedCallsOf(ctx)
		if !ok {
			t.Error("a tool without a nest")
			return
		}
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				if err := n.Begin(ctx, "p", "hearth:core:read", nested(i)); err != nil {
					t.Error(err)
				}
				n.Progress("p", nested(i), "…")
				n.End("p", nested(i), model.ToolResult{Text: fmt.Sprint("read ", i), IsError: i == 3}, time.Millisecond)
			})
		}
		all.Wait()
	}, policy(Steer))
	defer b.close()
	b.must("a", "go")
	if out := b.wait("a"); out.Run.State != RunAnswered {
		t.Fatalf("%+v", out)
	}
	h, err := b.History(t.Context(), benchKey, protocol.ChatHistoryParams{})
	if err != nil {
		t.Fatal(err)
	}
	asked, answered := map[string]bool{}, map[string]bool{}
	for _, m := range h.Messages {
		if !m.Nested() {
			continue
		}
		if m.Role == protocol.MessageToolResult {
			answered[m.ToolCallID] = asked[m.ToolCallID] && m.ParentToolCallID == "p"
		} else if c := m.Content[0]; c.ParentID == "p" && c.ToolID == "hearth:core:read" && c.Name == "read" {
			asked[c.ID] = true
		}
	}
	for i := range calls {
		if !answered[nested(i).ID] {
			t.Errorf("%s is missing or out of order: %s", nested(i).ID, b.transcript())
		}
	}
	if got := b.request(1); strings.Contains(got, "p/") || strings.Contains(got, "read") {
		t.Errorf("the model was sent %s", got)
	}
}

// What still runs when the answer is there ends with it, and its end is told.
func TestCodeMode_NestedCallsEndWithTheRun(t *testing.T) {
	ended := make(chan error, 1)
	b := newBench(t, work, func(ctx context.Context) {
		n, _ := NestedCallsOf(ctx)
		if err := n.Begin(ctx, "p", "hearth:core:read", nested(0)); err != nil {
			t.Error(err)
		}
		go func() {
			<-ctx.Done()
			n.End("p", nested(0), model.ToolResult{Text: "stopped", IsError: true}, time.Millisecond)
			ended <- n.Begin(ctx, "p", "hearth:core:read", nested(1))
		}()
	}, policy(Steer))
	defer b.close()
	b.must("a", "go")
	b.wait("a")
	if err := <-ended; err == nil {
		t.Error("a call begins after the end")
	}
	if got := b.transcript(); !strings.Contains(got, "toolResult:stopped") || strings.Contains(got, "p/1") {
		t.Error(got)
	}
}

// A run whose program was put away goes on after a restart; calls that were
// under way are answered as lost and never made again.
func TestCodeMode_ARunWithASuspendedProgramGoesOnAfterARestart(t *testing.T) {
	begun := make(chan struct{})
	second := 0
	b := newBench(t, func(ctx context.Context, n int, req model.Request, yield func(model.Event) bool) {
		if n == 1 {
			close(begun)
			<-ctx.Done()
			return
		}
		work(ctx, n, req, yield)
	}, func(ctx context.Context) {
		n, _ := NestedCallsOf(ctx)
		if err := n.Begin(ctx, "p", "hearth:core:read", nested(0)); err != nil {
			t.Error(err)
		}
	}, policy(Steer))
	b.must("a", "go")
	<-begun
	b.close()

	b.open(func(ctx context.Context, n int, req model.Request, yield func(model.Event) bool) {
		say(yield, "went on")
	}, func(context.Context) { second++ }, policy(Steer))
	defer b.close()
	over := make(chan string, 1)
	b.Suspended = putAway("a")
	b.Observer = heard{over: func(id string) { over <- id }}
	rep, err := b.Recover(t.Context())
	if err != nil || rep.Requeued != 1 {
		t.Fatalf("%+v %v", rep, err)
	}
	if out := b.wait("a"); out.Run.State != RunAnswered || <-over != "a" || second != 0 {
		t.Errorf("%+v, the tool ran %d times", out, second)
	}
	got := b.transcript()
	for _, want := range []string{"user:go", "call p", "toolResult:worked", "call p/0", "toolResult:Unknown", "assistant:went on"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if last := b.request(2); !strings.HasSuffix(last, "tool:result p") {
		t.Errorf("the model was asked with %s", last)
	}
}
