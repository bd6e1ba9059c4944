// Package bedrock speaks Amazon Bedrock's Converse dialect. It owns how a
// request is written and signed, how Amazon's binary frames are cut, and how the
// streamed answer is read; everything else about the connection is in wire.
package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

const (
	dialect  = "bedrock"
	redacted = "redacted:" // begins the signature of reasoning that is not shown
)

// Quirks are what differs between models.
type Quirks struct {
	MaxTokens int // sent when the request names none; 0 = not sent
}

// New returns a provider for one region. The base address is everything before
// /model/. The service's Prepare signs; see Signer.
func New(s wire.Service, q Quirks) model.Provider { return &provider{s, q} }

type provider struct {
	service wire.Service
	quirks  Quirks
}

func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.service.Stream(ctx, wire.Dialect{
		Frames:   frames,
		Ask:      func(r model.Request) (string, any) { return p.path(r.Model), p.ask(r) },
		Header:   func(http.Header, string) {},
		Decoding: func() wire.Decoder { return &decoder{blocks: map[int]*block{}} },
	}, req)
}

func (p *provider) path(id string) string {
	// Colons, which ids have, must be escaped because the signature escapes them.
	base := "/model/" + strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
	if p.service.Whole {
		return base + "/converse"
	}
	return base + "/converse-stream"
}

// settings are the fields of a request between the conversation and the tools.
type settings struct {
	System    []part     `json:"system,omitempty"`
	Inference *inference `json:"inferenceConfig,omitempty"`

	more json.RawMessage // additionalModelRequestFields
}

type inference struct {
	MaxTokens     int      `json:"maxTokens,omitempty"`
	Temperature   *float64 `json:"temperature,omitempty"`
	TopP          *float64 `json:"topP,omitempty"`
	StopSequences []string `json:"stopSequences,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

// part holds one of its fields.
type part struct {
	Text       *string     `json:"text,omitempty"`
	Image      *image      `json:"image,omitempty"`
	ToolUse    *toolUse    `json:"toolUse,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
	Reasoning  *reasoning  `json:"reasoningContent,omitempty"`
	CachePoint *cachePoint `json:"cachePoint,omitempty"`
}

type cachePoint struct {
	Type string `json:"type"`
}

type image struct {
	Format string `json:"format"`
	Source struct {
		Bytes []byte `json:"bytes"` // base64 in JSON
	} `json:"source"`
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string `json:"toolUseId"`
	Content []part `json:"content"`
	Status  string `json:"status,omitempty"`
}

type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitempty"`
	Redacted string         `json:"redactedContent,omitempty"`
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
}

