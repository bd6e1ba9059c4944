// Package gemini speaks Google's own dialect of its Gemini models. It owns how a
// request is written, which part of a tool's schema the service understands, and
// how the streamed answer is read; everything about the connection is in wire.
// The key goes into a header, never into the address.
package gemini

import (
	"bytes"
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

const dialect = "google-generative-ai"

// Quirks are what differs between models.
type Quirks struct {
	MaxTokens int // sent when the request names none; 0 = not sent
}

// New returns a provider for one service. The base address is everything before
// /models/; one that ends with /openai works too.
func New(s wire.Service, q Quirks) model.Provider {
	s.BaseURL = strings.TrimSuffix(strings.TrimRight(s.BaseURL, "/"), "/openai")
	return &provider{s, q}
}

type provider struct {
	service wire.Service
	quirks  Quirks
}

func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.service.Stream(ctx, wire.Dialect{
		Stream:   wire.EventStream,
		Ask:      func(r model.Request) (string, any) { return p.path(r.Model), p.ask(r) },
		Header:   authorize,
		Decoding: func() wire.Decoder { return &decoder{} },
	}, req)
}

func authorize(h http.Header, key string) {
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
}

func (p *provider) path(id string) string {
	base := "/models/" + url.PathEscape(strings.TrimPrefix(id, "models/"))
	if p.service.Whole {
		return base + ":generateContent"
	}
	return base + ":streamGenerateContent?alt=sse"
}

// settings are the fields of a request behind the tools.
type settings struct {
	ToolConfig       *toolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig *generationConfig `json:"generationConfig,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	Thinking        *thinkingConfig `json:"thinkingConfig,omitempty"`
	options
}

type thinkingConfig struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part holds one of its fields, and what signs it.
type part struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	Signature        string            `json:"thoughtSignature,omitempty"`
	InlineData       *inlineData       `json:"inlineData,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
}

type inlineData struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"` // base64 in JSON
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func (p *provider) ask(r model.Request) *wire.Object {
	var out wire.Object
	conversation, err := contents(r.Messages, strings.Contains(r.Model, "gemini-3"))
	out.List("contents", conversation, err)
	if strings.TrimSpace(r.System) != "" {
		raw, err := p.service.Stable.Text(dialect, r.System, func(text string) any { return content{Parts: []part{{Text: &text}}} })
		out.Raw("systemInstruction", raw, err)
	}
	if len(r.Tools) > 0 {
		functions, err := p.service.Stable.Tools(dialect, r.Tools, func(t model.ToolSpec) any {
			return function{t.Name, t.Description, Schema(t.Schema)}
		})
		var tools wire.Object
		tools.List("functionDeclarations", functions, err)
		raw, err := tools.Bytes()
		out.List("tools", [][]byte{bytes.TrimSpace(raw)}, err)
	}
	out.Fields(p.settings(r))
	return &out
}

func (p *provider) settings(r model.Request) (out settings) {
	g := generationConfig{MaxOutputTokens: r.MaxTokens, Thinking: thinkingOf(r), options: optionsOf(r)}
	if g.MaxOutputTokens == 0 {
		g.MaxOutputTokens = p.quirks.MaxTokens
	}
	if g.MaxOutputTokens != 0 || g.Thinking != nil || r.Options != nil {
		out.GenerationConfig = &g
	}
	if len(r.Tools) > 0 {
		out.ToolConfig = toolConfigOf(r)
	}
	return out
}

// thinkingOf says how long to reason: Gemini 3 takes a level, older models take
// a budget of tokens.
func thinkingOf(r model.Request) *thinkingConfig {
	levels := strings.Contains(r.Model, "gemini-3")
	switch {
	case r.Thinking == model.ThinkingOff && levels:
		return &thinkingConfig{Level: model.ThinkingLow} // it cannot be turned off
	case r.Thinking == model.ThinkingOff:
		none := 0
		return &thinkingConfig{Budget: &none}
	case !r.Thinks():
		return nil
	case levels && r.Thinking == model.ThinkingLow:
		return &thinkingConfig{Include: true, Level: model.ThinkingLow}
	case levels:
		return &thinkingConfig{Include: true, Level: model.ThinkingHigh}
	}
	n := map[string]int{model.ThinkingLow: 2048, model.ThinkingMedium: 8192, model.ThinkingHigh: 24576}[r.Thinking]
	return &thinkingConfig{Include: true, Budget: &n}
}

