package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// talker answers with many small pieces, and knows a few sessions.
type talker struct {
	agent  *Agent
	pieces int

	mu      sync.Mutex
	patched []string
	sent    []string
	calls   []string
}

// noted is what it heard so far: the commands are asked for beside the test.
func (f *talker) noted(of *[]string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(*of)
}

func (f *talker) Call(_ context.Context, method string, params, result any) error {
	f.mu.Lock()
	f.calls = append(f.calls, method)
	f.mu.Unlock()
	switch p := params.(type) {
	case protocol.ChatSendParams:
		f.mu.Lock()
		f.sent = append(f.sent, p.Message)
		f.mu.Unlock()
		event := func(ev protocol.ChatEvent) {
			ev.RunID = p.IdempotencyKey
			b, _ := json.Marshal(ev)
			f.agent.Event(protocol.Event{Event: protocol.EventChat, Payload: b})
		}
		for i := range int64(f.pieces) {
			event(protocol.ChatEvent{State: protocol.ChatDelta, DeltaText: "x", Offset: i, End: i + 1})
		}
		event(protocol.ChatEvent{State: protocol.ChatFinal, Message: &protocol.Message{Role: protocol.MessageAssistant,
			Content: protocol.TextBlocks(strings.Repeat("x", f.pieces))}})
	case protocol.SessionsPatchParams:
		f.mu.Lock()
		defer f.mu.Unlock()
		if p.Model.Value != nil {
			f.patched = append(f.patched, p.Key+" "+*p.Model.Value)
		}
		if p.Folder.Value != nil {
			f.patched = append(f.patched, p.Key+" in "+*p.Folder.Value)
		}
	}
	switch r := result.(type) {
	case *protocol.ModelsList:
		r.Models = []protocol.ModelInfo{{ID: "a", Provider: "p", Name: "A", Available: true, Tags: []string{"default"}},
			{ID: "b", Provider: "p", Name: "B", Available: true}, {ID: "c", Provider: "p", Name: "C"}}
	case *protocol.SessionsList:
		r.Sessions = []protocol.SessionRow{
			{Key: "agent:main:main", DerivedTitle: "private"}, {Key: "agent:main:acp-one", DerivedTitle: "Fix it", UpdatedAt: 1000},
			{Key: "agent:main:acp-two", Label: "Mine", DerivedTitle: "not this"}, {Key: "agent:main:telegram:acp-three"}, {Key: "acp-four"},
		}
	case *protocol.SessionsDescribeResult:
		if p := params.(protocol.SessionKeyParams); p.Key != "acp-none" {
			r.Session = &protocol.SessionRow{Key: "agent:main:acp-one", ModelProvider: "p", Model: "b"}
		}
	case *protocol.ChatHistory:
		r.Messages = []protocol.Message{{Role: protocol.MessageUser, Content: protocol.TextBlocks("fix it")},
			{Role: protocol.MessageToolResult, Content: protocol.TextBlocks("secret words of a tool")},
			{Role: protocol.MessageAssistant, Content: protocol.TextBlocks("done")}}
	}
	return nil
}

// counting is an editor that counts what it gets.
type counting struct {
	sdk.Client
	mu      sync.Mutex
	updates int
	text    string
}

func (e *counting) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates++
	for _, c := range []*sdk.SessionUpdateAgentMessageChunk{n.Update.AgentMessageChunk} {
		if c != nil && c.Content.Text != nil {
			e.text += c.Content.Text.Text
		}
	}
	if c := n.Update.UserMessageChunk; c != nil && c.Content.Text != nil {
		e.text += "[" + c.Content.Text.Text + "]"
	}
	return nil
}

func (e *counting) got() (int, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.updates, e.text
}

