// Package anthropic speaks the Messages dialect. It owns how a request is
// written and how the streamed answer is read; everything about the connection
// is in wire.
package anthropic

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

const (
	apiVersion       = "2023-06-01"
	defaultMaxTokens = 8192
	oldMaxTokens     = 4096 // what the Claude 3 models accept at most
)

// budget is how many tokens a level of reasoning may cost.
func budget(level string) int {
	switch level {
	case model.ThinkingLow:
		return 2048
	case model.ThinkingMedium:
		return 8192
	}
	return 16384
}

// Quirks are what differs between services and models.
type Quirks struct {
	MaxTokens int // sent when the request names none; 0 = a fitting default
}

// New returns a provider for one service. The base address is everything
// before /v1/messages; one that ends with /v1 works too.
func New(s wire.Service, q Quirks) model.Provider {
	s.BaseURL = strings.TrimSuffix(strings.TrimRight(s.BaseURL, "/"), "/v1")
	return &provider{s, q}
}

type provider struct {
	service wire.Service
	quirks  Quirks
}

func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.service.Stream(ctx, wire.Dialect{
		Stream:   wire.EventStream,
		Ask:      func(r model.Request) (string, any) { return "/v1/messages", p.ask(r) },
		Header:   authorize,
		Decoding: func() wire.Decoder { return &decoder{blocks: map[int]*block{}} },
	}, req)
}

func authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", apiVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    []part    `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
	Stream    bool      `json:"stream"`
	Thinking  *thinking `json:"thinking,omitempty"`
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

type message struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

// part is a content block; Type tells which fields count.
type part struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      string          `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func (p *provider) ask(r model.Request) request {
	out := request{Model: r.Model, Stream: true, MaxTokens: p.maxTokens(r)}
	if r.Thinks() && !amidTools(r.Messages) {
		// The budget counts towards the limit, which is meant for the answer.
		out.Thinking = &thinking{"enabled", budget(r.Thinking)}
		out.MaxTokens += out.Thinking.Budget
	}
	if strings.TrimSpace(r.System) != "" {
		// Tools and system prompt are the same in every turn: reading them
		// from the cache costs a tenth.
		out.System = []part{{Type: "text", Text: r.System, CacheControl: &cacheControl{"ephemeral"}}}
	}
	for _, m := range r.Messages {
		out.add(m)
	}
	for _, t := range r.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out.Tools = append(out.Tools, tool{t.Name, t.Description, schema})
	}
	return out
}

// amidTools reports whether the model still waits for a tool or has just got
// its result. A turn that reasoned before a tool call may go on with reasoning
// only when its signed thoughts are sent back, which are not kept: so it goes on
// without.
func amidTools(msgs []model.Message) bool {
	for _, m := range slices.Backward(msgs) {
		switch m.Role {
		case model.RoleTool:
			return true
		case model.RoleAssistant:
			return slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.ToolCall != nil })
		}
	}
	return false
}

func (p *provider) maxTokens(r model.Request) int {
	switch {
	case r.MaxTokens > 0:
		return r.MaxTokens
	case p.quirks.MaxTokens > 0:
		return p.quirks.MaxTokens
	case strings.HasPrefix(r.Model, "claude-3-opus"), strings.HasPrefix(r.Model, "claude-3-sonnet"), strings.HasPrefix(r.Model, "claude-3-haiku"):
		return oldMaxTokens
	}
	return defaultMaxTokens
}

// add appends a message. Neighbours of one role become one message, which puts
// all results of a message's calls together, as the service wants them.
// Reasoning is not sent back, and blank text is refused by the service.
func (q *request) add(m model.Message) {
	role := "user"
	if m.Role == model.RoleAssistant {
		role = "assistant"
	}
	var parts []part
	for _, b := range m.Blocks {
		switch {
		case b.ToolCall != nil:
			parts = append(parts, part{Type: "tool_use", ID: safeID(b.ToolCall.ID), Name: b.ToolCall.Name, Input: b.ToolCall.Arguments})
		case b.ToolResult != nil:
			parts = append(parts, part{Type: "tool_result", ToolUseID: safeID(b.ToolResult.CallID), Content: b.ToolResult.Text, IsError: b.ToolResult.IsError})
		case strings.TrimSpace(b.Text) != "":
			parts = append(parts, part{Type: "text", Text: b.Text})
		}
	}
	if len(parts) == 0 {
		return
	}
	n := len(q.Messages)
	if n == 0 && role == "assistant" {
		q.Messages = append(q.Messages, message{Role: "user", Content: []part{{Type: "text", Text: "(conversation so far)"}}})
		n++
	}
	if n > 0 && q.Messages[n-1].Role == role {
		q.Messages[n-1].Content = append(q.Messages[n-1].Content, parts...)
		return
	}
	q.Messages = append(q.Messages, message{role, parts})
}

// safeID maps ids that another service made to the characters allowed here.
func safeID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}
