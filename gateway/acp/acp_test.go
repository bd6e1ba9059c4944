package acp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

var (
	_ sdk.Agent       = (*Agent)(nil)
	_ sdk.AgentLoader = (*Agent)(nil)
)

// fake is a gateway that answers each message with a tool call that asks.
type fake struct {
	agent    *Agent
	resolved chan protocol.ApprovalResolveParams
}

func (f *fake) Call(_ context.Context, method string, params, _ any) error {
	event := func(name string, v any) {
		b, _ := json.Marshal(v)
		f.agent.Event(protocol.Event{Event: name, Payload: b})
	}
	switch p := params.(type) {
	case protocol.ChatSendParams:
		event(protocol.EventChat, protocol.ChatEvent{RunID: p.IdempotencyKey, State: protocol.ChatDelta, DeltaText: "Hello ", End: 6})
		event(protocol.EventAgent, protocol.AgentEvent{RunID: p.IdempotencyKey, Stream: "tool", Data: map[string]any{"phase": "start", "name": "exec", "toolCallId": "c1"}})
		event(protocol.EventExecApprovalRequested, protocol.Approval{ID: "a1", Request: protocol.ApprovalRequest{RunID: p.IdempotencyKey, ToolCallID: "c1", HearthTitle: "Run date"}})
		event(protocol.EventExecApprovalRequested, protocol.Approval{ID: "other", Request: protocol.ApprovalRequest{RunID: "another run"}})
		go func() {
			r := <-f.resolved
			f.resolved <- r
			event(protocol.EventChat, protocol.ChatEvent{RunID: p.IdempotencyKey, State: protocol.ChatDelta, DeltaText: "o there", Offset: 4, End: 11})
			event(protocol.EventChat, protocol.ChatEvent{RunID: p.IdempotencyKey, State: protocol.ChatFinal})
		}()
	case protocol.ApprovalResolveParams:
		f.resolved <- p
	}
	return nil
}

// editor is a client of the SDK.
type editor struct {
	sdk.Client
	mu    sync.Mutex
	text  string
	tools int
	asked int
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := n.Update.AgentMessageChunk; c != nil && c.Content.Text != nil {
		e.text += c.Content.Text.Text
	}
	if n.Update.ToolCall != nil {
		e.tools++
	}
	return nil
}

func (e *editor) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(p.Options[0].OptionId)}, nil
}

// A client of the SDK holds a session: words as they come, a tool call, a
// question that only its own run's asks.
func TestEditorHoldsASession(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	agent := New("test")
	f := &fake{agent: agent, resolved: make(chan protocol.ApprovalResolveParams, 4)}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = agent.Run(ctx, f, inR, outW)
	}()
	defer func() {
		cancel()
		_, _ = inW.Close(), outW.Close()
		<-ran
	}()
	e := &editor{}
	c := sdk.NewClientSideConnection(e, inW, outR)
	if _, err := c.Initialize(ctx, sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber}); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession(ctx, sdk.NewSessionRequest{Cwd: t.TempDir(), McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Prompt(ctx, sdk.PromptRequest{SessionId: s.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock("hi")}})
	if err != nil || res.StopReason != sdk.StopReasonEndTurn {
		t.Fatalf("%+v %v", res, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text != "Hello there" || e.tools != 1 || e.asked != 1 {
		t.Errorf("%q, %d tools, asked %d times", e.text, e.tools, e.asked)
	}
	if r := <-f.resolved; r.ID != "a1" || r.Decision != protocol.DecisionAllowOnce {
		t.Errorf("%+v", r)
	}
	for _, p := range [][]sdk.ContentBlock{{}, {sdk.TextBlock("  ")}, {sdk.ImageBlock("aGk=", "image/png")}} {
		if _, err := c.Prompt(ctx, sdk.PromptRequest{SessionId: s.SessionId, Prompt: p}); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
	if _, err := c.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: "main", Cwd: t.TempDir(), McpServers: []sdk.McpServer{}}); err == nil {
		t.Error("a session that is no editor's was loaded")
	}
}
