package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	maxCalls     = 256 // tool calls in one answer
	maxCallName  = 128
	maxSignature = 1 << 20
	maxTokens    = 1 << 31 // more is a mistake of the service
)

// Answer receives one answer from a decoder and gives it out as events.
type Answer struct {
	yield func(model.Event, error) bool
	watch *watch
	newID func() string

	left    bool // the consumer wants no more
	full    bool // the output limit was reached
	room    int  // bytes until the output limit
	said    bool // text that is not only space came
	thought bool
	stop    model.StopReason
	ids     map[string]bool // of the tool calls

	thoughts thoughts
}

func newAnswer(s *Service, w *watch, yield func(model.Event, error) bool) *Answer {
	a := &Answer{yield: yield, watch: w, newID: s.NewID, room: or(s.MaxOutput, DefaultMaxOutput), ids: map[string]bool{}}
	if a.newID == nil {
		a.newID = func() string { return "call_" + rand.Text() }
	}
	return a
}

func (a *Answer) emit(ev model.Event) {
	if a.left {
		return
	}
	a.watch.pause()
	a.left = !a.yield(ev, nil)
	a.watch.resume()
}

// take counts n bytes of output; it reports false when the limit is reached.
func (a *Answer) take(n int) bool {
	if a.room -= n; a.room < 0 {
		a.full, a.stop = true, model.StopLength
	}
	return !a.full
}

// Text gives out new words.
func (a *Answer) Text(s string) {
	if s == "" || !a.take(len(s)) {
		return
	}
	a.said = a.said || strings.TrimSpace(s) != ""
	a.emit(model.Event{Kind: model.EventText, Text: strings.ToValidUTF8(s, "\uFFFD")})
}

// Thinking gives out new reasoning.
func (a *Answer) Thinking(s string) {
	if s == "" || !a.take(len(s)) {
		return
	}
	a.thought = true
	a.emit(model.Event{Kind: model.EventThinking, Text: strings.ToValidUTF8(s, "\uFFFD")})
}

// Signature ends a piece of reasoning with what the service wants back with it.
// What is absurdly long is left out: it would be stored and sent for ever.
func (a *Answer) Signature(dialect, payload string) {
	if payload == "" || len(payload) > maxSignature || !a.take(len(payload)) {
		return
	}
	a.emit(model.Event{Kind: model.EventThinking, Signature: dialect + ":" + payload})
}

// Signed is the payload of a block's signature if it is the dialect's own.
func Signed(b model.Block, dialect string) (payload string, ok bool) {
	return strings.CutPrefix(b.Signature, dialect+":")
}

// Usage gives out the token counts known so far. Impossible ones are clamped.
func (a *Answer) Usage(u model.Usage) {
	clamp := func(n int) int { return min(max(n, 0), maxTokens) }
	u = model.Usage{Input: clamp(u.Input), Output: clamp(u.Output), CacheRead: clamp(u.CacheRead), CacheWrite: clamp(u.CacheWrite)}
	if u != (model.Usage{}) {
		a.emit(model.Event{Kind: model.EventUsage, Usage: u})
	}
}

// Stop remembers why the model stopped.
func (a *Answer) Stop(r model.StopReason) {
	if !a.full {
		a.stop = r
	}
}

// Call gives out one complete tool call. Arguments that are not a JSON object
// are the call's Problem, so that nothing is run with arguments that nobody
// meant and the model learns of it; in an answer that reached its limit they are
// an error, because the model would run into it again.
func (a *Answer) Call(id, name string, args []byte) error {
	if !a.take(len(args)) {
		return nil
	}
	if name == "" || len(name) > maxCallName {
		return malformed("the model called a tool without a usable name")
	}
	if len(a.ids) >= maxCalls {
		return malformed("the model called more than %d tools at once", maxCalls)
	}
	object, ok := asObject(args)
	if !ok {
		if a.stop == model.StopLength {
			return malformed("the answer reached its length limit inside the arguments of the tool %s", name)
		}
	}
	for id == "" || a.ids[id] {
		id = a.newID()
	}
	a.ids[id] = true
	call := &model.ToolCall{ID: id, Name: name, Arguments: object}
	if !ok {
		call.Arguments = json.RawMessage("{}")
		call.Problem = fmt.Sprintf("The arguments of this call are not a JSON object, so it was not run. They began: %s. Call the tool again "+
			"with the whole arguments as valid JSON.", Clean(string(args), maxDetail))
	}
	a.emit(model.Event{Kind: model.EventToolCall, Call: call})
	return nil
}

// asObject returns args as a compact JSON object. Nothing and null mean {};
// an object inside a JSON string, as some servers send it, is taken out.
func asObject(args []byte) (json.RawMessage, bool) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		return json.RawMessage("{}"), true
	}
	if args[0] == '"' {
		var inner string
		if json.Unmarshal(args, &inner) != nil {
			return nil, false
		}
		if args = bytes.TrimSpace([]byte(inner)); len(args) == 0 {
			return json.RawMessage("{}"), true
		}
	}
	if args[0] != '{' {
		return nil, false
	}
	var b bytes.Buffer
	if json.Compact(&b, args) == nil {
		return b.Bytes(), true
	}
	b.Reset()
	if json.Compact(&b, repaired(args)) != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// repaired mends what small models get wrong and what can mean only one thing:
// line ends inside texts, and commas before a closing bracket. What is missing is
// never made up.
func repaired(args []byte) []byte {
	var out []byte
	inText, escaped := false, false
	for _, c := range args {
		switch {
		case inText && escaped:
			escaped = false
		case inText && c == '\\':
			escaped = true
		case c == '"':
			inText = !inText
		case inText && c == '\n':
			out = append(out, '\\')
			c = 'n'
		case inText && c == '\r':
			out = append(out, '\\')
			c = 'r'
		case inText && c == '\t':
			out = append(out, '\\')
			c = 't'
		case !inText && (c == '}' || c == ']'):
			out = bytes.TrimRight(out, " \t\r\n")
			out = bytes.TrimSuffix(out, []byte(","))
		}
		out = append(out, c)
	}
	return out
}

// finish gives out the last event, or says what is wrong with the answer.
func (a *Answer) finish() error {
	a.flush()
	switch {
	case len(a.ids) > 0 && a.stop != model.StopLength:
		a.stop = model.StopTool
	case a.said || len(a.ids) > 0 || a.stop == model.StopRefusal:
	case a.stop == model.StopLength:
		return &model.Error{Class: model.ClassEmpty, Detail: "the model reached its length limit before it said anything"}
	case a.thought:
		return &model.Error{Class: model.ClassEmpty, Detail: "the model only sent its reasoning"}
	default:
		return &model.Error{Class: model.ClassEmpty}
	}
	if a.stop == "" || (a.stop == model.StopTool && len(a.ids) == 0) {
		a.stop = model.StopEnd
	}
	a.emit(model.Event{Kind: model.EventStop, Stop: a.stop})
	if a.left {
		return errConsumerLeft
	}
	return nil
}

func malformed(format string, args ...any) error {
	return &model.Error{Class: model.ClassMalformed, Detail: fmt.Sprintf(format, args...)}
}

// Count reads a token count from whatever a service sends: numbers of any size
// and sign, null, or something else, which counts as 0.
type Count int

func (c *Count) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) != nil || math.IsNaN(f) || f < 0 {
		f = 0
	}
	*c = Count(min(f, maxTokens))
	return nil
}
