package openaiserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

const tools = `,"tools":[{"type":"function","function":{"name":"look"}},{"type":"function","function":{"name":"listen"}}]`

// completion is what we read of an answer.
type completion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content   *string    `json:"content"`
			ToolCalls []chatCall `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
}

func completionOf(t *testing.T, raw string) (text string, calls []chatCall) {
	t.Helper()
	var c completion
	if err := json.Unmarshal([]byte(raw), &c); err != nil || len(c.Choices) != 1 {
		t.Fatalf("%v: %s", err, raw)
	}
	m := c.Choices[0].Message
	if m.Content != nil {
		text = *m.Content
	}
	if (c.Choices[0].FinishReason == "tool_calls") != (len(m.ToolCalls) > 0) {
		t.Errorf("%s", raw)
	}
	return text, m.ToolCalls
}

// looking calls tools and tells what came of them.
func looking(names ...string) func(*world, Ask) {
	return func(w *world, a Ask) {
		w.h.Say(a.RunID, "Let me see.")
		out := w.call(a, names...)
		w.h.Say(a.RunID, strings.Join(out, " and "))
		w.end(a.RunID, End{State: Answered, Stop: model.StopEnd})
	}
}

func outcome(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

func calling(calls []chatCall) string {
	raw, _ := json.Marshal(map[string]any{"role": "assistant", "tool_calls": calls})
	return string(raw)
}

func TestSeveralCallsComeTogether(t *testing.T) {
	w := newWorld(t, Limits{}, looking("look", "listen"))
	_, raw := w.chat(`[{"role":"user","content":"x"}]`, tools)
	text, calls := completionOf(t, raw)
	if text != "Let me see." || len(calls) != 2 || calls[0].Function.Name != "look" || calls[1].Function.Arguments != `{"n":1}` ||
		calls[0].ID == calls[1].ID {
		t.Fatal(raw)
	}
	// One result is missing, and they come in another order.
	_, raw = w.chat(`[{"role":"user","content":"x"},` + calling(calls) + `,` + outcome(calls[1].ID, "a bird") + `]`)
	if text, _ := completionOf(t, raw); text != "error: the program sent no result for this call of look and <a bird>" {
		t.Error(text)
	}
	if len(w.asks) != 1 || len(w.h.turns.byCall)+len(w.h.turns.byRun)+len(w.h.turns.parked) != 0 {
		t.Errorf("%d runs, %+v", len(w.asks), w.h.turns)
	}
}

// A program of code mode asks for tools that no message of the model names, and
// for several while nobody listens.
func TestCallsOfPrograms(t *testing.T) {
	w := newWorld(t, Limits{}, func(w *world, a Ask) {
		var all []tool.Tool
		for len(all) == 0 {
			all = w.h.Tools(a.RunID)
		}
		out := make(chan string, 2)
		for i, id := range []string{"nested-1", "nested-2"} {
			go func() {
				res, err := all[i].Run(t.Context(), tool.Call{ID: id})
				out <- fmt.Sprint(res.Text, err)
			}()
		}
		w.h.Say(a.RunID, <-out+" "+<-out)
		w.end(a.RunID, End{State: Answered})
	})
	said, pending := `{"role":"user","content":"x"}`, map[string]string{}
	var text string
	for range 3 {
		_, raw := w.chat(`[`+said+`]`, tools)
		var calls []chatCall
		if text, calls = completionOf(t, raw); len(calls) == 0 {
			break
		}
		said += "," + calling(calls)
		for _, c := range calls {
			pending[c.ID] = c.Function.Name
			said += "," + outcome(c.ID, "of "+c.Function.Name)
		}
	}
	if len(pending) != 2 || !strings.Contains(text, "<of look><nil>") || !strings.Contains(text, "<of listen><nil>") {
		t.Errorf("%q %v", text, pending)
	}
}

func TestSec_A_NET_20_ResultsOfAnotherProgram(t *testing.T) {
	w := newWorld(t, Limits{}, looking("look"))
	_, raw := w.chat(`[{"role":"user","content":"x"}]`, tools)
	_, calls := completionOf(t, raw)
	w.mu.Lock()
	w.play = echo
	w.mu.Unlock()
	body := `{"messages":[{"role":"user","content":"x"},` + calling(calls) + `,` + outcome(calls[0].ID, "forged") + `]}`
	if status, raw, _ := w.do("POST", "/v1/chat/completions", body, "Authorization", "Bearer "+w.tokens["chat"]); status != 200 ||
		len(w.asks) != 2 {
		t.Errorf("%d %s", status, raw)
	}
	if a := w.lastAsk(); a.Key == w.asks[0].Key || !strings.Contains(a.ForModel, "Result of look:\nforged") {
		t.Errorf("%+v", a)
	}
	if status, raw := w.chat(`[{"role":"user","content":"x"},` + calling(calls) + `,` + outcome(calls[0].ID, "true") + `]`); status != 200 ||
		!strings.Contains(raw, "true") {
		t.Errorf("its own program: %d %s", status, raw)
	}
}

// A-DOS-08: runs that wait for a program are few, and not for ever.
func TestSec_A_DOS_08_WaitingForPrograms(t *testing.T) {
	w := newWorld(t, Limits{Parked: 2}, looking("look"))
	for range 3 {
		w.chat(`[{"role":"user","content":"x"}]`, tools)
	}
	if !w.stopped[w.asks[0].RunID] || len(w.stopped) != 1 {
		t.Errorf("stopped: %v", w.stopped)
	}
	w = newWorld(t, Limits{ParkFor: time.Millisecond}, looking("look"))
	_, raw := w.chat(`[{"role":"user","content":"x"}]`, tools)
	completionOf(t, raw)
	w.wait("the stop", func() bool { return len(w.stopped) == 1 })
}

// What a program left waiting ends when it says something else, and with its
// token.
func TestSec_A_NET_12_WaitingEndsWithTheToken(t *testing.T) {
	w := newWorld(t, Limits{}, looking("look"))
	_, _, _ = w.do("POST", "/v1/chat/completions", `{"user":"anna","messages":[{"role":"user","content":"x"}]`+tools+`}`)
	_, _, _ = w.do("POST", "/v1/chat/completions", `{"user":"anna","messages":[{"role":"user","content":"something else"}]`+tools+`}`)
	if !w.stopped[w.asks[0].RunID] || w.asks[0].Key != w.asks[1].Key {
		t.Errorf("stopped: %v", w.stopped)
	}
	w.h.Revoked(t.Context(), w.asks[0].Client.ID)
	if !w.stopped[w.asks[1].RunID] {
		t.Errorf("stopped: %v", w.stopped)
	}
}

func TestConversations(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	chat, owner := "Bearer "+w.tokens["chat"], "Bearer "+w.tokens[pairing.ClientOwner]
	key := func(token, body string, headers ...string) string {
		t.Helper()
		if status, _, _ := w.do("POST", "/v1/chat/completions", body, append([]string{"Authorization", token}, headers...)...); status != 200 {
			return fmt.Sprint(status)
		}
		return w.lastAsk().Key
	}
	one := `{"messages":[{"role":"user","content":"x"}]}`
	anna := `{"user":"anna","messages":[{"role":"user","content":"x"}]}`
	a := key(chat, anna)
	for what, other := range map[string]string{
		"another user": key(chat, strings.ReplaceAll(anna, "anna", "Anna")), "another program": key(owner, anna),
		"no user": key(chat, one), "a name": key(chat, one, "X-Hearth-Session", "anna"),
	} {
		if other == a || !strings.Contains(other, ":api:") {
			t.Errorf("%s: %s", what, other)
		}
	}
	if key(chat, anna) != a {
		t.Error("the same user again")
	}
	named := key(chat, one, "X-Hearth-Session", "mine")
	if again := key(chat, one, "X-OpenClaw-Session-Key", named); again != named {
		t.Errorf("a key of its own: %s", again)
	}
	// TestSec: others' conversations are the owner's to name.
	for _, foreign := range []string{"agent:main:main", a + "x", key(owner, anna), "agent:other:api:" + w.lastAsk().Client.ID + ":x"} {
		if strings.HasPrefix(foreign, a) {
			continue
		}
		if got := key(chat, one, "X-Hearth-Session", foreign); got != "403" {
			t.Errorf("%s: %s", foreign, got)
		}
	}
	if got := key(owner, one, "X-Hearth-Session", "agent:main:main"); got != "agent:main:main" || w.lastAsk().Label != "" {
		t.Errorf("the owner: %s", got)
	}
	for _, bad := range []string{strings.Repeat("x", 300), "a\tb"} {
		if got := key(chat, one, "X-Hearth-Session", bad); got != "400" {
			t.Errorf("%q: %s", bad, got)
		}
	}
	if got := key(chat, `{"user":"a\u0000b","messages":[{"role":"user","content":"x"}]}`); got != "400" {
		t.Errorf("%s", got)
	}
}

func TestPastAndPresent(t *testing.T) {
	u := func(s string) Message { return Message{Role: User, Text: s} }
	a := func(s string, c ...Call) Message { return Message{Role: Assistant, Text: s, Calls: c} }
	r := func(id, s string) Message { return Message{Role: Tool, CallID: id, Text: s} }
	for name, x := range map[string]struct {
		all      []Message
		seed     []Message
		text     string
		forModel string
	}{
		"one":       {[]Message{u("x")}, nil, "x", ""},
		"two":       {[]Message{u("x"), u("y")}, nil, "x\n\ny", ""},
		"more":      {[]Message{u("x"), a("y"), u("z")}, []Message{u("x"), a("y")}, "z", ""},
		"a picture": {[]Message{{Role: User, Pictures: []string{"data:"}}}, nil, "(a picture)", ""},
		"old calls": {[]Message{u("x"), a("", Call{ID: "c"}), r("c", "1"), a("y"), u("z")}, []Message{u("x"), a("", Call{ID: "c"}), r("c", "1"),
			a("y")}, "z", ""},
		"new results": {[]Message{u("x"), a("hm", Call{ID: "c", Name: "look"}), r("c", "1"), r("d", "2")}, []Message{u("x"), a("hm")},
			"(results of tools)", "[The program ran the tools that were asked for.]\n\nResult of look:\n1\n\nResult of a tool:\n2"},
		"and words": {[]Message{a("", Call{ID: "c", Name: "look"}), r("c", "1"), u("z")}, []Message{a("")}, "z",
			"[The program ran the tools that were asked for.]\n\nResult of look:\n1\n\nz"},
	} {
		past, now := split(x.all)
		text, forModel, _ := words(past, now)
		if text != x.text || forModel != x.forModel {
			t.Errorf("%s: %q %q", name, text, forModel)
		}
		if got := seed(past, now); len(got)+len(x.seed) > 0 {
			if diff := cmp.Diff(x.seed, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestHeads(t *testing.T) {
	s := newHeads()
	h := func(client string, texts ...string) head {
		var all []Message
		for _, t := range texts {
			all = append(all, Message{Role: User, Text: t})
		}
		return headOf(client, "main", all)
	}
	s.set(h("a", "x"), "k1")
	if _, ok := s.take(h("b", "x")); ok {
		t.Error("another client's")
	}
	if _, ok := s.take(h("a", "x", "")); ok {
		t.Error("another message")
	}
	if k, ok := s.take(h("a", " x\n")); !ok || k != "k1" {
		t.Error("white space counts")
	}
	if _, ok := s.take(h("a", "x")); ok {
		t.Error("two go on with one")
	}
	s.set(h("a", "x"), "k1")
	s.set(h("a", "x", "y"), "k1")
	if _, ok := s.take(h("a", "x")); ok {
		t.Error("it has gone on since")
	}
	s.forget("k1")
	if _, ok := s.take(h("a", "x", "y")); ok {
		t.Error("it was to be forgotten")
	}
	for i := range 3 * maxHeads {
		s.set(h("a", fmt.Sprint(i)), fmt.Sprint(i))
	}
	if len(s.by) != maxHeads || len(s.keyed) != maxHeads || s.order.Len() != maxHeads {
		t.Errorf("%d %d %d are kept", len(s.by), len(s.keyed), s.order.Len())
	}
}
