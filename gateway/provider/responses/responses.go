// Package responses speaks OpenAI's Responses dialect. It owns how a request is
// written and how the streamed answer is read; everything about the connection
// is in wire. Nothing is stored at the service: the conversation is sent whole,
// with the model's own reasoning, encrypted by the service, in its place.
package responses

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// Quirks are what differs between services and models.
type Quirks struct {
	MaxTokens int // sent when the request names none; 0 = not sent
	Reasons   bool
}

// New returns a provider for one service. The base address is everything
// before /responses.
func New(s wire.Service, q Quirks) model.Provider { return &provider{s, q} }

const dialect = "openai-responses"

type provider struct {
	service wire.Service
	quirks  Quirks
}

func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.service.Stream(ctx, wire.Dialect{
		Stream:   wire.EventStream,
		Ask:      func(r model.Request) (string, any) { return "/responses", p.ask(r) },
		Header:   wire.Bearer,
		Decoding: func() wire.Decoder { return &decoder{calls: map[string]*openCall{}, given: map[string]bool{}} },
	}, req)
}

// settings are the fields of a request behind the conversation and the tools.
type settings struct {
	Stream          bool       `json:"stream"`
	Store           bool       `json:"store"`
	Include         []string   `json:"include,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	Reasoning       *reasoning `json:"reasoning,omitempty"`
	options
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// item is one entry of the conversation; Type tells which fields count.
type item struct {
	Type      string  `json:"type"`
	Role      string  `json:"role,omitempty"`
	Content   []part  `json:"content,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // of a result: a text, or parts
	ID        string  `json:"id,omitempty"`
	Summary   *[]part `json:"summary,omitempty"`
	Encrypted string  `json:"encrypted_content,omitempty"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// sealed is what a signature holds.
type sealed struct {
	ID        string `json:"id"`
	Encrypted string `json:"encrypted"`
}

func (p *provider) ask(r model.Request) *wire.Object {
	var out wire.Object
	out.Value("model", r.Model)
	if r.System != "" {
		raw, err := p.service.Stable.Text(dialect, r.System, func(text string) any { return text })
		out.Raw("instructions", raw, err)
	}
	conversation, err := items(r.Messages)
	out.List("input", conversation, err)
	if len(r.Tools) > 0 {
		tools, err := p.service.Stable.Tools(dialect, r.Tools, toolOf)
		out.List("tools", tools, err)
	}
	out.Fields(p.settings(r))
	return &out
}

func toolOf(t model.ToolSpec) any {
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: schema}
}

func (p *provider) settings(r model.Request) settings {
	out := settings{Stream: !p.service.Whole, MaxOutputTokens: r.MaxTokens}
	if out.MaxOutputTokens == 0 {
		out.MaxOutputTokens = p.quirks.MaxTokens
	}
	if r.Thinks() {
		out.Reasoning = &reasoning{Effort: r.Thinking, Summary: "auto"}
	}
	if r.Thinks() || p.quirks.Reasons {
		out.Include = []string{"reasoning.encrypted_content"}
	}
	out.options = optionsOf(r, p.quirks.Reasons)
	if r.Asked().MaxTokens > 0 && out.MaxOutputTokens < leastTokens {
		out.MaxOutputTokens = leastTokens
	}
	return out
}

// items writes the conversation, each message once.
func items(msgs []model.Message) (out [][]byte, err error) {
	for _, m := range msgs {
		raw, err := m.Written(dialect, func() ([]byte, error) { return wire.Elements(itemsOf(m)) })
		if err != nil {
			return nil, err
		}
		if len(raw) > 0 {
			out = append(out, raw)
		}
	}
	return out, nil
}

// itemsOf is one message: words and pictures become one item, calls, results and
// reasoning one each, in their order.
func itemsOf(m model.Message) (out []item) {
	words := item{Type: "message", Role: string(m.Role)}
	text := "input_text"
	if m.Role == model.RoleAssistant {
		text = "output_text"
	}
	flush := func() {
		if len(words.Content) > 0 {
			out = append(out, words)
			words.Content = nil
		}
	}
	for _, b := range m.Blocks {
		switch {
		case b.ToolCall != nil:
			flush()
			args := string(b.ToolCall.Arguments)
			out = append(out, item{Type: "function_call", CallID: b.ToolCall.ID, Name: b.ToolCall.Name, Arguments: &args})
		case b.ToolResult != nil:
			out = append(out, item{Type: "function_call_output", CallID: b.ToolResult.CallID, Output: outputOf(b.ToolResult)})
		case b.Image != nil:
			words.Content = append(words.Content, part{Type: "input_image", ImageURL: wire.DataURL(*b.Image)})
		case b.Thinking != "" || b.Signature != "":
			if it, ok := reasoningItem(b); ok {
				flush()
				out = append(out, it)
			}
		case b.Text != "":
			words.Content = append(words.Content, part{Type: text, Text: b.Text})
		}
	}
	flush()
	return out
}

// reasoningItem is reasoning that the service itself had encrypted.
func reasoningItem(b model.Block) (item, bool) {
	payload, ok := wire.Signed(b, dialect)
	var s sealed
	if !ok || json.Unmarshal([]byte(payload), &s) != nil {
		return item{}, false
	}
	summary := []part{}
	if b.Thinking != "" {
		summary = append(summary, part{Type: "summary_text", Text: b.Thinking})
	}
	return item{Type: "reasoning", ID: s.ID, Summary: &summary, Encrypted: s.Encrypted}, true
}

func outputOf(r *model.ToolResult) any {
	if len(r.Images) == 0 {
		if r.Text == "" {
			return "(no output)"
		}
		return r.Text
	}
	var parts []part
	if r.Text != "" {
		parts = append(parts, part{Type: "input_text", Text: r.Text})
	}
	for _, i := range r.Images {
		parts = append(parts, part{Type: "input_image", ImageURL: wire.DataURL(i)})
	}
	return parts
}
