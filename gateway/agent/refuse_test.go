package agent_test

import (
	"context"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/model"
)

// F-PROV-16: a call that cannot be run is never run; the model is told, and one
// that keeps on is stopped. The conversation stays one that services accept.
func TestFault_F_PROV_16_calls_that_cannot_be_run(t *testing.T) {
	bad := step{ev: model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: "c", Name: "x", Arguments: []byte("{}"),
		Problem: "not JSON"}}}
	ran := 0
	run := func(s *script) (results int, last error) {
		turn := agent.Turn{Provider: s, RunTool: func(_ context.Context, c model.ToolCall) model.ToolResult {
			ran++
			return model.ToolResult{CallID: c.ID, Name: c.Name}
		}}
		for ev, err := range agent.Run(t.Context(), turn) {
			if err != nil {
				last = err
			}
			if ev.Kind == agent.ToolEnd && ev.Result.IsError && ev.Result.Text == "not JSON" {
				results++
			}
		}
		return results, last
	}
	if n, err := run(&script{calls: [][]step{{bad, stop(model.StopTool)}, {bad, call("d", "x", `{}`), stop(model.StopTool)},
		{text("done"), stop(model.StopEnd)}}}); n != 2 || err != nil || ran != 1 {
		t.Errorf("%d results, ran %d, %v", n, ran, err)
	}
	ran = 0
	s := &script{calls: [][]step{{bad, stop(model.StopTool)}}}
	if n, err := run(s); n != 3 || model.ClassOf(err) != model.ClassMalformed || ran != 0 || len(s.asked) != 4 {
		t.Errorf("%d results, ran %d, asked %d times, %v", n, ran, len(s.asked), err)
	}
}

// A model may call a tool although it was offered none.
func TestACallWithoutToolsIsRefused(t *testing.T) {
	s := &script{calls: [][]step{{text("Let me look. "), call("1", "x", "{}"), stop(model.StopTool)}, {text("done"), stop(model.StopEnd)}}}
	kinds, _, err := run(t.Context(), s, nil)
	if kinds != "text intent end text done" || err != nil {
		t.Errorf("events %q, %v", kinds, err)
	}
}
