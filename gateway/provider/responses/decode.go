package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

type event struct {
	Type     string    `json:"type"`
	Delta    string    `json:"delta"`
	ItemID   string    `json:"item_id"`
	Index    int       `json:"output_index"`
	Item     *output   `json:"item"`
	Response *response `json:"response"`

	// of an answer in one piece
	Object string `json:"object"`
	response
}

type response struct {
	Status     string          `json:"status"`
	Output     []output        `json:"output"`
	Usage      *usage          `json:"usage"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// output is one item of the answer.
type output struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Content   []text `json:"content"`
	Summary   []text `json:"summary"`
}

type text struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type usage struct {
	Input        wire.Count `json:"input_tokens"`
	Output       wire.Count `json:"output_tokens"`
	InputDetails struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

// decoder reads one answer.
type decoder struct {
	calls    map[string]*openCall // by item id
	order    []*openCall
	given    map[string]bool // ids of calls that were given out
	spoke    bool            // words of the item came piece by piece
	thought  bool            // so did its reasoning
	said     bool            // there were words
	reasoned bool            // there was reasoning
	refused  bool
	ended    bool
}

// openCall is a tool call whose arguments are still coming.
type openCall struct {
	id, name string
	args     strings.Builder
}

func (d *decoder) Decode(data []byte, a *wire.Answer) (wire.Step, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" { // proxies add it
		return wire.Done, nil
	}
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return 0, errors.New("not a JSON object of the Responses API")
	}
	if ev.Object == "response" && ev.Type == "" {
		return d.end(&ev.response, a)
	}
	switch ev.Type {
	case "keepalive", "response.created", "response.queued", "response.in_progress":
		return wire.KeepAlive, nil
	case "error":
		return 0, &wire.Reported{Body: data}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		if ev.Response == nil {
			ev.Response = &response{}
		}
		return d.end(ev.Response, a)
	case "response.output_text.delta":
		d.spoke = true
		a.Text(ev.Delta)
	case "response.refusal.delta":
		d.refused, d.spoke = true, true
		a.Text(ev.Delta)
	case "response.reasoning_summary_part.added":
		if d.thought {
			a.Thinking("\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.thought = true
		a.Thinking(ev.Delta)
	case "response.output_item.added":
		d.open(ev.Item)
	case "response.function_call_arguments.delta":
		if c := d.calls[ev.ItemID]; c != nil {
			c.args.WriteString(ev.Delta)
		}
	case "response.output_item.done":
		if ev.Item != nil {
			return wire.Progress, d.item(ev.Item, a)
		}
	}
	return wire.Progress, nil
}

func (d *decoder) open(it *output) {
	if it == nil || it.Type != "function_call" || d.calls[it.ID] != nil {
		return
	}
	c := &openCall{id: it.CallID, name: it.Name}
	d.calls[it.ID] = c
	d.order = append(d.order, c)
}

// item takes one whole item. Words and reasoning that came piece by piece are
// not said again.
func (d *decoder) item(it *output, a *wire.Answer) error {
	switch it.Type {
	case "message":
		for _, t := range it.Content {
			d.refused = d.refused || t.Refusal != ""
			if !d.spoke {
				a.Text(t.Text + t.Refusal)
			}
		}
		d.spoke, d.said = false, true
	case "reasoning":
		if !d.thought {
			a.Thinking(join(it.Summary))
		}
		d.thought, d.reasoned = false, true
		if it.Encrypted != "" {
			payload, err := json.Marshal(sealed{it.ID, it.Encrypted})
			if err != nil {
				return err
			}
			a.Signature(dialect, string(payload))
		}
	case "function_call":
		if d.given[it.CallID] {
			return nil
		}
		d.given[it.CallID] = true
		args := it.Arguments
		if c := d.calls[it.ID]; c != nil {
			if args == "" {
				args = c.args.String()
			}
			c.name = "" // given out
		}
		return a.Call(it.CallID, it.Name, []byte(args))
	}
	return nil
}

func join(parts []text) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n\n")
}

// end takes the whole answer, which repeats what came before.
func (d *decoder) end(r *response, a *wire.Answer) (wire.Step, error) {
	if len(r.Error) > 0 && string(r.Error) != "null" {
		return 0, &wire.Reported{Body: []byte(`{"error":` + string(r.Error) + `}`)}
	}
	if r.Status == "failed" || r.Status == "cancelled" {
		return 0, &wire.Reported{Body: []byte(`{"error":"the service ended the answer as ` + r.Status + `"}`)}
	}
	if u := r.Usage; u != nil {
		cached := min(u.InputDetails.Cached, u.Input)
		a.Usage(model.Usage{Input: int(u.Input - cached), Output: int(u.Output), CacheRead: int(cached)})
	}
	stop := model.StopEnd
	if d.refused {
		stop = model.StopRefusal
	}
	if r.Incomplete != nil || r.Status == "incomplete" {
		stop = model.StopLength
		if r.Incomplete != nil && r.Incomplete.Reason == "content_filter" {
			stop = model.StopRefusal
		}
	}
	a.Stop(stop)
	said, reasoned := d.said || d.spoke, d.reasoned || d.thought
	for i := range r.Output {
		it := &r.Output[i]
		if it.Type == "message" && said || it.Type == "reasoning" && reasoned {
			continue
		}
		if err := d.item(it, a); err != nil {
			return 0, err
		}
	}
	d.ended = true
	return wire.Done, nil
}

// End gives out calls that were begun and never closed, which are complete only
// if the answer is.
func (d *decoder) End(a *wire.Answer, marked bool) (bool, error) {
	if !marked {
		return d.ended, nil
	}
	for _, c := range d.order {
		if c.name == "" || d.given[c.id] {
			continue
		}
		if err := a.Call(c.id, c.name, []byte(c.args.String())); err != nil {
			return true, err
		}
	}
	return true, nil
}
