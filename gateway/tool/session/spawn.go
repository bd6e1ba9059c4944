package session

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed sessions_spawn.md
var spawnDescription string

//go:embed subagents.md
var subagentsDescription string

// maxTimeout is a day, in seconds.
const maxTimeout = 86_400

type spawnTool struct{ children Children }

func (t *spawnTool) Spec() model.ToolSpec {
	return spec("sessions_spawn", spawnDescription, `{"type":"object","properties":{`+
		`"task":{"type":"string","description":"all that it has to know: it sees nothing of this conversation"},`+
		`"label":{"type":"string","description":"a short name for people"},`+
		`"model":{"type":"string","description":"provider/model; default: as configured"},`+
		`"thinking":{"type":"string","enum":["off","low","medium","high"]},`+
		`"runTimeoutSeconds":{"type":"number"},`+
		`"cleanup":{"type":"string","enum":["keep","delete"],"description":"what becomes of its session, default keep"}},`+
		`"required":["task"],"additionalProperties":false}`)
}

func (t *spawnTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var w SubAgent
	if err := readArgs(call.Args, &w); err != nil {
		return tool.Result{}, err
	}
	switch {
	case strings.TrimSpace(w.Task) == "":
		return tool.Result{}, errors.New("the task is empty; write down all that the sub-agent has to know")
	case len(w.Task) > maxText:
		return tool.Result{}, fmt.Errorf("the task has %d bytes, at most %d are possible; put the rest into a file of the workspace", len(w.Task),
			maxText)
	case !slices.Contains([]string{"", "keep", "delete"}, w.Cleanup):
		return tool.Result{}, errors.New("cleanup can be keep or delete")
	case !slices.Contains([]string{"", "off", "low", "medium", "high"}, w.Thinking):
		return tool.Result{}, errors.New("thinking can be off, low, medium or high")
	}
	w.Label = text.Ellipsis(strings.Join(strings.Fields(w.Label), " "), 60)
	w.TimeoutSeconds = min(max(w.TimeoutSeconds, 0), maxTimeout)
	c, err := t.children.Spawn(ctx, call, w)
	if err != nil {
		return tool.Result{}, err
	}
	out := inJSON(map[string]any{"status": "accepted", "childSessionKey": c.Key, "runId": c.RunID})
	return tool.Result{Text: string(out) + "\n" +
		"It works in the background. Its result comes here as a message by itself; do not ask for it again and again.", Details: out}, nil
}

type subagentsTool struct{ children Children }

func (t *subagentsTool) Spec() model.ToolSpec {
	return spec("subagents", subagentsDescription, `{"type":"object","properties":{`+
		`"action":{"type":"string","enum":["list","kill","steer"],"description":"default list"},`+
		`"target":{"type":"string","description":"kill, steer: a run id, a session key, a label or a number of the list; kill also takes all"},`+
		`"message":{"type":"string","description":"steer: what it should know"}},"additionalProperties":false}`)
}

func (t *subagentsTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var raw struct {
		Action, Message string
		Target          json.RawMessage // a text, or a number of the list
	}
	if err := readArgs(call.Args, &raw); err != nil {
		return tool.Result{}, err
	}
	target := strings.Trim(string(raw.Target), `" `)
	list, err := t.children.Children(ctx, call)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the sub-agents could not be listed: %w", err)
	}
	switch raw.Action {
	case "", "list":
		return listed(list), nil
	case "kill":
		return t.kill(ctx, call, list, target)
	case "steer":
		c, err := pick(list, target)
		switch {
		case err != nil:
			return tool.Result{}, err
		case !c.open():
			return tool.Result{}, fmt.Errorf("%s has ended (%s); start another with sessions_spawn", c.name(), c.Status)
		case strings.TrimSpace(raw.Message) == "" || len(raw.Message) > maxText:
			return tool.Result{}, fmt.Errorf("message must have 1 to %d bytes", maxText)
		}
		if err := t.children.Steer(ctx, call, c, raw.Message); err != nil {
			return tool.Result{}, fmt.Errorf("%s could not be told: %w", c.name(), err)
		}
		return tool.Result{Text: "Told " + c.name() + ". It reads it at its next step.", Details: inJSON(c)}, nil
	}
	return tool.Result{}, errors.New("action can be list, kill or steer")
}

func (t *subagentsTool) kill(ctx context.Context, call tool.Call, list []Child, target string) (tool.Result, error) {
	meant := list
	if target != "all" {
		c, err := pick(list, target)
		if err != nil {
			return tool.Result{}, err
		}
		if !c.open() {
			return tool.Text(c.name() + " has ended already (" + c.Status + ")."), nil
		}
		meant = []Child{c}
	}
	n := 0
	for _, c := range meant {
		if !c.open() {
			continue
		}
		if err := t.children.Kill(ctx, call, c.RunID); err != nil {
			return tool.Result{}, fmt.Errorf("%s could not be stopped: %w", c.name(), err)
		}
		n++
	}
	return tool.Result{Text: fmt.Sprintf("Stopped %d.", n), Details: inJSON(map[string]any{"stopped": n})}, nil
}

func (c Child) open() bool { return c.Status == "queued" || c.Status == "running" }

func (c Child) name() string {
	if c.Label != "" {
		return c.Label
	}
	return c.RunID
}

// pick finds the one that is meant.
func pick(list []Child, target string) (Child, error) {
	if n, err := strconv.Atoi(target); err == nil && n >= 1 && n <= len(list) {
		return list[n-1], nil
	}
	var found []Child
	for _, c := range list {
		switch {
		case target == "":
		case c.RunID == target || c.Key == target:
			return c, nil
		case strings.EqualFold(c.Label, target) || len(target) >= 8 && strings.HasPrefix(c.RunID, target):
			found = append(found, c)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Child{}, fmt.Errorf("this session has no sub-agent called %q; action list shows them", text.Ellipsis(target, 60))
	}
	return Child{}, fmt.Errorf("%d sub-agents are called %q; name one by its run id", len(found), text.Ellipsis(target, 60))
}

func listed(list []Child) tool.Result {
	if len(list) == 0 {
		return tool.Text("This session has no sub-agents.")
	}
	var b strings.Builder
	for i, c := range list {
		fmt.Fprintf(&b, "%d. %s: %s since %s (run %s, session %s)\n", i+1, c.name(), c.Status, c.Since.Format("15:04:05"), c.RunID, c.Key)
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Details: inJSON(map[string]any{"subagents": list})}
}
