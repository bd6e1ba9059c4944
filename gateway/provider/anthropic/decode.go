package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message *struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	ContentBlock *contentBlock `json:"content_block"`
	Delta        *struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
	Error *struct {
		Type string `json:"type"`
	} `json:"error"`
	// of an answer in one piece
	Content    []contentBlock `json:"content"`
	StopReason string         `json:"stop_reason"`
}

type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type usage struct {
	Input      *wire.Count `json:"input_tokens"`
	Output     *wire.Count `json:"output_tokens"`
	CacheRead  *wire.Count `json:"cache_read_input_tokens"`
	CacheWrite *wire.Count `json:"cache_creation_input_tokens"`
}

// decoder reads one answer.
type decoder struct {
	usage  model.Usage
	blocks map[int]*block // open tool calls by index
	order  []int
	reason bool // a stop reason came

	signature strings.Builder // of the reasoning that is still coming
}

// block is a tool call whose arguments are still coming.
type block struct {
	id, name string
	first    json.RawMessage // input that came with the start
	args     strings.Builder
}

func (d *decoder) Decode(data []byte, a *wire.Answer) (wire.Step, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" { // proxies add it
		return wire.Done, nil
	}
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return 0, errors.New("not a JSON object of the Messages API")
	}
	switch ev.Type {
	case "ping":
		return wire.KeepAlive, nil
	case "error":
		return 0, &wire.Reported{Status: errorStatus(ev), Body: data}
	case "message_stop":
		return wire.Done, nil
	case "message_start":
		if ev.Message != nil {
			d.count(&ev.Message.Usage, a)
		}
	case "content_block_start":
		d.start(ev, a)
	case "content_block_delta":
		d.delta(ev, a)
	case "content_block_stop":
		d.sign(a)
		return wire.Progress, d.close(ev.Index, a)
	case "message":
		return wire.Done, d.whole(ev, a)
	case "message_delta":
		if ev.Delta != nil && ev.Delta.StopReason != "" {
			d.reason = true
			a.Stop(stopReason(ev.Delta.StopReason))
		}
		d.count(ev.Usage, a)
	}
	return wire.Progress, nil
}

func (d *decoder) start(ev event, a *wire.Answer) {
	b := ev.ContentBlock
	if b == nil {
		return
	}
	switch b.Type {
	case "text":
		a.Text(b.Text)
	case "thinking":
		a.Thinking(b.Thinking)
		d.signature.WriteString(b.Signature)
	case "redacted_thinking":
		if b.Data != "" {
			a.Signature(dialect, redacted+b.Data)
		}
	case "tool_use":
		if d.blocks[ev.Index] == nil {
			d.order = append(d.order, ev.Index)
		}
		d.blocks[ev.Index] = &block{id: b.ID, name: b.Name, first: b.Input}
	}
}

func (d *decoder) delta(ev event, a *wire.Answer) {
	if ev.Delta == nil {
		return
	}
	a.Text(ev.Delta.Text)
	a.Thinking(ev.Delta.Thinking)
	d.signature.WriteString(ev.Delta.Signature)
	if b := d.blocks[ev.Index]; b != nil {
		b.args.WriteString(ev.Delta.PartialJSON)
	}
}

// sign ends a piece of reasoning.
func (d *decoder) sign(a *wire.Answer) {
	a.Signature(dialect, d.signature.String())
	d.signature.Reset()
}

// whole reads an answer that came in one piece.
func (d *decoder) whole(ev event, a *wire.Answer) error {
	for i := range ev.Content {
		one := event{Index: i, ContentBlock: &ev.Content[i]}
		d.start(one, a)
		d.sign(a)
		if err := d.close(i, a); err != nil {
			return err
		}
	}
	d.reason = true
	a.Stop(stopReason(ev.StopReason))
	d.count(ev.Usage, a)
	return nil
}

// close gives out the tool call at index, if there is one.
func (d *decoder) close(index int, a *wire.Answer) error {
	b := d.blocks[index]
	if b == nil {
		return nil
	}
	delete(d.blocks, index)
	args := []byte(b.args.String())
	if len(args) == 0 {
		args = b.first
	}
	return a.Call(b.id, b.name, args)
}

// End closes calls whose end was not announced.
func (d *decoder) End(a *wire.Answer, marked bool) (bool, error) {
	if !marked && !d.reason {
		return false, nil
	}
	d.sign(a)
	for _, index := range d.order {
		if err := d.close(index, a); err != nil {
			return true, err
		}
	}
	return true, nil
}

// count keeps the newest of each number: they are totals, and a message_delta
// may repeat only some.
func (d *decoder) count(u *usage, a *wire.Answer) {
	if u == nil {
		return
	}
	for _, c := range []struct {
		from *wire.Count
		to   *int
	}{{u.Input, &d.usage.Input}, {u.Output, &d.usage.Output}, {u.CacheRead, &d.usage.CacheRead}, {u.CacheWrite, &d.usage.CacheWrite}} {
		if c.from != nil {
			*c.to = int(*c.from)
		}
	}
	a.Usage(d.usage)
}

func stopReason(s string) model.StopReason {
	switch s {
	case "max_tokens", "model_context_window_exceeded":
		return model.StopLength
	case "tool_use":
		return model.StopTool
	case "refusal":
		return model.StopRefusal
	}
	return model.StopEnd
}

// errorStatus is the HTTP status that belongs to an error inside a stream.
func errorStatus(ev event) int {
	if ev.Error == nil {
		return 0
	}
	switch ev.Error.Type {
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "invalid_request_error":
		return http.StatusBadRequest
	case "api_error":
		return http.StatusInternalServerError
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return 529
	}
	return 0
}