// Words come together in few messages: an editor hangs up when a thousand wait.
func TestFault_F_NODE_08_WordsComeTogether(t *testing.T) {
	agent := New("test")
	f := &talker{agent: agent, pieces: 3000}
	e := &counting{}
	c := connect(t, agent, f, e)
	s, err := c.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "/", McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Prompt(t.Context(), sdk.PromptRequest{SessionId: s.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock("hi")}})
	n, text := e.got()
	if err != nil || res.StopReason != sdk.StopReasonEndTurn || text != strings.Repeat("x", 3000) || n > 300 {
		t.Errorf("%d messages with %d letters, %+v %v", n, len(text), res, err)
	}
}

func TestEditorsSessions(t *testing.T) {
	agent := New("test")
	f := &talker{agent: agent}
	e := &counting{}
	c := connect(t, agent, f, e)
	ctx := t.Context()
	hello, err := c.Initialize(ctx, sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber})
	if sc := hello.AgentCapabilities.SessionCapabilities; err != nil || sc.List == nil || sc.Resume == nil || sc.Close == nil {
		t.Errorf("%+v %v", hello, err)
	}
	list, err := c.ListSessions(ctx, sdk.ListSessionsRequest{Cwd: sdk.Ptr("/work")})
	if got := fmt.Sprint(len(list.Sessions)); err != nil || got != "2" || list.Sessions[0].SessionId != "acp-one" ||
		*list.Sessions[0].Title != "Fix it" || *list.Sessions[1].Title != "Mine" || list.Sessions[0].Cwd != "/work" {
		t.Errorf("%+v %v", list, err)
	}
	loaded, err := c.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: "acp-one", Cwd: "/", McpServers: []sdk.McpServer{}})
	if _, text := e.got(); err != nil || text != "[fix it]done" || loaded.Models == nil || loaded.Models.CurrentModelId != "p/b" ||
		len(loaded.Models.AvailableModels) != 2 {
		t.Errorf("%q %+v %v", text, loaded, err)
	}
	if _, err := c.ResumeSession(ctx, sdk.ResumeSessionRequest{SessionId: "acp-one", Cwd: "/"}); err != nil {
		t.Error(err)
	}
	if n, _ := e.got(); n != 2 {
		t.Errorf("a resumed session was told again: %d", n)
	}
	if _, err := c.UnstableSetSessionModel(ctx, sdk.UnstableSetSessionModelRequest{SessionId: "acp-one", ModelId: "p/a"}); err != nil ||
		fmt.Sprint(f.noted(&f.patched)) != "[acp-one p/a]" {
		t.Errorf("%v %v", f.noted(&f.patched), err)
	}
	if _, err := c.CloseSession(ctx, sdk.CloseSessionRequest{SessionId: "acp-one"}); err != nil ||
		!strings.Contains(fmt.Sprint(f.noted(&f.calls)), protocol.MethodChatAbort) {
		t.Errorf("%v %v", f.noted(&f.calls), err)
	}
	if _, err := c.Prompt(ctx, sdk.PromptRequest{SessionId: "acp-one", Prompt: []sdk.ContentBlock{sdk.TextBlock("hi")}}); err == nil {
		t.Error("a closed session goes on")
	}
}

// Editors get at no conversation but their own.
func TestSec_A_PAIR_14_EditorsSessionsOnly(t *testing.T) {
	agent := New("test")
	c := connect(t, agent, &talker{agent: agent}, &counting{})
	ctx := t.Context()
	for _, id := range []sdk.SessionId{"main", "agent:main:main", "acp-none", "acp-x:main", "", "agent:other:acp-one"} {
		if _, err := c.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: id, Cwd: "/", McpServers: []sdk.McpServer{}}); err == nil {
			t.Errorf("%q was loaded", id)
		}
		if _, err := c.ResumeSession(ctx, sdk.ResumeSessionRequest{SessionId: id, Cwd: "/"}); err == nil {
			t.Errorf("%q was resumed", id)
		}
		if _, err := c.UnstableSetSessionModel(ctx, sdk.UnstableSetSessionModelRequest{SessionId: id, ModelId: "p/a"}); err == nil {
			t.Errorf("%q got a model", id)
		}
	}
}
