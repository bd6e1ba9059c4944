package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func (a *Agent) update(ctx context.Context, t *turn, u sdk.SessionUpdate) error {
	return a.editor().SessionUpdate(ctx, sdk.SessionNotification{SessionId: t.session, Update: u})
}

// gap is said at the end of a turn of which the editor did not get everything.
const gap = "\n\n[The editor was too slow for some of this. The conversation in Hearth has all of it.]\n\n"

// chat passes words on, and ends the turn.
func (a *Agent) chat(ctx context.Context, t *turn, ev protocol.ChatEvent) (*sdk.PromptResponse, error) {
	if ev.State == protocol.ChatDelta {
		return nil, a.say(ctx, t, t.news(ev))
	}
	if !ends(ev) {
		return nil, nil
	}
	if t.lost.Load() {
		if err := a.say(ctx, t, gap); err != nil {
			return nil, err
		}
		t.told = "" // the whole answer follows, if it is known
	}
	if ev.Message != nil {
		t.pending += rest(t.told, ev.Message.Text())
	}
	reason := sdk.StopReasonEndTurn
	switch ev.State {
	case protocol.ChatAborted:
		reason = sdk.StopReasonCancelled
	case protocol.ChatError:
		if ev.ErrorKind == "refusal" {
			reason = sdk.StopReasonRefusal
		}
		t.pending += "Error: " + ev.ErrorMessage
	}
	return &sdk.PromptResponse{StopReason: reason}, a.flush(ctx, t)
}

// say tells words: at once, or together with those that follow soon.
func (a *Agent) say(ctx context.Context, t *turn, text string) error {
	t.pending += text
	if time.Since(t.sent) < wordsEvery {
		return nil
	}
	return a.flush(ctx, t)
}

// flush tells the words that wait.
func (a *Agent) flush(ctx context.Context, t *turn) error {
	text := t.pending
	if t.pending = ""; text == "" {
		return nil
	}
	t.sent = time.Now()
	return a.update(ctx, t, sdk.UpdateAgentMessageText(text))
}

// news is what a delta adds.
func (t *turn) news(ev protocol.ChatEvent) string {
	text := ev.DeltaText
	if ev.End <= t.said {
		return ""
	}
	if have := t.said - ev.Offset; have > 0 && have < int64(len(text)) {
		text = text[have:]
	}
	t.said = ev.End
	t.told += text
	return text
}

// rest is what of the last message of an answer was not told: the end of a run
// overtakes its last words. Messages are an empty line apart.
func rest(told, message string) string {
	for k := min(len(told), len(message)); k >= 0; k-- {
		before, ok := strings.CutSuffix(told, message[:k])
		if ok && (before == "" || strings.HasSuffix(before, between)) {
			return message[k:]
		}
	}
	if message == "" {
		return ""
	}
	return between + message
}

const between = "\n\n"

// thought passes on what the model thinks, apart from what it says.
func (a *Agent) thought(ctx context.Context, t *turn, data map[string]any) error {
	text, _ := data["delta"].(string)
	if text == "" {
		return nil
	}
	if err := a.flush(ctx, t); err != nil {
		return err
	}
	return a.update(ctx, t, sdk.UpdateAgentThoughtText(text))
}

// tool shows a call of a tool.
func (a *Agent) tool(ctx context.Context, t *turn, data map[string]any) error {
	word := func(name string) string { s, _ := data[name].(string); return s }
	if err := a.flush(ctx, t); err != nil { // what was said before comes before
		return err
	}
	id, name := sdk.ToolCallId(word("toolCallId")), word("name")
	switch word("phase") {
	case "start":
		if name == "update_plan" {
			if err := a.plan(ctx, t, data["args"]); err != nil {
				return err
			}
		}
		return a.begun(ctx, t, id, name, data["args"], sdk.ToolCallStatusInProgress)
	case "result":
		status := sdk.ToolCallStatusCompleted
		if failed, _ := data["isError"].(bool); failed {
			status = sdk.ToolCallStatusFailed
		}
		return a.update(ctx, t, sdk.UpdateToolCall(id, sdk.WithUpdateStatus(status)))
	}
	return nil
}

func kind(name string) sdk.ToolKind {
	switch name {
	case "read":
		return sdk.ToolKindRead
	case "write", "edit", "apply_patch":
		return sdk.ToolKindEdit
	case "exec", "process":
		return sdk.ToolKindExecute
	case "web_fetch":
		return sdk.ToolKindFetch
	case "web_search", "memory_search":
		return sdk.ToolKindSearch
	}
	return sdk.ToolKindOther
}

// permission asks the person at the editor. Whatever is not a clear yes leaves
// the request to others, or to its time.
func (a *Agent) permission(ctx context.Context, t *turn, ap protocol.Approval) {
	options := []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Allow once", OptionId: protocol.DecisionAllowOnce}}
	if slices.Contains(ap.Request.AllowedDecisions, protocol.DecisionAllowAlways) {
		options = append(options, sdk.PermissionOption{Kind: sdk.PermissionOptionKindAllowAlways, Name: "Always allow this",
			OptionId: protocol.DecisionAllowAlways})
	}
	options = append(options, sdk.PermissionOption{Kind: sdk.PermissionOptionKindRejectOnce, Name: "Deny", OptionId: protocol.DecisionDeny})
	shown := append([]string{ap.Request.HearthTitle}, ap.Request.HearthLines...)
	for _, w := range ap.Request.HearthWarn {
		if !slices.Contains(shown, w) {
			shown = append(shown, w)
		}
	}
	for _, s := range ap.Request.HearthScripts {
		rows, more := s.Head(1 << 20)
		shown = append(append(shown, "Text of "+s.Path+":"), rows...)
		if len(rows) == 0 {
			shown = append(shown, s.Why)
		}
		if more > 0 {
			shown = append(shown, fmt.Sprintf("… %d more lines stand in the file itself", more))
		}
	}
	text := strings.Join(shown, "\n")
	res, err := a.editor().RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: t.session, Options: options,
		ToolCall: sdk.ToolCallUpdate{
			ToolCallId: sdk.ToolCallId(ap.Request.ToolCallID), Title: sdk.Ptr(fmt.Sprintf("%s: %s", ap.Request.HearthTitle, ap.Request.Command)),
			Content: []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))},
		},
	})
	if err == nil && res.Outcome.Cancelled != nil { // the person gave the turn up
		a.abort(context.WithoutCancel(ctx), t.session, t.run)
		return
	}
	if err != nil || res.Outcome.Selected == nil {
		return
	}
	decision := string(res.Outcome.Selected.OptionId)
	if !slices.ContainsFunc(options, func(o sdk.PermissionOption) bool { return string(o.OptionId) == decision }) {
		return
	}
	var ok protocol.OKResult
	_ = a.gateway.Call(ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: ap.ID, Decision: decision}, &ok)
}