type tool struct {
	Spec toolSpec `json:"toolSpec"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

func (p *provider) ask(r model.Request) *wire.Object {
	var out wire.Object
	claude := strings.Contains(r.Model, "anthropic.")
	conversation, err := messages(r.Messages, claude)
	out.List("messages", conversation, err)
	set := p.settings(r, claude)
	out.Fields(set)
	if len(r.Tools) > 0 {
		raw, err := p.tools(r).Bytes()
		out.Raw("toolConfig", bytes.TrimSpace(raw), err)
	}
	if set.more != nil {
		out.Raw("additionalModelRequestFields", set.more, nil)
	}
	return &out
}

func (p *provider) settings(r model.Request, claude bool) (out settings) {
	limit := r.MaxTokens
	if limit == 0 {
		limit = p.quirks.MaxTokens
	}
	if _, forced := r.Forced(); r.Thinks() && !forced && claude && !amidUnsigned(r.Messages) {
		budget := map[string]string{model.ThinkingLow: "2048", model.ThinkingMedium: "8192", model.ThinkingHigh: "16384"}[r.Thinking]
		out.more = json.RawMessage(`{"thinking":{"type":"enabled","budget_tokens":` + budget + `}}`)
		limit = max(limit, 8192) + 16384
	}
	out.Inference = inferenceOf(r, limit, out.more != nil)
	if strings.TrimSpace(r.System) == "" {
		return out
	}
	stable, rest := r.SystemParts()
	out.System = []part{{Text: &stable}}
	if claude {
		out.System = append(out.System, cached()) // behind what stays the same
	}
	if strings.TrimSpace(rest) != "" {
		out.System = append(out.System, part{Text: &rest})
	}
	return out
}

// tools is the part of a request with the tools.
func (p *provider) tools(r model.Request) *wire.Object {
	var out wire.Object
	tools, err := p.service.Stable.Tools(dialect, r.Tools, func(t model.ToolSpec) any {
		spec := toolSpec{Name: t.Name, Description: t.Description}
		if spec.InputSchema.JSON = t.Schema; len(t.Schema) == 0 {
			spec.InputSchema.JSON = json.RawMessage(`{"type":"object"}`)
		}
		return tool{spec}
	})
	out.List("tools", tools, err)
	if c := choiceOf(r); c != nil {
		out.Value("toolChoice", c)
	}
	return &out
}

// cached ends what may be read from the service's cache next time: behind the
// system prompt, and behind the conversation so far.
func cached() part { return part{CachePoint: &cachePoint{"default"}} }

// amidUnsigned reports whether the newest call of a tool was not reasoned about
// here: such a turn goes on without reasoning.
func amidUnsigned(msgs []model.Message) bool {
	amid := false
	for i := len(msgs) - 1; i >= 0 && msgs[i].Role != model.RoleUser; i-- {
		if msgs[i].Role != model.RoleAssistant {
			amid = true
			continue
		}
		_, ok := wire.Signed(msgs[i].Blocks[0], dialect)
		if !ok {
			return amid
		}
	}
	return false
}

// messages writes the conversation, each message once.
func messages(msgs []model.Message, cache bool) ([][]byte, error) {
	out := wire.Sides{Parts: "content"}
	for _, m := range msgs {
		raw, err := m.Written(dialect, func() ([]byte, error) { return wire.Elements(partsOf(m)) })
		if err != nil {
			return nil, err
		}
		role := wire.RoleOf(m, "assistant")
		if out.Last() == "" && role == "assistant" && len(raw) > 0 {
			out.Add("user", []byte(`{"text":"(conversation so far)"}`))
		}
		out.Add(role, raw)
	}
	if cache && out.Last() == "user" {
		raw, err := wire.Elements([]part{cached()})
		if err != nil {
			return nil, err
		}
		out.Add("user", raw)
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

func partOf(b model.Block) (part, bool) {
	switch {
	case b.ToolCall != nil:
		return part{ToolUse: &toolUse{safeID(b.ToolCall.ID), b.ToolCall.Name, b.ToolCall.Arguments}}, true
	case b.ToolResult != nil:
		return part{ToolResult: resultOf(b.ToolResult)}, true
	case b.Image != nil:
		return imagePart(*b.Image), true
	case b.Thinking != "" || b.Signature != "":
		sig, ok := wire.Signed(b, dialect)
		if !ok {
			return part{}, false
		}
		if data, hidden := strings.CutPrefix(sig, redacted); hidden {
			return part{Reasoning: &reasoning{Redacted: data}}, true
		}
		return part{Reasoning: &reasoning{Text: &reasoningText{b.Thinking, sig}}}, true
	}
	return part{Text: &b.Text}, strings.TrimSpace(b.Text) != ""
}

func imagePart(i model.Image) part {
	p := part{Image: &image{Format: strings.TrimPrefix(i.MIME, "image/")}}
	p.Image.Source.Bytes = i.Data
	return p
}

func resultOf(r *model.ToolResult) *toolResult {
	out := &toolResult{ID: safeID(r.CallID)}
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	out.Content = []part{{Text: &text}}
	for _, i := range r.Images {
		out.Content = append(out.Content, imagePart(i))
	}
	if r.IsError {
		out.Status = "error"
	}
	return out
}

// safeID maps ids that another service made to what is allowed here.
func safeID(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	return id[:min(len(id), 64)]
}
