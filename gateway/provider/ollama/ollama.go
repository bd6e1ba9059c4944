// Package ollama speaks Ollama's own chat dialect, which, unlike its
// OpenAI-compatible one, lets the caller choose the context window. It owns how
// a request is written and how the streamed answer is read; everything about
// the connection is in wire.
package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// Quirks are what differs between models.
type Quirks struct {
	ContextWindow int    // asked of the server; 0 = whatever it uses, which may be little
	MaxTokens     int    // sent when the request names none; 0 = not sent
	KeepAlive     string // how long the model stays loaded, for example "15m"; "" = as the server likes
	// Window, when set, is told how many tokens of context the server really gave
	// the model, after an answer.
	Window func(model string, tokens int)
}

// New returns a provider for one server. The base address is everything before
// /api/chat; one that ends with /v1 works too.
func New(s wire.Service, q Quirks) model.Provider {
	s.BaseURL = strings.TrimSuffix(strings.TrimRight(s.BaseURL, "/"), "/v1")
	return &provider{s, q}
}

type provider struct {
	service wire.Service
	quirks  Quirks
}

func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	answer := p.service.Stream(ctx, wire.Dialect{
		Stream:   wire.NDJSON,
		Ask:      func(r model.Request) (string, any) { return "/api/chat", p.ask(r) },
		Header:   wire.Bearer,
		Decoding: func() wire.Decoder { return &decoder{} },
	}, req)
	if p.quirks.Window == nil {
		return answer
	}
	return func(yield func(model.Event, error) bool) {
		for ev, err := range answer {
			if ev.Kind == model.EventStop { // the model is loaded now, and stays so
				p.verify(ctx, req.Model)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// verify asks which context window the server really gave the model. A server
// that does not say is believed.
func (p *provider) verify(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	key := ""
	if p.service.Key != nil {
		key = p.service.Key()
	}
	loaded, err := Server{BaseURL: p.service.BaseURL, Key: key, HTTP: p.service.HTTP}.Loaded(ctx)
	if err != nil {
		return
	}
	for _, m := range loaded {
		if strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(id, ":latest") && m.ContextLength > 0 {
			p.quirks.Window(id, m.ContextLength)
		}
	}
}

// verifyTime is the longest that a check of the window may hold up the end of an
// answer: all words are there by then.
const verifyTime = 500 * time.Millisecond

// dialect names how messages and tools are written here.
const dialect = "ollama"

// settings are the fields of a request behind the conversation and the tools.
type settings struct {
	Stream  bool     `json:"stream"`
	Options *options `json:"options,omitempty"`
	Think   *bool    `json:"think,omitempty"`
	Format  any      `json:"format,omitempty"` // "json", or a schema

	KeepAlive string `json:"keep_alive,omitempty"`
}

type options struct {
	NumCtx     int `json:"num_ctx,omitempty"`
	NumPredict int `json:"num_predict,omitempty"`
	wire.Sampling
}

// formatOf is the form that a program wants. A server that keeps to it lets the
// model call no tools, so beside tools it is left to the words of the prompt.
func formatOf(r model.Request) any {
	f := r.Asked().Format
	switch {
	case f == nil || len(r.Tools) > 0:
		return nil
	case f.Schema == nil:
		return "json"
	}
	return f.Schema
}

type message struct {
	Role      string   `json:"role"`
	Content   string   `json:"content"`
	Thinking  string   `json:"thinking,omitempty"`
	Images    [][]byte `json:"images,omitempty"` // base64 in JSON
	ToolCalls []call   `json:"tool_calls,omitempty"`
	ToolName  string   `json:"tool_name,omitempty"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
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
		tools, err := p.service.Stable.Tools(dialect, r.Tools, func(t model.ToolSpec) any {
			return tool{Type: "function", Function: toolFunction{t.Name, t.Description, t.Schema}}
		})
		out.List("tools", tools, err)
	}
	out.Fields(p.settings(r))
	return &out
}

func (p *provider) settings(r model.Request) settings {
	out := settings{Stream: !p.service.Whole, KeepAlive: p.quirks.KeepAlive}
	o := options{NumCtx: p.quirks.ContextWindow, NumPredict: r.MaxTokens, Sampling: wire.SamplingOf(r.Asked())}
	if o.NumPredict == 0 {
		o.NumPredict = p.quirks.MaxTokens
	}
	if o.NumCtx != 0 || o.NumPredict != 0 || r.Options != nil {
		out.Options = &o
	}
	out.Format = formatOf(r)
	if think := r.Thinks(); think || r.Thinking == model.ThinkingOff {
		out.Think = &think
	}
	return out
}

// messages writes the conversation, each message once.
func (p *provider) messages(r model.Request) (out [][]byte, err error) {
	if r.System != "" {
		raw, err := p.service.Stable.Text(dialect, r.System, func(text string) any { return message{Role: "system", Content: text} })
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	for _, m := range r.Messages {
		raw, err := m.Written(dialect, func() ([]byte, error) {
			if msg, ok := messageOf(m); ok {
				return wire.JSON(msg)
			}
			return []byte{}, nil
		})
		if err != nil {
			return nil, err
		}
		if len(raw) > 0 {
			out = append(out, raw)
		}
	}
	return out, nil
}

// messageOf writes one message; ok is false for one of nothing but reasoning,
// which is sent back only with the tool calls that came of it.
func messageOf(m model.Message) (out message, ok bool) {
	if m.Role == model.RoleTool {
		r := m.Blocks[0].ToolResult
		out = message{Role: "tool", Content: r.Text, ToolName: r.Name}
		for _, i := range r.Images {
			out.Images = append(out.Images, i.Data)
		}
		return out, true
	}
	out = message{Role: string(m.Role), Content: wire.Text(m)}
	thought := ""
	for _, b := range m.Blocks {
		switch {
		case b.ToolCall != nil:
			c := call{}
			c.Function.Name, c.Function.Arguments = b.ToolCall.Name, b.ToolCall.Arguments
			out.ToolCalls = append(out.ToolCalls, c)
		case b.Image != nil:
			out.Images = append(out.Images, b.Image.Data)
		case b.Signature == "":
			thought += b.Thinking
		}
	}
	if len(out.ToolCalls) > 0 {
		out.Thinking = thought
	}
	return out, out.Content != "" || len(out.Images) > 0 || len(out.ToolCalls) > 0
}

type line struct {
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []call `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     wire.Count      `json:"prompt_eval_count"`
	Eval       wire.Count      `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// decoder reads one answer.
type decoder struct{ done bool }

func (d *decoder) Decode(data []byte, a *wire.Answer) (wire.Step, error) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return 0, errors.New("not a JSON object of Ollama")
	}
	if len(l.Error) > 0 && string(l.Error) != "null" {
		return 0, &wire.Reported{Body: data}
	}
	a.Thinking(l.Message.Thinking)
	a.Content(l.Message.Content)
	for _, c := range l.Message.ToolCalls {
		if err := a.Call(c.ID, c.Function.Name, c.Function.Arguments); err != nil {
			return 0, err
		}
	}
	if !l.Done {
		return wire.Progress, nil
	}
	d.done = true
	a.Usage(model.Usage{Input: int(l.Prompt), Output: int(l.Eval)})
	a.Stop(model.StopEnd)
	if l.DoneReason == "length" {
		a.Stop(model.StopLength)
	}
	return wire.Done, nil
}

// End has nothing to close: calls come whole.
func (d *decoder) End(*wire.Answer, bool) (bool, error) { return d.done, nil }
