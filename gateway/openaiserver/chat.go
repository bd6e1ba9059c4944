package openaiserver

import (
	"net/http"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// chat serves POST /v1/chat/completions.
func (h *Handler) chat(w http.ResponseWriter, r *http.Request, v *visit) error {
	var raw chatRequest
	if err := h.read(w, r, &raw); err != nil {
		return err
	}
	req, err := parseChat(&raw)
	if err != nil {
		return err
	}
	a, err := h.begin(r, v, req)
	if err != nil {
		return err
	}
	c := &chatReply{stream: newStream(w, h.limits.Write), ask: a, created: h.Now().Unix()}
	if !req.Stream {
		res, err := a.follow(nowhere{})
		if err != nil {
			return err
		}
		return c.stream.whole(c.answer(res))
	}
	res, err := a.follow(c)
	return c.finish(res, err)
}

// nowhere is for answers that are sent whole.
type nowhere struct{}

func (nowhere) say(string) error { return nil }
func (nowhere) idle() error      { return nil }

// chatReply writes an answer in the form of chat completions.
type chatReply struct {
	stream  *stream
	ask     *ask
	created int64
	begun   bool
}

type usageJSON struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func usageOf(u model.Usage) usageJSON {
	out := usageJSON{Prompt: u.Input + u.CacheRead + u.CacheWrite, Completion: u.Output}
	out.Total, out.Details.Cached = out.Prompt+out.Completion, u.CacheRead
	return out
}

func finishReason(s model.StopReason, calls int) string {
	switch {
	case calls > 0:
		return "tool_calls"
	case s == model.StopLength:
		return "length"
	case s == model.StopRefusal:
		return "content_filter"
	}
	return "stop"
}

func callsJSON(calls []Call, indexed bool) []map[string]any {
	out := make([]map[string]any, len(calls))
	for i, c := range calls {
		out[i] = map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}}
		if indexed {
			out[i]["index"] = i
		}
	}
	return out
}

// modelName is what the answer says about who made it: what was asked for.
func (a *ask) modelName() string {
	if a.req.Model == "" {
		return defaultModel
	}
	return a.req.Model
}

// answer is the whole answer at once.
func (c *chatReply) answer(res result) map[string]any {
	msg := map[string]any{"role": "assistant", "content": res.text, "refusal": nil}
	if len(res.calls) > 0 {
		msg["tool_calls"] = callsJSON(res.calls, false)
		if res.text == "" {
			msg["content"] = nil
		}
	}
	return map[string]any{
		"id": "chatcmpl-" + c.ask.id, "object": "chat.completion", "created": c.created, "model": c.ask.modelName(),
		"choices": []any{map[string]any{"index": 0, "message": msg, "logprobs": nil, "finish_reason": finishReason(res.stop, len(res.calls))}},
		"usage":   usageOf(res.usage), "system_fingerprint": nil,
	}
}

func (c *chatReply) chunk(choices []any) map[string]any {
	out := map[string]any{"id": "chatcmpl-" + c.ask.id, "object": "chat.completion.chunk", "created": c.created, "model": c.ask.modelName(),
		"choices": choices}
	if c.ask.req.Usage {
		out["usage"] = nil
	}
	return out
}

func (c *chatReply) delta(delta map[string]any, finish any) error {
	return c.stream.data(c.chunk([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}))
}

func (c *chatReply) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	return c.delta(map[string]any{"role": "assistant", "content": ""}, nil)
}

func (c *chatReply) say(words string) error {
	if err := c.begin(); err != nil {
		return err
	}
	return c.delta(map[string]any{"content": words}, nil)
}

func (c *chatReply) idle() error { return c.stream.comment() }

// finish ends the stream. What goes wrong before it began is an answer with a
// status of its own.
func (c *chatReply) finish(res result, err error) error {
	if err != nil {
		if !c.stream.begun {
			return err
		}
		_ = c.stream.data(asError(err).body()) // whoever has left does not read it
		return nil
	}
	_ = c.begin()
	if len(res.calls) > 0 {
		_ = c.delta(map[string]any{"tool_calls": callsJSON(res.calls, true)}, nil)
	}
	_ = c.delta(map[string]any{}, finishReason(res.stop, len(res.calls)))
	if c.ask.req.Usage {
		last := c.chunk([]any{})
		last["usage"] = usageOf(res.usage)
		_ = c.stream.data(last)
	}
	return c.stream.done()
}
