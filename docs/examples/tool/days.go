// Package days is the example of docs/add-a-tool.md: the tool days_between, which
// counts the days between two dates. It touches nothing; no program contains it.
package days

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed days_between.md
var description string

// Tool is days_between.
type Tool struct{}

// Spec describes the tool to models.
func (Tool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "days_between", Description: strings.TrimSpace(description),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"from":{"type":"string","description":"a date: 2026-02-27"},` +
			`"to":{"type":"string","description":"a date"}},` +
			`"required":["from","to"],"additionalProperties":false}`),
	}
}

// Run counts. Its errors are read by the model, so they say what to do better.
func (Tool) Run(_ context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ From, To string }
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	from, err := date(in.From)
	if err != nil {
		return tool.Result{}, err
	}
	to, err := date(in.To)
	if err != nil {
		return tool.Result{}, err
	}
	n := int(to.Sub(from).Hours() / 24) // both are midnights of UTC, which has no summer time
	return tool.Text(fmt.Sprintf("%d days from %s to %s.", n, in.From, in.To)), nil
}

func date(s string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, fmt.Errorf("%q is no date: write it as 2026-02-27", s)
	}
	return t, nil
}
