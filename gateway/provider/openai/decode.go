package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Delta        delta           `json:"delta"`
	Message      *delta          `json:"message"` // in place of Delta, of an answer in one piece
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // routers put the failure of the service behind them here
}

type delta struct {
	Content          content     `json:"content"`
	Refusal          content     `json:"refusal"`
	ReasoningContent content     `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
	Reasoning        content     `json:"reasoning"`         // OpenRouter, Groq
	ToolCalls        []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens     wire.Count `json:"prompt_tokens"`
	CompletionTokens wire.Count `json:"completion_tokens"`
	Details          *struct {
		CachedTokens wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// content is text, null, or a list of typed parts.
type content struct{ text, thinking string }

func (c *content) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 1 && b[0] == '"' && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b):
		c.text = string(b[1 : len(b)-1]) // as most are, many times a second
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &c.text)
	case len(b) > 0 && b[0] == '[':
		var parts []struct {
			Text     string  `json:"text"`
			Thinking content `json:"thinking"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			c.text += p.Text
			c.thinking += p.Thinking.text
		}
	}
	return nil
}

// arguments is a piece of a JSON text; some servers send the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(a))
	}
	if string(b) != "null" {
		*a = arguments(b)
	}
	return nil
}

// decoder reads one answer.
type decoder struct {
	calls    []*openCall
	finished bool
	refused  bool
}

// openCall is a tool call whose arguments are still coming.
type openCall struct {
	index    int
	id, name string
	args     strings.Builder
}

func (d *decoder) Decode(data []byte, a *wire.Answer) (wire.Step, error) {
	switch data = bytes.TrimSpace(data); string(data) {
	case "[DONE]":
		return wire.Done, nil
	case "":
		return wire.KeepAlive, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if d.finished {
			return wire.Done, nil // garbage behind a whole answer
		}
		return 0, errors.New("not a JSON object of Chat Completions")
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return 0, &wire.Reported{Body: data}
	}
	step := wire.Progress
	for _, ch := range c.Choices {
		if len(ch.Error) > 0 && string(ch.Error) != "null" {
			return 0, &wire.Reported{Body: []byte(`{"error":` + string(ch.Error) + `}`)}
		}
		if ch.FinishReason == "error" {
			return 0, &wire.Reported{Body: []byte(`{"error":"the service behind the router failed"}`)}
		}
		if ch.Message != nil {
			ch.Delta, step = *ch.Message, wire.Done
			for i := range ch.Delta.ToolCalls {
				ch.Delta.ToolCalls[i].Index = &i
			}
		}
		d.choice(ch, a)
	}
	if c.Usage != nil {
		a.Usage(c.Usage.tokens())
	}
	return step, nil
}

func (u *usage) tokens() model.Usage {
	t := model.Usage{Input: int(u.PromptTokens), Output: int(u.CompletionTokens)}
	if u.Details != nil {
		t.CacheRead = min(int(u.Details.CachedTokens), t.Input)
		t.Input -= t.CacheRead
	}
	return t
}

func (d *decoder) choice(ch choice, a *wire.Answer) {
	if r := ch.Delta.ReasoningContent.text; r != "" {
		a.Thinking(r)
	} else {
		a.Thinking(ch.Delta.Reasoning.text)
	}
	a.Thinking(ch.Delta.Content.thinking)
	a.Content(ch.Delta.Content.text)
	if r := ch.Delta.Refusal.text; r != "" {
		d.refused = true
		a.Text(r)
	}
	for _, tc := range ch.Delta.ToolCalls {
		d.addCall(tc)
	}
	if ch.FinishReason != "" {
		d.finished = true
		a.Stop(d.stopReason(ch.FinishReason))
	}
}

func (d *decoder) stopReason(s string) model.StopReason {
	switch s {
	case "length", "max_tokens", "model_length":
		return model.StopLength
	case "content_filter":
		return model.StopRefusal
	case "tool_calls", "function_call":
		return model.StopTool
	}
	if d.refused {
		return model.StopRefusal
	}
	return model.StopEnd
}

// addCall adds a piece to the call it belongs to. Pieces are told apart by
// index; a new id at a known index begins another call, because some servers
// number all calls 0; without an index, pieces belong to the last call.
func (d *decoder) addCall(tc callDelta) {
	var c *openCall
	for i := len(d.calls) - 1; i >= 0 && c == nil; i-- {
		if tc.Index == nil || d.calls[i].index == *tc.Index {
			c = d.calls[i]
		}
	}
	if c == nil || (tc.ID != "" && c.id != "" && tc.ID != c.id) {
		c = &openCall{index: len(d.calls)}
		if tc.Index != nil {
			c.index = *tc.Index
		}
		d.calls = append(d.calls, c)
	}
	if c.id == "" {
		c.id = tc.ID
	}
	if c.name == "" {
		c.name = tc.Function.Name
	}
	c.args.WriteString(string(tc.Function.Arguments))
}

// End gives out the tool calls: only now is it known that they are complete.
func (d *decoder) End(a *wire.Answer, marked bool) (bool, error) {
	if !marked && !d.finished {
		return false, nil
	}
	calls := d.calls
	d.calls = nil
	for _, c := range calls {
		if err := a.Call(c.id, c.name, []byte(c.args.String())); err != nil {
			return true, err
		}
	}
	return true, nil
}
