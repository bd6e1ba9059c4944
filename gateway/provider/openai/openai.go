// Package openai speaks Chat Completions, the dialect that most model services
// and local servers understand. It owns how a request is written and how the
// streamed answer is read; everything about the connection is in wire.
package openai

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// Quirks are what services do differently.
type Quirks struct {
	MaxTokens           int  // sent when the request names none; 0 = not sent
	MaxCompletionTokens bool // the limit is called max_completion_tokens
	NoStreamUsage       bool // stream_options is refused; usage comes anyway or not at all
	ReasoningBack       bool // within a turn, reasoning is wanted back as reasoning_content
	NoNamedTool         bool // tool_choice is a word only
	NoSchema            bool // response_format knows json_object only
	NoObject            bool // response_format knows json_schema only
	FormatOrTools       bool // response_format is refused beside tools
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

// settings are the fields of a request behind the conversation and the tools.
type settings struct {
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	options
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role             string `json:"role"`
	Content          any    `json:"content"` // a text, parts, or null when there are only tool calls
	ReasoningContent string `json:"reasoning_content,omitempty"`
	ToolCalls        []call `json:"tool_calls,omitempty"`
	ToolCallID       string `json:"tool_call_id,omitempty"`
}

// part is a piece of a message that also holds pictures.
type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
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

func (p *provider) ask(r model.Request) *wire.Object {
	var out wire.Object
	out.Value("model", r.Model)
	conversation, err := p.messages(r)
	out.List("messages", conversation, err)
	if len(r.Tools) > 0 {
		tools, err := p.service.Stable.Tools("openai", r.Tools, func(t model.ToolSpec) any {
			return tool{Type: "function", Function: toolFunction{t.Name, t.Description, t.Schema}}
		})
		out.List("tools", tools, err)
	}
	out.Fields(p.settings(r))
	return &out
}

func (p *provider) settings(r model.Request) settings {
	out := settings{Stream: !p.service.Whole, options: p.options(r)}
	if !p.quirks.NoStreamUsage && out.Stream {
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
	return out
}

// messages writes the conversation. Results hold only text here, so the pictures
// of a message's results follow behind the last of them.
func (p *provider) messages(r model.Request) (out [][]byte, err error) {
	out = make([][]byte, 0, len(r.Messages)+1)
	var pictures []part
	add := func(raw []byte, failed error) {
		if out = append(out, raw); err == nil {
			err = failed
		}
	}
	flush := func() {
		if len(pictures) > 0 {
			note := part{Type: "text", Text: "[Pictures from the tool results above]"}
			add(wire.JSON(message{Role: "user", Content: append([]part{note}, pictures...)}))
			pictures = nil
		}
	}
	if r.System != "" {
		add(p.service.Stable.Text("openai", r.System, func(text string) any { return message{Role: "system", Content: text} }))
	}
	turn := lastUser(r.Messages)
	for i, m := range r.Messages {
		if m.Role == model.RoleTool {
			r := m.Blocks[0].ToolResult
			add(m.Written("openai", func() ([]byte, error) {
				return wire.JSON(message{Role: "tool", Content: r.Text, ToolCallID: r.CallID})
			}))
			for _, img := range r.Images {
				pictures = append(pictures, picture(img))
			}
			continue
		}
		flush()
		if !says(m) {
			continue
		}
		if p.quirks.ReasoningBack && i > turn {
			add(wire.JSON(p.withReasoning(m)))
			continue
		}
		add(m.Written("openai", func() ([]byte, error) { return wire.JSON(messageOf(m)) }))
	}
	flush()
	return out, err
}

// withReasoning is a message with what the model thought before it.
func (p *provider) withReasoning(m model.Message) message {
	out := messageOf(m)
	for _, b := range m.Blocks {
		out.ReasoningContent += b.Thinking
	}
	return out
}

func lastUser(msgs []model.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role == model.RoleUser {
			return i
		}
	}
	return -1
}

func picture(i model.Image) part {
	return part{Type: "image_url", ImageURL: &imageURL{wire.DataURL(i)}}
}

// says reports whether there is more in a message than reasoning.
func says(m model.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.ToolCall != nil || b.Image != nil || b.Text != "" })
}

// messageOf is one message of the person or the model.
func messageOf(m model.Message) message {
	out := message{Role: string(m.Role)}
	var parts []part
	pictures := false
	for _, b := range m.Blocks {
		switch c := b.ToolCall; {
		case c != nil:
			out.ToolCalls = append(out.ToolCalls, call{ID: c.ID, Type: "function", Function: callFunction{c.Name, string(c.Arguments)}})
		case b.Image != nil:
			parts, pictures = append(parts, picture(*b.Image)), true
		case b.Text != "":
			parts = append(parts, part{Type: "text", Text: b.Text})
		}
	}
	switch {
	case pictures:
		out.Content = parts
	case len(parts) > 0:
		out.Content = wire.Text(m)
	}
	return out
}
