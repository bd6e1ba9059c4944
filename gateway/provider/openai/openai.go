// Package openai speaks Chat Completions, the dialect that most model services
// and local servers understand. It owns how a request is written and how the
// streamed answer is read; everything about the connection is in wire.
package openai

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// Quirks are what services do differently.
type Quirks struct {
	MaxTokens           int  // sent when the request names none; 0 = not sent
	MaxCompletionTokens bool // the limit is called max_completion_tokens
	NoStreamUsage       bool // stream_options is refused; usage comes anyway or not at all
}

// New returns a provider for one service. The base address is everything
// before /chat/completions.
func New(s wire.Service, q Quirks) model.Provider { return &provider{s, q} }

type provider struct {
	service wire.Service
	quirks  Quirks
}

func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.service.Stream(ctx, wire.Dialect{
		Stream:   wire.EventStream,
		Ask:      func(r model.Request) (string, any) { return "/chat/completions", p.ask(r) },
		Header:   wire.Bearer,
		Decoding: func() wire.Decoder { return &decoder{} },
	}, req)
}

type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Tools               []tool         `json:"tools,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"` // null when there are only tool calls
	ToolCalls  []call  `json:"tool_calls,omitempty"`
	ToolCallID string  `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func (p *provider) ask(r model.Request) request {
	out := request{Model: r.Model, Stream: true}
	if !p.quirks.NoStreamUsage {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	limit := r.MaxTokens
	if limit == 0 {
		limit = p.quirks.MaxTokens
	}
	if p.quirks.MaxCompletionTokens {
		out.MaxCompletionTokens = limit
	} else {
		out.MaxTokens = limit
	}
	if r.Thinks() {
		out.ReasoningEffort = r.Thinking
	}
	if r.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: &r.System})
	}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, messageOf(m))
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{t.Name, t.Description, t.Schema}})
	}
	return out
}

// messageOf writes one message. Reasoning is not sent back.
func messageOf(m model.Message) message {
	if m.Role == model.RoleTool {
		r := m.Blocks[0].ToolResult
		return message{Role: "tool", Content: &r.Text, ToolCallID: r.CallID}
	}
	out := message{Role: string(m.Role)}
	for _, b := range m.Blocks {
		if c := b.ToolCall; c != nil {
			out.ToolCalls = append(out.ToolCalls, call{ID: c.ID, Type: "function", Function: callFunction{c.Name, string(c.Arguments)}})
		}
	}
	if text := wire.Text(m); text != "" || len(out.ToolCalls) == 0 {
		out.Content = &text
	}
	return out
}
