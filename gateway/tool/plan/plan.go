// Package plan holds the tool update_plan, with which a model shows the steps
// of its work. The plan stands in the tool's result and nowhere else.
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed update_plan.md
var description string

const (
	maxSteps = 40
	maxChars = 300 // of a step
	maxWords = 2000
)

// The states of a step.
const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
)

// Step is one line of a plan.
type Step struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// Tool is update_plan.
type Tool struct{}

// Spec describes the tool.
func (Tool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "update_plan", Description: strings.TrimSpace(description),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"plan":{"type":"array","items":{"type":"object","properties":{"step":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["step","status"],"additionalProperties":false}},` +
			`"explanation":{"type":"string","description":"why the plan changed"}},"required":["plan"],"additionalProperties":false}`),
	}
}

// Run checks a plan and hands it to the surfaces.
func (Tool) Run(_ context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Plan        []Step `json:"plan"`
		Explanation string `json:"explanation"`
	}
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	done, err := check(in.Plan)
	if err != nil {
		return tool.Result{}, err
	}
	if utf8.RuneCountInString(in.Explanation) > maxWords {
		return tool.Result{}, fmt.Errorf("the explanation is longer than %d characters", maxWords)
	}
	details, err := json.Marshal(map[string]any{"plan": in.Plan, "explanation": in.Explanation})
	if err != nil {
		return tool.Result{}, fmt.Errorf("show the plan: %w", err)
	}
	return tool.Result{Text: fmt.Sprintf("The plan is shown: %d of %d steps are completed.", done, len(in.Plan)), Details: details}, nil
}

// check refuses what cannot be drawn, and puts each step on one line.
func check(steps []Step) (done int, err error) {
	switch n := len(steps); {
	case n == 0:
		return 0, errors.New("the plan has no steps")
	case n > maxSteps:
		return 0, fmt.Errorf("the plan has %d steps, at most %d can be shown; put several into one", n, maxSteps)
	}
	working := 0
	for i := range steps {
		s := &steps[i]
		s.Step = strings.Join(strings.Fields(s.Step), " ")
		switch {
		case s.Step == "":
			return 0, fmt.Errorf("step %d says nothing", i+1)
		case utf8.RuneCountInString(s.Step) > maxChars:
			return 0, fmt.Errorf("step %d is longer than %d characters", i+1, maxChars)
		}
		switch s.Status {
		case pending:
		case inProgress:
			working++
		case completed:
			done++
		default:
			return 0, fmt.Errorf("step %d has the status %q; it can be pending, in_progress or completed", i+1, s.Status)
		}
	}
	if working > 1 {
		return 0, fmt.Errorf("%d steps are in_progress; at most one can be", working)
	}
	return done, nil
}