// contents writes the conversation: each message once, but for those that are put
// in order together with their neighbours.
func contents(msgs []model.Message, sign bool) ([][]byte, error) {
	out := wire.Sides{Parts: "parts"}
	for len(msgs) > 0 {
		role := wire.RoleOf(msgs[0], "model")
		n := 1
		for n < len(msgs) && wire.RoleOf(msgs[n], "model") == role {
			n++
		}
		one := msgs[:n]
		msgs = msgs[n:]
		if slices.ContainsFunc(one, needsTidying) {
			raw, err := wire.Elements(tidy(one, sign))
			if err != nil {
				return nil, err
			}
			out.Add(role, raw)
			continue
		}
		for _, m := range one {
			raw, err := m.Written(dialect, func() ([]byte, error) { return wire.Elements(partsOf(m.Blocks)) })
			if err != nil {
				return nil, err
			}
			out.Add(role, raw)
		}
	}
	return out.Messages(), nil
}

// needsTidying reports messages with calls or results, whose parts tidy changes.
func needsTidying(m model.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.ToolCall != nil || b.ToolResult != nil })
}

// unsigned stands where a call was made by another model: Gemini 3 refuses calls
// without a signature, and this is Google's word for one that has none.
const unsigned = "skip_thought_signature_validator"

// tidy is what neighbours of one role say. It puts results before the pictures that
// belong to them, and gives calls that another model made what the service asks of
// them.
func tidy(msgs []model.Message, sign bool) (parts []part) {
	for _, m := range msgs {
		parts = append(parts, partsOf(m.Blocks)...)
	}
	if slices.ContainsFunc(parts, isResult) {
		slices.SortStableFunc(parts, func(a, b part) int { return rank(a) - rank(b) })
	}
	if i := slices.IndexFunc(parts, func(p part) bool { return p.FunctionCall != nil }); sign && i >= 0 && parts[i].Signature == "" {
		parts[i].Signature = unsigned
	}
	return parts
}

func isResult(p part) bool { return p.FunctionResponse != nil }

func rank(p part) int {
	if isResult(p) {
		return 0
	}
	return 1
}

// partsOf writes blocks. A signature without reasoning belongs to the call
// behind it, or else to the words before it.
func partsOf(blocks []model.Block) (parts []part) {
	pending := ""
	for _, b := range blocks {
		sig, signed := wire.Signed(b, dialect)
		switch {
		case b.ToolCall != nil:
			parts = append(parts, part{FunctionCall: &functionCall{Name: b.ToolCall.Name, Args: b.ToolCall.Arguments}, Signature: pending})
			pending = ""
		case b.ToolResult != nil:
			parts = append(parts, resultParts(b.ToolResult)...)
		case b.Image != nil:
			parts = append(parts, part{InlineData: &inlineData{b.Image.MIME, b.Image.Data}})
		case signed && b.Thinking != "":
			parts = append(parts, part{Text: &b.Thinking, Thought: true, Signature: sig})
		case signed:
			pending = sig
		case b.Text != "":
			parts = append(parts, part{Text: &b.Text})
		}
	}
	if n := len(parts); pending != "" && n > 0 && parts[n-1].Text != nil && parts[n-1].Signature == "" {
		parts[n-1].Signature = pending
	}
	return parts
}

func resultParts(r *model.ToolResult) []part {
	key := "output"
	if r.IsError {
		key = "error"
	}
	parts := []part{{FunctionResponse: &functionResponse{r.Name, map[string]string{key: r.Text}}}}
	for _, i := range r.Images {
		parts = append(parts, part{InlineData: &inlineData{i.MIME, i.Data}})
	}
	return parts
}
