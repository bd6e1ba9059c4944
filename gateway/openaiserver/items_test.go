package openaiserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/pairing"
)

// A program that believes that its answers are kept sends references to them, as
// the AI SDK does with OpenAI's own provider: the conversation goes on with what
// they stand for. References of others, and ones that nobody knows, are left out.
func TestReferencesToEarlierItems(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	respond := func(token pairing.ClientScope, input ...string) (id, text string) {
		t.Helper()
		status, raw, _ := w.do("POST", "/v1/responses", `{"input":[`+strings.Join(input, ",")+`]}`, "Authorization", "Bearer "+w.tokens[token])
		var res struct {
			Output []struct {
				ID      string
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(raw), &res); err != nil || status != 200 {
			t.Fatalf("%d %s", status, raw)
		}
		return res.Output[0].ID, res.Output[0].Content[0].Text
	}
	say := func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
	id, answer := respond(pairing.ClientChat, say("first"))
	key := w.lastAsk().Key
	refer := fmt.Sprintf(`{"type":"item_reference","id":%q}`, id)
	respond(pairing.ClientChat, say("first"), refer, say("second"))
	if a := w.lastAsk(); a.Key != key || a.Text != "second" || len(a.Past) != 2 || a.Past[1].Text != answer || a.Past[1].Role != Assistant {
		t.Errorf("%+v", a)
	}
	respond(pairing.ClientOwner, say("first"), refer, say("second"))
	if a := w.lastAsk(); a.Key == key || strings.Contains(fmt.Sprint(a.Past), answer) {
		t.Errorf("another program read the answer: %+v", a)
	}
	respond(pairing.ClientChat, say("again"), `{"type":"item_reference","id":"msg_api-unknown"}`, say("and again"))
}

// Calls of tools are referred to as well, and what is remembered is bounded.
func TestReferencesToCallsAndBounds(t *testing.T) {
	s := newItems()
	s.put("c", "fc_1", Message{Role: Assistant, Calls: []Call{{ID: "call_1", Name: "look"}}})
	s.put("c", "msg_1", Message{Role: Assistant, Text: "Let me see."})
	r := &Request{}
	for _, id := range []string{"msg_1", "fc_1", "fc_2"} {
		r.refer(id, func(id string) (Message, bool) { return s.get("c", id) })
	}
	if len(r.Messages) != 1 || r.Messages[0].Text != "Let me see." || len(r.Messages[0].Calls) != 1 {
		t.Errorf("%+v", r.Messages)
	}
	for i := range 3 * maxItems {
		s.put("c", fmt.Sprint(i), Message{Text: strings.Repeat("x", 10<<10)})
	}
	if s.bytes > maxItemBytes || len(s.by) != s.order.Len() || len(s.by) > maxItems {
		t.Errorf("%d bytes in %d of %d", s.bytes, len(s.by), s.order.Len())
	}
}
