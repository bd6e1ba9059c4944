package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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
		event(protocol.EventAgent, protocol.AgentEvent{RunID: p.IdempotencyKey, Stream: "tool",
			Data: map[string]any{"phase": "start", "name": "exec", "toolCallId": "c1"}})
		event(protocol.EventExecApprovalRequested, protocol.Approval{ID: "a1", Request: protocol.ApprovalRequest{RunID: p.IdempotencyKey,
			ToolCallID: "c1", HearthTitle: "Run date"}})
		event(protocol.EventExecApprovalRequested, protocol.Approval{ID: "other", Request: protocol.ApprovalRequest{RunID: "another run"}})
		go func() {
			r := <-f.resolved
			f.resolved <- r
			event(protocol.EventChat, protocol.ChatEvent{RunID: p.IdempotencyKey, State: protocol.ChatDelta, DeltaText: "o there", Offset: 4,
				End: 11})
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

// slow is a gateway that says more than an editor which does not read has room
// for, and then ends.
type slow struct{ agent *Agent }

func (s *slow) Call(_ context.Context, _ string, params, _ any) error {
	p, ok := params.(protocol.ChatSendParams)
	if !ok {
		return nil
	}
	event := func(ev protocol.ChatEvent) {
		ev.RunID = p.IdempotencyKey
		b, _ := json.Marshal(ev)
		s.agent.Event(protocol.Event{Event: protocol.EventChat, Payload: b})
	}
	for i := range int64(queued + 100) {
		event(protocol.ChatEvent{State: protocol.ChatDelta, DeltaText: "x", Offset: i, End: i + 1})
	}
	event(protocol.ChatEvent{State: protocol.ChatFinal, Message: &protocol.Message{Role: protocol.MessageAssistant,
		Content: protocol.TextBlocks("the whole")}})
	return nil
}

// An editor that is too slow for the words still hears that the turn is over,
// that something is missing, and the whole answer.
func TestFault_F_NODE_08_SlowEditorHearsTheEnd(t *testing.T) {
	agent := New("test")
	in, out := pipes(t, agent, &slow{agent})
	answers := json.NewDecoder(out)
	ask := func(id int, method, params string) (result, text string) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		for {
			var m struct {
				ID     int
				Result json.RawMessage
				Params struct {
					Update struct{ Content struct{ Text string } }
				}
			}
			if err := answers.Decode(&m); err != nil {
				t.Fatal(err)
			}
			if m.ID == id {
				return string(m.Result), text
			}
			text += m.Params.Update.Content.Text
		}
	}
	result, _ := ask(1, sdk.AgentMethodSessionNew, `{"cwd":"/","mcpServers":[]}`)
	var s sdk.NewSessionResponse
	if err := json.Unmarshal([]byte(result), &s); err != nil {
		t.Fatal(err)
	}
	result, text := ask(2, sdk.AgentMethodSessionPrompt, fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"hi"}]}`, s.SessionId))
	if !strings.Contains(result, string(sdk.StopReasonEndTurn)) {
		t.Error(result)
	}
	if n := strings.IndexByte(text, '\n'); n != queued || !strings.Contains(text, "too slow") || !strings.HasSuffix(text, "the whole") {
		t.Errorf("%d, %q", n, text[max(0, len(text)-200):])
	}
}

// A client of the SDK holds a session: words as they come, a tool call, a
// question that only its own run's asks.
func TestEditorHoldsASession(t *testing.T) {
	ctx, agent := t.Context(), New("test")
	f := &fake{agent: agent, resolved: make(chan protocol.ApprovalResolveParams, 4)}
	e := &editor{}
	c := connect(t, agent, f, e)
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

// connect runs an agent with a client of the SDK at its other end.
func connect(t *testing.T, agent *Agent, g Gateway, e sdk.Client) *sdk.ClientSideConnection {
	t.Helper()
	in, out := pipes(t, agent, g)
	return sdk.NewClientSideConnection(e, in, out)
}

// pipes runs an agent.
func pipes(t *testing.T, agent *Agent, g Gateway) (in io.Writer, out io.Reader) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = agent.Run(ctx, g, inR, outW)
	}()
	t.Cleanup(func() {
		cancel()
		_, _ = inW.Close(), outW.Close()
		<-ran
	})
	return inW, outR
}
