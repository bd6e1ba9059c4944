// Package anthropic speaks the Messages dialect. It owns how a request is
// written and how the streamed answer is read; everything about the connection
// is in wire.
package anthropic

import (
	"cmp"
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

// settings are the fields of a request behind the tools.
type settings struct {
	Stream       bool          `json:"stream"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	options

	maxTokens int // stands before the conversation
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
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

func (p *provider) ask(r model.Request) *wire.Object {
	var out wire.Object
	set := p.settings(r)
	out.Value("model", r.Model)
	out.Value("max_tokens", set.maxTokens)
	if strings.TrimSpace(r.System) != "" {
		form := dialect + " " + strconv.Itoa(r.Stable)
		raw, err := p.service.Stable.Text(form, r.System, func(string) any { return systemOf(r) })
		out.Raw("system", raw, err)
	}
	conversation, err := messages(r.Messages)
	out.List("messages", conversation, err)
	if n := len(r.Tools); n > 0 {
		tools, err := p.service.Stable.Tools(dialect, r.Tools[:n-1], func(t model.ToolSpec) any { return toolOf(t) })
		last, failed := p.service.Stable.Tools(dialect+" last", r.Tools[n-1:], func(t model.ToolSpec) any {
			out := toolOf(t)
			out.CacheControl = ephemeral()
			return out
		})
		out.List("tools", append(tools, last...), cmp.Or(err, failed))
	}
	out.Fields(set)
	return &out
}

func (p *provider) settings(r model.Request) settings {
	out := settings{Stream: !p.service.Whole, maxTokens: p.maxTokens(r)}
	// Reasoning and a forced call exclude each other.
	if _, forced := r.Forced(); r.Thinks() && !forced && !amidUnsigned(r.Messages) {
		out.think(r)
	}
	out.options = optionsOf(r, out.Thinking != nil)
	return out
}

// systemOf is the system prompt in its two halves.
func systemOf(r model.Request) []part {
	stable, rest := r.SystemParts()
	out := []part{{Type: "text", Text: stable, CacheControl: ephemeral()}}
	if strings.TrimSpace(rest) != "" { // a service refuses empty parts
		out = append(out, part{Type: "text", Text: rest})
	}
	return out
}

func toolOf(t model.ToolSpec) tool {
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	return tool{Name: t.Name, Description: t.Description, InputSchema: schema}
}

// think asks for reasoning: newer models judge for themselves how much of it a
// question needs, older ones get a budget.
func (q *settings) think(r model.Request) {
	if adaptive(r.Model) {
		q.Thinking, q.OutputConfig = &thinking{Type: "adaptive"}, &outputConfig{r.Thinking}
		q.maxTokens += budget(r.Thinking)
		return
	}
	// The budget counts towards the limit, which is meant for the answer.
	q.Thinking = &thinking{"enabled", budget(r.Thinking)}
	q.maxTokens += q.Thinking.Budget
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

// messages writes the conversation, each message once; only the end of the newest,
// up to which the service may read from its cache, is written anew.
func messages(msgs []model.Message) ([][]byte, error) {
	out := wire.Sides{Parts: "content"}
	var last model.Message
	for _, m := range msgs {
		raw, err := m.Written(dialect, func() ([]byte, error) { return wire.Elements(partsOf(m)) })
		if err != nil {
			return nil, err
		}
		if len(raw) == 0 {
			continue
		}
		role := wire.RoleOf(m, "assistant")
		if out.Last() == "" && role == "assistant" {
			out.Add("user", []byte(`{"type":"text","text":"(conversation so far)"}`))
		}
		out.Add(role, raw)
		last = m
	}
	if out.Last() == "user" {
		parts := partsOf(last)
		parts[len(parts)-1].CacheControl = ephemeral()
		raw, err := wire.Elements(parts)
		if err != nil {
			return nil, err
		}
		out.SetLast(raw)
	}
	return out.Messages(), nil
}

func partsOf(m model.Message) (parts []part) {
	for _, b := range m.Blocks {
		if p, ok := partOf(b); ok {
			parts = append(parts, p)
		}
	}
	return parts
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
