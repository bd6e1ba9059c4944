package acp

import (
	"context"
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// begun tells the editor of a call once, before anything that refers to it.
func (a *Agent) begun(ctx context.Context, t *turn, id sdk.ToolCallId, name string, args any, status sdk.ToolCallStatus) error {
	t.mu.Lock()
	known := t.calls[id]
	t.calls[id] = true
	t.mu.Unlock()
	if known {
		return a.update(ctx, t, sdk.UpdateToolCall(id, sdk.WithUpdateStatus(status)))
	}
	return a.update(ctx, t, startOf(id, name, args, status))
}

// startOf is a call as editors show it, with what it changes in files.
func startOf(id sdk.ToolCallId, name string, args any, status sdk.ToolCallStatus) sdk.SessionUpdate {
	opts := []sdk.ToolCallStartOpt{sdk.WithStartKind(kind(name)), sdk.WithStartStatus(status), sdk.WithStartRawInput(args)}
	in := argumentsOf(args)
	if in.Path != "" {
		opts = append(opts, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: in.Path}}))
	}
	if diffs := in.diffs(name); len(diffs) > 0 {
		opts = append(opts, sdk.WithStartContent(diffs))
	}
	return sdk.StartToolCall(id, name, opts...)
}

// arguments are those of the tools for files.
type arguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Edits   []struct {
		Old string `json:"oldText"`
		New string `json:"newText"`
	} `json:"edits"`
}

func argumentsOf(args any) (in arguments) {
	raw, err := json.Marshal(args)
	if err == nil {
		_ = json.Unmarshal(raw, &in) // other tools have others
	}
	return in
}

func (in arguments) diffs(name string) (out []sdk.ToolCallContent) {
	switch {
	case in.Path == "":
	case name == "write":
		out = append(out, sdk.ToolDiffContent(in.Path, in.Content))
	case name == "edit":
		for _, e := range in.Edits {
			out = append(out, sdk.ToolDiffContent(in.Path, e.New, e.Old))
		}
	}
	return out
}

// plan shows the steps of update_plan.
func (a *Agent) plan(ctx context.Context, t *turn, args any) error {
	var in struct {
		Plan []struct{ Step, Status string } `json:"plan"`
	}
	raw, err := json.Marshal(args)
	if err != nil || json.Unmarshal(raw, &in) != nil || len(in.Plan) == 0 {
		return nil
	}
	var entries []sdk.PlanEntry
	for _, s := range in.Plan {
		entries = append(entries, sdk.PlanEntry{Content: s.Step, Status: sdk.PlanEntryStatus(s.Status), Priority: sdk.PlanEntryPriorityMedium})
	}
	return a.update(ctx, t, sdk.UpdatePlan(entries...))
}

// resultOf is the end of a call of a loaded session.
func resultOf(m *protocol.Message) sdk.SessionUpdate {
	status := sdk.ToolCallStatusCompleted
	if m.IsError {
		status = sdk.ToolCallStatusFailed
	}
	return sdk.UpdateToolCall(sdk.ToolCallId(m.ToolCallID), sdk.WithUpdateStatus(status))
}

// thoughtsOf are what the model thought before a message of a loaded session.
func thoughtsOf(m *protocol.Message) (out []sdk.SessionUpdate) {
	for _, b := range m.Content {
		if b.Type == protocol.BlockThinking && b.Thinking != "" {
			out = append(out, sdk.UpdateAgentThoughtText(b.Thinking))
		}
	}
	return out
}

// callsOf are the calls of a message of a loaded session.
func callsOf(m *protocol.Message, began map[string]bool) (out []sdk.SessionUpdate) {
	for _, b := range m.Content {
		if b.Type == protocol.BlockToolCall {
			began[b.ID] = true
			out = append(out, startOf(sdk.ToolCallId(b.ID), b.Name, b.Arguments, sdk.ToolCallStatusPending))
		}
	}
	return out
}
