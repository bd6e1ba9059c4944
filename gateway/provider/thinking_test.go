package provider_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/openai"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// Reasoning visibility: a level of thinking reaches each service
// in its own words, and nothing is said about it when no level was chosen.
func TestThinkingLevels(t *testing.T) {
	s := newServer(t)
	want := map[string]map[string]string{
		"openai":    {"": "", "off": "", "low": `"low"`, "medium": `"medium"`, "high": `"high"`},
		"responses": {"": "", "off": "", "low": `{"effort":"low","summary":"auto"}`, "high": `{"effort":"high","summary":"auto"}`},
		"gemini": {"": "", "off": `{"thinkingBudget":0}`, "low": `{"includeThoughts":true,"thinkingBudget":2048}`,
			"high": `{"includeThoughts":true,"thinkingBudget":24576}`},
		"ollama": {"": "", "off": "false", "low": "true", "medium": "true", "high": "true"},
		"anthropic": {"": "", "off": "", "low": `{"type":"enabled","budget_tokens":2048}`, "medium": `{"type":"enabled","budget_tokens":8192}`,
			"high": `{"type":"enabled","budget_tokens":16384}`},
	}
	for name, p := range s.dialects(nil) {
		for level, sent := range want[name] {
			req := ask("think", "hi")
			req.Thinking = level
			if o := collect(t, t.Context(), p, req); o.err != nil || o.text != "echo: hi" {
				t.Errorf("%s, %q: %q, %v", name, level, o.text, o.err)
			}
			if got := s.Snapshot().Thinking; got != sent {
				t.Errorf("%s, %q: sent %s, want %s", name, level, got, sent)
			}
		}
	}
}

// A model that cannot be told is asked once more without the level, and without
// tools too when it refuses those next.
func TestThinkingRefused(t *testing.T) {
	s := newServer(t)
	for name, p := range s.dialects(nil) {
		if name == "bedrock" {
			continue // only its Claude models are told
		}
		req := withTools(ask("fault-nothink", "hello "+name))
		req.Thinking = model.ThinkingHigh
		o := collect(t, t.Context(), p, req)
		if o.err != nil || o.text != "echo: hello "+name || s.Calls("hello "+name) != 2 {
			t.Errorf("%s: %q, %v after %d requests", name, o.text, o.err, s.Calls("hello "+name))
		}
	}
	n := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		http.Error(w, `{"error":{"message":"Unrecognized argument: reasoning_effort"}}`, http.StatusBadRequest)
	}))
	defer ts.Close()
	req := ask("m", "hi")
	req.Thinking = model.ThinkingLow
	p := openai.New(wire.Service{BaseURL: ts.URL, HTTP: ts.Client()}, openai.Quirks{})
	if o := collect(t, t.Context(), p, req); o.err == nil || n != 2 {
		t.Errorf("a service that keeps refusing was asked %d times: %v", n, o.err)
	}
}

// Claude takes up a turn with tools only without reasoning, because its signed
// thoughts are not kept; the next turn reasons again.
func TestThinkingAmidTools(t *testing.T) {
	s := newServer(t)
	p := s.dialects(nil)["anthropic"]
	req := withTools(ask("echo", "hi"))
	req.Thinking = model.ThinkingLow
	call := model.Message{Role: model.RoleAssistant,
		Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: "c1", Name: "session_status", Arguments: []byte(`{}`)}}}}
	result := model.Message{Role: model.RoleTool,
		Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: "c1", Name: "session_status", Text: "ok"}}}}
	said := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: "done"}}}
	more := model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: "more"}}}
	for _, tt := range []struct {
		name   string
		behind []model.Message
		thinks bool
	}{
		{"fresh", nil, true},
		{"result", []model.Message{call, result}, false},
		{"words let in behind a result", []model.Message{call, result, more}, false},
		{"next turn", []model.Message{call, result, said, more}, true},
	} {
		r := req
		r.Messages = append(r.Messages[:1:1], tt.behind...)
		if o := collect(t, t.Context(), p, r); o.err != nil {
			t.Errorf("%s: %v", tt.name, o.err)
		}
		if got := s.Snapshot().Thinking != ""; got != tt.thinks {
			t.Errorf("%s: asked to reason is %v", tt.name, got)
		}
	}
}
