package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/model"
)

// script answers the n-th call with the n-th list of steps.
type script struct {
	calls [][]step
	asked []model.Request
}

type step struct {
	ev  model.Event
	err error
}

func (s *script) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		n := len(s.asked)
		s.asked = append(s.asked, req)
		if n >= len(s.calls) {
			n = len(s.calls) - 1
		}
		for _, st := range s.calls[n] {
			if st.err == errHang {
				<-ctx.Done()
				yield(model.Event{}, ctx.Err())
				return
			}
			if !yield(st.ev, st.err) || st.err != nil {
				return
			}
		}
	}
}

var errHang = errors.New("hang")

func text(s string) step { return step{ev: model.Event{Kind: model.EventText, Text: s}} }
func stop(r model.StopReason) step {
	return step{ev: model.Event{Kind: model.EventStop, Stop: r}}
}
func call(id, name, args string) step {
	return step{ev: model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}}}
}
func usage(in, out int) step {
	return step{ev: model.Event{Kind: model.EventUsage, Usage: model.Usage{Input: in, Output: out}}}
}
func fail(c model.Class) step { return step{err: &model.Error{Class: c}} }

// run collects the kinds of a turn's events, its last event and its error.
func run(ctx context.Context, s *script, tool func(context.Context, model.ToolCall) model.ToolResult) (kinds string, last agent.Event,
	err error) {
	turn := agent.Turn{
		Provider: s, Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "hi"}}}}, RunTool: tool,
	}
	names := map[agent.Kind]string{agent.Text: "text", agent.Thinking: "thinking", agent.Retry: "retry", agent.Intent: "intent",
		agent.ToolStart: "start", agent.ToolEnd: "end", agent.Done: "done"}
	var all []string
	for ev, e := range agent.Run(ctx, turn) {
		if e != nil {
			return strings.Join(all, " "), last, e
		}
		all = append(all, names[ev.Kind])
		last = ev
	}
	return strings.Join(all, " "), last, nil
}

func ok(_ context.Context, c model.ToolCall) model.ToolResult {
	return model.ToolResult{CallID: c.ID, Name: c.Name, Text: "fine"}
}

func TestTurns(t *testing.T) {
	tests := []struct {
		name  string
		calls [][]step
		want  string
		class model.Class
		loop  bool
		usage model.Usage
	}{
		{"answer", [][]step{{text("a"), text("b"), usage(3, 2), stop(model.StopEnd)}}, "text text done", "", false,
			model.Usage{Input: 3, Output: 2}},
		{"tool", [][]step{{text("a"), call("1", "x", "{}"), usage(3, 2), stop(model.StopTool)}, {text("b"), usage(5, 1), stop(model.StopEnd)}},
			"text intent start end text done", "", false, model.Usage{Input: 8, Output: 3}},
		{"two tools", [][]step{{call("1", "x", "{}"), call("2", "y", "{}"), stop(model.StopTool)}, {text("b"), stop(model.StopEnd)}},
			"intent start end start end text done", "", false, model.Usage{}},
		{"silent failure is repeated once", [][]step{{fail(model.ClassServer)}, {text("b"), stop(model.StopEnd)}}, "retry text done", "", false,
			model.Usage{}},
		{"and only once", [][]step{{fail(model.ClassServer)}, {fail(model.ClassServer)}}, "retry", model.ClassServer, false, model.Usage{}},
		{"not after words", [][]step{{text("a"), fail(model.ClassInterrupted)}}, "text", model.ClassInterrupted, false, model.Usage{}},
		{"a refused key is final", [][]step{{fail(model.ClassAuth)}}, "", model.ClassAuth, false, model.Usage{}},
		{"the same call for ever", [][]step{{call("1", "x", `{"a":1}`), stop(model.StopTool)}},
			strings.TrimSpace(strings.Repeat("intent start end ", 5)), "", true, model.Usage{}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kinds, last, err := run(t.Context(), &script{calls: tc.calls}, ok)
				if kinds != tc.want {
					t.Errorf("events %q, want %q", kinds, tc.want)
				}
				switch {
				case tc.loop:
					if !errors.Is(err, agent.ErrLoop) {
						t.Errorf("error %v, want ErrLoop", err)
					}
				case tc.class != "":
					if model.ClassOf(err) != tc.class {
						t.Errorf("error %v, want class %s", err, tc.class)
					}
				case err != nil:
					t.Error(err)
				case last.Usage != tc.usage:
					t.Errorf("usage %+v, want %+v", last.Usage, tc.usage)
				}
			})
		})
	}
}

// The second call of a tool turn holds the call and its result.
func TestToolResultGoesBackToTheModel(t *testing.T) {
	s := &script{calls: [][]step{{call("c1", "x", `{"q":1}`), stop(model.StopTool)}, {text("done"), stop(model.StopEnd)}}}
	if _, _, err := run(t.Context(), s, ok); err != nil {
		t.Fatal(err)
	}
	got := s.asked[1].Messages[1:]
	want := []model.Message{
		{Role: model.RoleAssistant,
			Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: "c1", Name: "x", Arguments: json.RawMessage(`{"q":1}`)}}}},
		{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: "c1", Name: "x", Text: "fine"}}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The cause of the context is what a stopped turn ends with, at once.
func TestStopTellsItsCause(t *testing.T) {
	why := errors.New("the person said stop")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		start := time.Now()
		kinds, _, err := run(ctx, &script{calls: [][]step{{text("a"), {err: errHang}}}}, ok)
		if !errors.Is(err, why) || kinds != "text" || time.Since(start) != time.Second {
			t.Errorf("%q, %v after %v", kinds, err, time.Since(start))
		}
	})
}

// A tool does not start when the caller leaves at its intent: whoever could not
// store the intent can still prevent the effect.
func TestLeavingAtTheIntentStopsTheTool(t *testing.T) {
	ran := false
	turn := agent.Turn{
		Provider: &script{calls: [][]step{{call("1", "x", "{}"), stop(model.StopTool)}}},
		RunTool: func(_ context.Context, c model.ToolCall) model.ToolResult {
			ran = true
			return model.ToolResult{}
		},
	}
	for ev := range agent.Run(t.Context(), turn) {
		if ev.Kind == agent.Intent {
			break
		}
	}
	if ran {
		t.Error("the tool ran")
	}
}

func TestAnswersAreCapped(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	s := &script{calls: [][]step{{text(big), text(big), text("never"), stop(model.StopEnd)}}}
	_, last, err := run(t.Context(), s, ok)
	if err != nil || last.Kind != agent.Done || last.Stop != model.StopLength {
		t.Fatalf("%+v %v", last.Stop, err)
	}
	got := last.Message.Blocks[0].Text
	if len(got) > 6<<20 || !strings.Contains(got, "the rest was cut") {
		t.Errorf("the answer has %d bytes", len(got))
	}
}
