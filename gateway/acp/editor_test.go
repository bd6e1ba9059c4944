package acp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// asking is a gateway whose answer waits for a permission until it is stopped.
type asking struct {
	agent   *Agent
	mu      sync.Mutex
	aborted []protocol.ChatAbortParams
	sending func() // before a message is taken
}

func (f *asking) event(name string, v any) {
	b, _ := json.Marshal(v)
	f.agent.Event(protocol.Event{Event: name, Payload: b})
}

func (f *asking) Call(_ context.Context, _ string, params, _ any) error {
	switch p := params.(type) {
	case protocol.ChatSendParams:
		if f.sending != nil {
			f.sending()
		}
		if !strings.HasSuffix(p.Message, "wait") {
			f.event(protocol.EventChat, protocol.ChatEvent{RunID: p.IdempotencyKey, State: protocol.ChatFinal})
			return nil
		}
		f.event(protocol.EventExecApprovalRequested, protocol.Approval{ID: "a1", Request: protocol.ApprovalRequest{RunID: p.IdempotencyKey,
			ToolCallID: "c1", HearthTitle: "Run date", Command: "date"}})
	case protocol.ChatAbortParams:
		f.mu.Lock()
		f.aborted = append(f.aborted, p)
		f.mu.Unlock()
		f.event(protocol.EventChat, protocol.ChatEvent{RunID: p.RunID, State: protocol.ChatAborted})
	}
	return nil
}

// undecided is an editor whose person closes the question.
type undecided struct {
	sdk.Client
	mu    sync.Mutex
	heard []string
}

func (e *undecided) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := n.Update.ToolCall; c != nil {
		e.heard = append(e.heard, "call "+string(c.ToolCallId)+" "+string(c.Status))
	}
	return nil
}

func (e *undecided) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, "asked "+string(p.ToolCall.ToolCallId))
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

func begin(t *testing.T, f *asking, e sdk.Client) (*sdk.ClientSideConnection, sdk.SessionId) {
	t.Helper()
	c := connect(t, f.agent, f, e)
	s, err := c.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "/work", McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	return c, s.SessionId
}

// A question refers to a call that the editor was told of, and one that is closed
// without an answer ends the turn at once, not when the question's time is over.
func TestEditorsQuestionThatIsClosedEndsTheTurn(t *testing.T) {
	f, e := &asking{agent: New("test")}, &undecided{}
	c, id := begin(t, f, e)
	res, err := c.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("wait")}})
	if err != nil || res.StopReason != sdk.StopReasonCancelled {
		t.Errorf("%+v %v", res, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.Sort(e.heard) // the client of the SDK takes both at once
	if got := strings.Join(e.heard, ", "); got != "asked c1, call c1 pending" {
		t.Error(got)
	}
}

// A cancel that comes while the message is still on its way is the stop reason, as
// the protocol demands, and only after it is known what to stop.
func TestEditorsEarlyCancelIsAStopReason(t *testing.T) {
	sending, cancelled := make(chan struct{}), make(chan struct{})
	f := &asking{agent: New("test"), sending: func() {
		close(sending)
		<-cancelled
	}}
	c, id := begin(t, f, &undecided{})
	go func() {
		<-sending
		_ = c.Cancel(t.Context(), sdk.CancelNotification{SessionId: id})
		close(cancelled)
	}()
	res, err := c.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("wait")}})
	if err != nil || res.StopReason != sdk.StopReasonCancelled {
		t.Errorf("%+v %v", res, err)
	}
}

// The folder that an editor works in is told to the model, kept for lists, and
// has to be a whole path.
func TestEditorsFolder(t *testing.T) {
	agent := New("test")
	f := &talker{agent: agent}
	c := connect(t, agent, f, &counting{})
	ctx := t.Context()
	for _, cwd := range []string{"rel", "", "./x", "/a\nb"} {
		if _, err := c.NewSession(ctx, sdk.NewSessionRequest{Cwd: cwd, McpServers: []sdk.McpServer{}}); err == nil {
			t.Errorf("%q was taken", cwd)
		}
	}
	s, err := c.NewSession(ctx, sdk.NewSessionRequest{Cwd: "/home/me/project/", McpServers: []sdk.McpServer{}})
	if err != nil || len(s.ConfigOptions) != 1 || s.ConfigOptions[0].Select.CurrentValue != "p/a" {
		t.Fatalf("%+v %v", s, err)
	}
	for _, text := range []string{"fix it", "/status"} {
		if _, err := c.Prompt(ctx, sdk.PromptRequest{SessionId: s.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.SetSessionConfigOption(ctx, sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
		SessionId: s.SessionId, ConfigId: modelOption, Value: "p/b"}}); err != nil {
		t.Error(err)
	}
	if got := strings.Join(f.noted(&f.sent), "|"); got != "[Working directory: /home/me/project]\n\nfix it|/status" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(f.noted(&f.patched), "|"); got != string(s.SessionId)+" in /home/me/project|"+string(s.SessionId)+" p/b" {
		t.Errorf("%q", got)
	}
}

// What was put before the person's words is not shown as theirs.
func TestEditorsShowThePersonsWords(t *testing.T) {
	for text, want := range map[string]string{inFolder("/w/p", "fix it"): "fix it", "plain": "plain", "[Working directory: cut": "[Working " +
		"directory: cut"} {
		if got := withoutFolder(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Calls are shown with what they change in files.
func TestEditorsSeeChangesOfFiles(t *testing.T) {
	for name, args := range map[string]string{
		"write": `{"path":"/w/a.txt","content":"new"}`, "edit": `{"path":"/w/a.txt","edits":[{"oldText":"old","newText":"new"}]}`,
	} {
		u := startOf("c", name, json.RawMessage(args), sdk.ToolCallStatusInProgress).ToolCall
		if u == nil || len(u.Content) != 1 || u.Content[0].Diff == nil || u.Content[0].Diff.NewText != "new" || u.Kind != sdk.ToolKindEdit ||
			len(u.Locations) != 1 {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if u := startOf("c", "exec", map[string]any{"command": "ls"}, sdk.ToolCallStatusPending).ToolCall; len(u.Content) != 0 {
		t.Errorf("%+v", u)
	}
}
