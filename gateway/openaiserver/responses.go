package openaiserver

import (
	"maps"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// responses serves POST /v1/responses.
func (h *Handler) responses(w http.ResponseWriter, r *http.Request, v *visit) error {
	var raw responsesRequest
	if err := h.read(w, r, &raw); err != nil {
		return err
	}
	req, err := parseResponses(&raw, func(id string) (Message, bool) { return h.items.get(v.client.ID, id) })
	if err != nil {
		return err
	}
	a, err := h.begin(r, v, req)
	if err != nil {
		return ofInput(err)
	}
	p := &responseReply{stream: newStream(w, h.limits.Write), ask: a, created: h.Now().Unix()}
	if !req.Stream {
		res, err := a.follow(nowhere{})
		if err != nil {
			return err
		}
		p.said.WriteString(res.text)
		p.keep(res)
		return p.stream.whole(p.response(statusOf(res), p.output(res), &res, nil))
	}
	res, err := a.follow(p)
	return p.finish(res, err)
}

// responseReply writes an answer in the form of responses.
type responseReply struct {
	stream  *stream
	ask     *ask
	created int64
	seq     int
	opened  bool // the message is open
	said    strings.Builder
}

type fields map[string]any

func (p *responseReply) id() string        { return "resp_" + p.ask.id }
func (p *responseReply) messageID() string { return "msg_" + p.ask.id }

// cutBy says what cut an answer short; "" when nothing did.
func cutBy(res result) string {
	switch {
	case len(res.calls) > 0:
	case res.stop == model.StopLength:
		return "max_output_tokens"
	case res.stop == model.StopRefusal:
		return "content_filter"
	}
	return ""
}

func statusOf(res result) string {
	if cutBy(res) != "" {
		return "incomplete"
	}
	return "completed"
}

// response is the object that stands for the whole answer.
func (p *responseReply) response(status string, output []any, res *result, failure *Error) fields {
	out := fields{
		"id": p.id(), "object": "response", "created_at": p.created, "status": status, "background": false, "error": nil,
		"incomplete_details": nil,
		"model":              p.ask.modelName(), "output": output, "parallel_tool_calls": true,
		"previous_response_id": nil, "reasoning": fields{"effort": nil, "summary": nil}, "store": true, "truncation": "disabled", "usage": nil,
		"user": nil, "metadata": fields{},
	}
	maps.Copy(out, p.ask.req.Echo)
	if prev := p.ask.req.Previous; prev != "" {
		out["previous_response_id"] = prev
	}
	if failure != nil {
		code := failure.Code
		if code == "" {
			code = "server_error"
		}
		out["error"] = fields{"code": code, "message": failure.Text}
	}
	if res != nil {
		if cut := cutBy(*res); cut != "" {
			out["incomplete_details"] = fields{"reason": cut}
		}
		u := usageOf(res.usage)
		out["usage"] = fields{
			"input_tokens": u.Prompt, "input_tokens_details": fields{"cached_tokens": u.Details.Cached},
			"output_tokens": u.Completion, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": u.Total,
		}
	}
	return out
}

func textPart(text string) fields {
	return fields{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func (p *responseReply) message(status string, parts ...any) fields {
	if parts == nil {
		parts = []any{}
	}
	return fields{"id": p.messageID(), "type": "message", "status": status, "role": "assistant", "content": parts}
}

func (p *responseReply) call(i int, c Call, status, args string) fields {
	return fields{"id": p.callItem(i), "type": "function_call", "status": status, "call_id": c.ID, "name": c.Name, "arguments": args}
}

// output is everything that was said and asked for.
func (p *responseReply) output(res result) []any {
	out := []any{}
	if p.said.Len() > 0 || len(res.calls) == 0 {
		out = append(out, p.message(statusOf(res), textPart(p.said.String())))
	}
	for i, c := range res.calls {
		out = append(out, p.call(i, c, "completed", c.Arguments))
	}
	return out
}

// send writes an event with its place in the stream.
func (p *responseReply) send(kind string, more fields) error {
	more["type"], more["sequence_number"] = kind, p.seq
	p.seq++
	return p.stream.event(kind, more)
}

func (p *responseReply) begin() error {
	if p.stream.begun {
		return nil
	}
	if err := p.send("response.created", fields{"response": p.response("in_progress", []any{}, nil, nil)}); err != nil {
		return err
	}
	return p.send("response.in_progress", fields{"response": p.response("in_progress", []any{}, nil, nil)})
}

func (p *responseReply) say(words string) error {
	if err := p.begin(); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	p.said.WriteString(words)
	return p.send("response.output_text.delta", fields{"item_id": p.messageID(), "output_index": 0, "content_index": 0, "delta": words,
		"logprobs": []any{}})
}

func (p *responseReply) idle() error {
	if err := p.begin(); err != nil {
		return err
	}
	return p.stream.comment()
}

// open begins the message.
func (p *responseReply) open() error {
	if p.opened {
		return nil
	}
	p.opened = true
	if err := p.send("response.output_item.added", fields{"output_index": 0, "item": p.message("in_progress")}); err != nil {
		return err
	}
	return p.send("response.content_part.added", fields{"item_id": p.messageID(), "output_index": 0, "content_index": 0, "part": textPart("")})
}

// shut ends the message.
func (p *responseReply) shut(status string) {
	if !p.opened {
		return
	}
	at := func(more fields) fields {
		more["item_id"], more["output_index"], more["content_index"] = p.messageID(), 0, 0
		return more
	}
	whole := p.said.String()
	_ = p.send("response.output_text.done", at(fields{"text": whole, "logprobs": []any{}}))
	_ = p.send("response.content_part.done", at(fields{"part": textPart(whole)}))
	_ = p.send("response.output_item.done", fields{"output_index": 0, "item": p.message(status, textPart(whole))})
}

// finish ends the stream; whoever has left does not read it.
func (p *responseReply) finish(res result, err error) error {
	if err != nil {
		if !p.stream.begun {
			return err
		}
		_ = p.send("response.failed", fields{"response": p.response("failed", []any{}, nil, asError(err))})
		return nil
	}
	p.keep(res)
	_ = p.begin()
	if len(res.calls) == 0 {
		_ = p.open()
	}
	status := statusOf(res)
	p.shut(status)
	base := 0
	if p.opened {
		base = 1
	}
	for i, c := range res.calls {
		begun := p.call(i, c, "in_progress", "")
		_ = p.send("response.output_item.added", fields{"output_index": base + i, "item": begun})
		_ = p.send("response.function_call_arguments.delta", fields{"item_id": begun["id"], "output_index": base + i, "delta": c.Arguments})
		_ = p.send("response.function_call_arguments.done", fields{"item_id": begun["id"], "output_index": base + i, "name": c.Name,
			"arguments": c.Arguments})
		_ = p.send("response.output_item.done", fields{"output_index": base + i, "item": p.call(i, c, "completed", c.Arguments)})
	}
	_ = p.send("response."+status, fields{"response": p.response(status, p.output(res), &res, nil)})
	return nil
}
