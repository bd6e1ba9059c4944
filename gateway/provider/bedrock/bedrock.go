// Package bedrock speaks Amazon Bedrock's Converse dialect. It owns how a
// request is written and signed, how Amazon's binary frames are cut, and how the
// streamed answer is read; everything else about the connection is in wire.
package bedrock

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
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

type request struct {
	Messages   []message       `json:"messages"`
	System     []part          `json:"system,omitempty"`
	Inference  *inference      `json:"inferenceConfig,omitempty"`
	ToolConfig *toolConfig     `json:"toolConfig,omitempty"`
	More       json.RawMessage `json:"additionalModelRequestFields,omitempty"`
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

// cachePoint ends what may be read from the service's cache next time.
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

type toolConfig struct {
	Tools  []tool  `json:"tools"`
	Choice *choice `json:"toolChoice,omitempty"`
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

func (p *provider) ask(r model.Request) request {
	out := request{Messages: []message{}}
	limit := r.MaxTokens
	if limit == 0 {
		limit = p.quirks.MaxTokens
	}
	if _, forced := r.Forced(); r.Thinks() && !forced && strings.Contains(r.Model, "anthropic.") && !amidUnsigned(r.Messages) {
		budget := map[string]string{model.ThinkingLow: "2048", model.ThinkingMedium: "8192", model.ThinkingHigh: "16384"}[r.Thinking]
		out.More = json.RawMessage(`{"thinking":{"type":"enabled","budget_tokens":` + budget + `}}`)
		limit = max(limit, 8192) + 16384
	}
	out.Inference = inferenceOf(r, limit, out.More != nil)
	if strings.TrimSpace(r.System) != "" {
		stable, rest := r.SystemParts()
		out.System = []part{{Text: &stable}}
		if strings.TrimSpace(rest) != "" {
			out.System = append(out.System, part{Text: &rest})
		}
	}
	for _, m := range r.Messages {
		out.add(m)
	}
	if strings.Contains(r.Model, "anthropic.") {
		out.cache()
	}
	if len(r.Tools) > 0 {
		out.ToolConfig = &toolConfig{Choice: choiceOf(r)}
		for _, t := range r.Tools {
			spec := toolSpec{Name: t.Name, Description: t.Description}
			if spec.InputSchema.JSON = t.Schema; len(t.Schema) == 0 {
				spec.InputSchema.JSON = json.RawMessage(`{"type":"object"}`)
			}
			out.ToolConfig.Tools = append(out.ToolConfig.Tools, tool{spec})
		}
	}
	return out
}

// cache marks the system prompt and the conversation so far.
func (q *request) cache() {
	point := part{CachePoint: &cachePoint{"default"}}
	if len(q.System) > 0 {
		q.System = slices.Insert(q.System, 1, point) // behind what stays the same
	}
	if n := len(q.Messages); n > 0 && q.Messages[n-1].Role == "user" {
		q.Messages[n-1].Content = append(q.Messages[n-1].Content, point)
	}
}

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
	n := len(q.Messages)
	switch {
	case len(parts) == 0:
	case n == 0 && role == "assistant":
		begun := "(conversation so far)"
		q.Messages = append(q.Messages, message{"user", []part{{Text: &begun}}}, message{role, parts})
	case n > 0 && q.Messages[n-1].Role == role:
		q.Messages[n-1].Content = append(q.Messages[n-1].Content, parts...)
	default:
		q.Messages = append(q.Messages, message{role, parts})
	}
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
