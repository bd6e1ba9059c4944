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
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

const (
	apiVersion       = "2023-06-01"
	defaultMaxTokens = 8192
	oldMaxTokens     = 4096 // what the Claude 3 models accept at most

	dialect  = "anthropic"
	redacted = "redacted:" // begins the signature of reasoning that is not shown
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

// A login of a person, not a key of the API, goes as a bearer token and needs a
// header of its own. Its beginning tells which it is.
const (
	loginBegins = "sk-ant-oat"
	loginBeta   = "oauth-2025-04-20"
)

func authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", apiVersion)
	switch {
	case strings.HasPrefix(key, loginBegins):
		wire.Bearer(h, key)
		h.Set("Anthropic-Beta", loginBeta)
	case key != "":
		h.Set("X-Api-Key", key)
	}
}

type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       []part        `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Tools        []tool        `json:"tools,omitempty"`
	Stream       bool          `json:"stream"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	options
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type message struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

// part is a content block; Type tells which fields count.
type part struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"` // of reasoning that the service keeps to itself
	Source       *source         `json:"source,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      any             `json:"content,omitempty"` // of a result: a text, or parts
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

type cacheControl struct {
	Type string `json:"type"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// Tools, the system prompt and the conversation so far are the same in the next
// turn: reading them from the cache costs a tenth.
func ephemeral() *cacheControl { return &cacheControl{"ephemeral"} }

func (p *provider) ask(r model.Request) request {
	out := request{Model: r.Model, Stream: !p.service.Whole, MaxTokens: p.maxTokens(r)}
	// Reasoning and a forced call exclude each other.
	if _, forced := r.Forced(); r.Thinks() && !forced && !amidUnsigned(r.Messages) {
		out.think(r)
	}
	if strings.TrimSpace(r.System) != "" {
		stable, rest := r.SystemParts()
		out.System = []part{{Type: "text", Text: stable, CacheControl: ephemeral()}}
		if strings.TrimSpace(rest) != "" { // a service refuses empty parts
			out.System = append(out.System, part{Type: "text", Text: rest})
		}
	}
	for _, m := range r.Messages {
		out.add(m)
	}
	for _, t := range r.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].CacheControl = ephemeral()
	}
	if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == "user" {
		parts := out.Messages[n-1].Content
		parts[len(parts)-1].CacheControl = ephemeral()
	}
	out.options = optionsOf(r, out.Thinking != nil)
	return out
}

// think asks for reasoning: newer models judge for themselves how much of it a
// question needs, older ones get a budget.
func (q *request) think(r model.Request) {
	if adaptive(r.Model) {
		q.Thinking, q.OutputConfig = &thinking{Type: "adaptive"}, &outputConfig{r.Thinking}
		q.MaxTokens += budget(r.Thinking)
		return
	}
	// The budget counts towards the limit, which is meant for the answer.
	q.Thinking = &thinking{"enabled", budget(r.Thinking)}
	q.MaxTokens += q.Thinking.Budget
}

// adaptive tells the models from 4.6 on, by the version in their names:
// claude-opus-4-6, claude-sonnet-5, claude-opus-4-6-20260203.
func adaptive(id string) bool { return since(id, 6) }

// since reports whether a model is of version 4.minor or newer.
func since(id string, minor int) bool {
	var version []int
	for _, word := range strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '.' }) {
		if n, err := strconv.Atoi(word); err == nil && n < 100 {
			version = append(version, n)
		}
	}
	switch {
	case !strings.HasPrefix(id, "claude-") || len(version) == 0:
		return false
	case version[0] != 4:
		return version[0] > 4
	}
	return len(version) > 1 && version[1] >= minor
}

// amidUnsigned reports whether the model still waits for a tool, or has just
// got its result, in a turn that did not begin with reasoning signed here. Such
// a turn may go on only without reasoning.
func amidUnsigned(msgs []model.Message) bool {
	amid, first := false, -1
	for i, m := range slices.Backward(msgs) {
		calls := slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.ToolCall != nil })
		switch {
		case m.Role == model.RoleTool:
			amid = true
		case m.Role == model.RoleAssistant && (calls || amid):
			amid, first = amid || calls, i
		case m.Role == model.RoleAssistant:
			return false
		}
		if m.Role == model.RoleUser && amid && first >= 0 {
			break
		}
	}
	if !amid || first < 0 {
		return amid
	}
	_, ok := wire.Signed(msgs[first].Blocks[0], dialect)
	return !ok
}

func (p *provider) maxTokens(r model.Request) int {
	switch {
	case r.MaxTokens > 0:
		return r.MaxTokens
	case p.quirks.MaxTokens > 0:
		return p.quirks.MaxTokens
	case strings.HasPrefix(r.Model, "claude-3-opus"), strings.HasPrefix(r.Model, "claude-3-sonnet"),
		strings.HasPrefix(r.Model, "claude-3-haiku"):
		return oldMaxTokens
	}
	return defaultMaxTokens
}

// add appends a message. Neighbours of one role become one message, which puts
// all results of a message's calls together, as the service wants them.
func (q *request) add(m model.Message) {
	role := "user"
	if m.Role == model.RoleAssistant {
		role = "assistant"
	}
	var parts []part
	for _, b := range m.Blocks {
		if p, ok := partOf(b); ok {
			parts = append(parts, p)
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

// partOf writes one block. Reasoning goes back only with the service's own
// signature, and blank text is refused by the service.
func partOf(b model.Block) (part, bool) {
	switch {
	case b.ToolCall != nil:
		return part{Type: "tool_use", ID: safeID(b.ToolCall.ID), Name: b.ToolCall.Name, Input: b.ToolCall.Arguments}, true
	case b.ToolResult != nil:
		return part{Type: "tool_result", ToolUseID: safeID(b.ToolResult.CallID), Content: contentOf(b.ToolResult), IsError: b.ToolResult.IsError},
			true
	case b.Image != nil:
		return imagePart(*b.Image), true
	case b.Thinking != "" || b.Signature != "":
		sig, ok := wire.Signed(b, dialect)
		if !ok {
			return part{}, false
		}
		if data, hidden := strings.CutPrefix(sig, redacted); hidden {
			return part{Type: "redacted_thinking", Data: data}, true
		}
		return part{Type: "thinking", Thinking: &b.Thinking, Signature: sig}, true
	}
	return part{Type: "text", Text: b.Text}, strings.TrimSpace(b.Text) != ""
}

func imagePart(i model.Image) part {
	return part{Type: "image", Source: &source{"base64", i.MIME, i.Data}}
}

func contentOf(r *model.ToolResult) any {
	if len(r.Images) == 0 {
		if r.Text == "" {
			return nil
		}
		return r.Text
	}
	var parts []part
	if strings.TrimSpace(r.Text) != "" {
		parts = append(parts, part{Type: "text", Text: r.Text})
	}
	for _, i := range r.Images {
		parts = append(parts, imagePart(i))
	}
	return parts
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
