package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/model"
)

// loopOf runs a turn whose n-th round asks for what name and args say, and
// returns how many calls ran and how it ended.
func loopOf(t *testing.T, rounds int, ask func(n int) (name, args string), result func(n int) string) (ran int, err error) {
	t.Helper()
	var s script
	for n := range rounds {
		name, args := ask(n)
		s.calls = append(s.calls, []step{call(fmt.Sprint(n), name, args), stop(model.StopTool)})
	}
	s.calls = append(s.calls, []step{text("done"), stop(model.StopEnd)})
	turn := agent.Turn{Provider: &s, RunTool: func(_ context.Context, c model.ToolCall) model.ToolResult {
		ran++
		return model.ToolResult{CallID: c.ID, Name: c.Name, Text: result(ran)}
	}}
	for _, e := range agent.Run(t.Context(), turn) {
		if e != nil {
			err = e
		}
	}
	return ran, err
}

func TestFault_F_PROV_17_Loops(t *testing.T) {
	same := func(int) string { return "nothing new" }
	news := func(n int) string { return fmt.Sprint("line ", n) }
	fixed := func(name string) func(int) (string, string) {
		return func(int) (string, string) { return name, `{"id":"a"}` }
	}
	for name, c := range map[string]struct {
		rounds int
		ask    func(int) (string, string)
		result func(int) string
		most   int    // calls that run; 0: no loop
		says   string // to the person
	}{
		"the same call": {20, fixed("read"), news, 5, "read in the same way 6 times"},
		"two in turn": {20, func(n int) (string, string) { return []string{"read", "write"}[n%2], "{}" }, news, 11,
			"two steps in turn, 6 times"},
		"one between others":     {24, func(n int) (string, string) { return "exec", fmt.Sprintf(`{"n":%d}`, n%2*n) }, news, 0, ""},
		"a process without news": {20, fixed("process"), same, 6, "looking with process 6 times without news"},
		"waiting ever longer": {20, func(n int) (string, string) { return "process", fmt.Sprintf(`{"timeout":%d}`, n) }, same, 6,
			"without news"},
		"sub-agents without news": {20, fixed("subagents"), same, 6, "looking with subagents"},
		"a process with news":     {20, fixed("process"), news, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ran, err := loopOf(t, c.rounds, c.ask, c.result)
			switch {
			case c.most == 0 && err != nil:
				t.Errorf("stopped after %d calls: %v", ran, err)
			case c.most > 0 && !errors.Is(err, agent.ErrLoop):
				t.Errorf("went on for %d calls, then %v", ran, err)
			case c.most > 0 && (ran > c.most || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%d calls ran, at most %d should; %v", ran, c.most, err)
			}
		})
	}
}

// Work that somebody else steers step by step may take more rounds.
func TestRounds(t *testing.T) {
	for most, want := range map[int]error{0: agent.ErrLoop, 40: nil, 10: agent.ErrLoop} {
		var s script
		for n := range 30 {
			s.calls = append(s.calls, []step{call(fmt.Sprint(n), "look", fmt.Sprintf(`{"n":%d}`, n)), stop(model.StopTool)})
		}
		s.calls = append(s.calls, []step{text("done"), stop(model.StopEnd)})
		var err error
		for _, e := range agent.Run(t.Context(),
			agent.Turn{Provider: &s, Rounds: most, RunTool: func(_ context.Context, c model.ToolCall) model.ToolResult {
				return model.ToolResult{CallID: c.ID, Name: c.Name}
			}}) {
			err = e
		}
		if !errors.Is(err, want) {
			t.Errorf("%d rounds: %v", most, err)
		}
	}
}
