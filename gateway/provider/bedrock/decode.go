package bedrock

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// event is one record; one of its fields is set. Output, StopReason and Usage
// are of an answer in one piece.
type event struct {
	Start *struct {
		Index int `json:"contentBlockIndex"`
		Start struct {
			ToolUse *toolUse `json:"toolUse"`
		} `json:"start"`
	} `json:"contentBlockStart"`
	Delta *struct {
		Index int `json:"contentBlockIndex"`
		Delta struct {
			Text    string `json:"text"`
			ToolUse struct {
				Input string `json:"input"`
			} `json:"toolUse"`
			Reasoning struct {
				Text      string `json:"text"`
				Signature string `json:"signature"`
				Redacted  string `json:"redactedContent"`
			} `json:"reasoningContent"`
		} `json:"delta"`
	} `json:"contentBlockDelta"`
	Stop *struct {
		Index int `json:"contentBlockIndex"`
	} `json:"contentBlockStop"`
	MessageStop *struct {
		Reason string `json:"stopReason"`
	} `json:"messageStop"`
	Metadata *struct {
		Usage usage `json:"usage"`
	} `json:"metadata"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`

	Output *struct {
		Message message `json:"message"`
	} `json:"output"`
	StopReason string `json:"stopReason"`
	Usage      usage  `json:"usage"`
}

type usage struct {
	Input      wire.Count `json:"inputTokens"`
	Output     wire.Count `json:"outputTokens"`
	CacheRead  wire.Count `json:"cacheReadInputTokens"`
	CacheWrite wire.Count `json:"cacheWriteInputTokens"`
}

func (u usage) tokens() model.Usage {
	return model.Usage{Input: int(u.Input), Output: int(u.Output), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite)}
}

// decoder reads one answer.
type decoder struct {
	blocks    map[int]*block // open tool calls by index
	order     []int
	stopped   bool
	signature strings.Builder // of the reasoning that is still coming
	hidden    strings.Builder // reasoning that the service keeps to itself
}

type block struct {
	id, name string
	args     strings.Builder
}

func (d *decoder) Decode(data []byte, a *wire.Answer) (wire.Step, error) {
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return 0, errors.New("not a JSON object of Bedrock")
	}
	switch {
	case ev.Error != nil:
		return 0, &wire.Reported{Status: statusOf(ev.Error.Code), Body: data}
	case ev.Output != nil:
		return wire.Done, d.whole(ev, a)
	case ev.Start != nil && ev.Start.Start.ToolUse != nil:
		if d.blocks[ev.Start.Index] == nil {
			d.order = append(d.order, ev.Start.Index)
		}
		d.blocks[ev.Start.Index] = &block{id: ev.Start.Start.ToolUse.ID, name: ev.Start.Start.ToolUse.Name}
	case ev.Delta != nil:
		x := ev.Delta.Delta
		a.Content(x.Text)
		a.Thinking(x.Reasoning.Text)
		d.signature.WriteString(x.Reasoning.Signature)
		d.hidden.WriteString(x.Reasoning.Redacted)
		if b := d.blocks[ev.Delta.Index]; b != nil {
			b.args.WriteString(x.ToolUse.Input)
		}
	case ev.Stop != nil:
		d.sign(a)
		return wire.Progress, d.close(ev.Stop.Index, a)
	case ev.MessageStop != nil:
		d.stopped = true
		return wire.Progress, stop(ev.MessageStop.Reason, a)
	case ev.Metadata != nil:
		a.Usage(ev.Metadata.Usage.tokens())
	}
	return wire.Progress, nil
}

// sign ends a piece of reasoning.
func (d *decoder) sign(a *wire.Answer) {
	a.Signature(dialect, d.signature.String())
	if d.hidden.Len() > 0 {
		a.Signature(dialect, redacted+d.hidden.String())
	}
	d.signature.Reset()
	d.hidden.Reset()
}

// close gives out the tool call at index, if there is one.
func (d *decoder) close(index int, a *wire.Answer) error {
	b := d.blocks[index]
	if b == nil {
		return nil
	}
	delete(d.blocks, index)
	return a.Call(b.id, b.name, []byte(b.args.String()))
}

func (d *decoder) whole(ev event, a *wire.Answer) error {
	for _, p := range ev.Output.Message.Content {
		switch {
		case p.ToolUse != nil:
			if err := a.Call(p.ToolUse.ID, p.ToolUse.Name, p.ToolUse.Input); err != nil {
				return err
			}
		case p.Reasoning != nil && p.Reasoning.Text != nil:
			a.Thinking(p.Reasoning.Text.Text)
			a.Signature(dialect, p.Reasoning.Text.Signature)
		case p.Reasoning != nil && p.Reasoning.Redacted != "":
			a.Signature(dialect, redacted+p.Reasoning.Redacted)
		case p.Text != nil:
			a.Content(*p.Text)
		}
	}
	d.stopped = true
	a.Usage(ev.Usage.tokens())
	return stop(ev.StopReason, a)
}

// stop takes the reason of the end.
func stop(reason string, a *wire.Answer) error {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		a.Stop(model.StopLength)
	case "guardrail_intervened", "content_filtered":
		a.Stop(model.StopRefusal)
	case "tool_use":
		a.Stop(model.StopTool)
	case "malformed_model_output", "malformed_tool_use":
		return &model.Error{Class: model.ClassMalformed, Detail: "the model wrote something that the service cannot read (" + reason + ")"}
	default:
		a.Stop(model.StopEnd)
	}
	return nil
}

// End closes calls whose end was not announced. The stream of this dialect has
// no end mark but a reason.
func (d *decoder) End(a *wire.Answer, marked bool) (bool, error) {
	if !marked && !d.stopped {
		return false, nil
	}
	d.sign(a)
	for _, i := range d.order {
		if err := d.close(i, a); err != nil {
			return true, err
		}
	}
	return true, nil
}

// statusOf is the HTTP status that belongs to a failure inside a stream.
func statusOf(code string) int {
	switch strings.ToLower(code) {
	case "throttlingexception":
		return http.StatusTooManyRequests
	case "validationexception":
		return http.StatusBadRequest
	case "accessdeniedexception":
		return http.StatusForbidden
	case "serviceunavailableexception", "modelnotreadyexception":
		return http.StatusServiceUnavailable
	case "modeltimeoutexception":
		return http.StatusGatewayTimeout
	case "internalserverexception", "modelstreamerrorexception":
		return http.StatusInternalServerError
	}
	return 0
}
