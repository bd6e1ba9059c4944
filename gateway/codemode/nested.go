package codemode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/stopwatch"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/internal/text"
)

// nested is something that a program asked for and has no answer to.
type nested struct {
	id     int64
	method string
	callID string // in the transcript
	tool   string // id in the catalogue
	shown  string // how it stands, in a few words
}

// maxOutside bounds how many places are named.
const maxOutside = 6

// dispatch begins what a program asked for, and returns what can be answered at
// once.
func (c *cell) dispatch(calls []engine.Call) (answers []engine.Settled) {
	for _, call := range calls {
		if a, now := c.begin(call); now {
			a.ID = call.ID
			answers = append(answers, a)
		}
	}
	return answers
}

func (c *cell) begin(call engine.Call) (engine.Settled, bool) {
	var args []json.RawMessage
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return refuse("the arguments are not JSON"), true
	}
	arg := func(i int) json.RawMessage {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	switch call.Method {
	case engine.MethodYield:
		if c.patient {
			return engine.Settled{}, true
		}
		c.mu.Lock()
		c.pending[call.ID] = &nested{id: call.ID, method: call.Method}
		c.mu.Unlock()
		return engine.Settled{}, false
	case engine.MethodSearch:
		c.count(func(t *Telemetry) { t.Search++ })
		return c.search(arg(0), arg(1)), true
	case engine.MethodDescribe:
		c.count(func(t *Telemetry) { t.Describe++ })
		return c.describe(arg(0)), true
	case engine.MethodCall:
		return c.call(call.ID, arg(0), arg(1))
	}
	return refuse("there is no " + call.Method), true
}

func (c *cell) count(f func(*Telemetry)) {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	f(&c.run.tele)
}

func refuse(why string) engine.Settled {
	return engine.Settled{Err: &engine.GuestError{Message: why, Code: engine.NestedToolFailed}}
}

func answer(v any) engine.Settled {
	b, err := json.Marshal(v)
	if err != nil {
		return refuse("the answer is not JSON")
	}
	return engine.Settled{Value: b}
}

func (c *cell) search(query, options json.RawMessage) engine.Settled {
	var words string
	if json.Unmarshal(query, &words) != nil {
		return refuse("tools.search takes words to look for: tools.search(\"read a file\", {limit: 5})")
	}
	var o struct {
		Limit *float64 `json:"limit"`
	}
	if len(options) > 0 && json.Unmarshal(options, &o) != nil {
		return refuse("the options of tools.search are {limit: number}")
	}
	limit := c.set.SearchDefault
	if o.Limit != nil {
		limit = int(max(1, min(*o.Limit, float64(c.set.SearchMost))))
	}
	return answer(c.cat.search(words, min(limit, c.set.SearchMost)))
}

func (c *cell) describe(id json.RawMessage) engine.Settled {
	l, why := c.find(id)
	if l == nil {
		return refuse(why)
	}
	return answer(l.described())
}

// find is the tool of an id; what is not in the catalogue cannot be told from
// what is not there at all.
func (c *cell) find(raw json.RawMessage) (*listed, string) {
	var id string
	if json.Unmarshal(raw, &id) != nil {
		return nil, "a tool is named by its id, a string"
	}
	if l := c.cat.find(id); l != nil {
		return l, ""
	}
	if len(id) > 100 {
		id = strings.ToValidUTF8(id[:100], "") + "…"
	}
	return nil, fmt.Sprintf("there is no tool %q in this run; tools.search finds those that are", id)
}

// call begins a nested call, or refuses it at once.
func (c *cell) call(id int64, name, input json.RawMessage) (engine.Settled, bool) {
	l, why := c.find(name)
	if l == nil {
		return refuse(why), true
	}
	args, ok := object(input)
	if !ok {
		return refuse(l.ID + " takes an object, for example tools.call(id, {path: \"README.md\"})"), true
	}
	c.mu.Lock()
	c.calls++
	n := &nested{id: id, method: engine.MethodCall, callID: fmt.Sprintf("%s/%d", c.parent, c.calls), tool: l.ID}
	c.pending[id] = n
	c.mu.Unlock()
	wish := model.ToolCall{ID: n.callID, Name: l.spec.Name, Arguments: args}
	if err := c.allow(l.ID, wish); err != nil {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return refuse(err.Error()), true
	}
	parent := c.parent
	go c.perform(c.ctx, parent, n, l, wish)
	return engine.Settled{}, false
}

// allow counts a call, and refuses one of a program that only repeats itself.
func (c *cell) allow(id string, wish model.ToolCall) error {
	u := c.run
	u.mu.Lock()
	u.calls++
	u.tele.called(id)
	n := u.calls
	u.mu.Unlock()
	if n > maxNested {
		return fmt.Errorf("the programs of this answer have called tools %d times; that is the most", maxNested)
	}
	if u.watch != nil {
		return u.watch.Call(wish)
	}
	return nil
}

// object is the arguments of a call; nothing means none.
func object(raw json.RawMessage) (json.RawMessage, bool) {
	s := strings.TrimSpace(string(raw))
	if s == "" || s == "null" {
		return json.RawMessage("{}"), true
	}
	return json.RawMessage(s), s[0] == '{'
}

// perform runs a nested call: through the same gates as any other, written down
// before and after.
func (c *cell) perform(ctx context.Context, parent string, n *nested, l *listed, wish model.ToolCall) {
	rec, ok := c.runs.record(ctx)
	if ok {
		if err := rec.Begin(ctx, parent, l.ID, wish); err != nil {
			c.settle(n, refuse(l.ID+" was not called: it could not be written down"))
			return
		}
	}
	c.runs.debug("calls", "program", c.id, "tool", l.ID, "call", n.callID)
	watch := stopwatch.Start()
	res := c.tools.Run(watch.Within(ctx), c.scope, wish, func(text string) {
		c.mu.Lock()
		n.shown = firstLine(text)
		say := c.say
		c.mu.Unlock()
		say(c.standing())
		if ok {
			rec.Progress(parent, wish, text)
		}
	})
	if ok {
		rec.End(parent, wish, res, watch.Ran())
	}
	text, sources := untrusted.Unwrap(res.Text)
	a := engine.Settled{}
	switch {
	case res.IsError:
		a = refuse(text)
	case !l.verbatim && isJSON(text):
		a.Value = json.RawMessage(text)
	default:
		a = answer(text)
	}
	c.mark(sources)
	if c.run.watch != nil {
		if err := c.run.watch.Result(wish, res); err != nil {
			a = refuse(err.Error())
		}
	}
	c.settle(n, a)
}

// settle hands an answer to the program, or keeps it until it goes on.
func (c *cell) settle(n *nested, a engine.Settled) {
	a.ID = n.id
	c.mu.Lock()
	c.done = append(c.done, a)
	waits := c.state == stateWaiting && c.ctx.Err() == nil // else Hearth or the run ends, and with it the call
	c.mu.Unlock()
	if waits {
		c.persist(a)
	}
	c.wake()
}

// mark remembers where text of the program is from.
func (c *cell) mark(sources []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range sources {
		if len(c.outside) < maxOutside && !slices.Contains(c.outside, s) {
			c.outside = append(c.outside, s)
		}
	}
}

// standing says what the program waits for.
func (c *cell) standing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, n := range c.order() {
		if n.method == engine.MethodCall {
			fmt.Fprintf(&b, "%s: %s\n", n.tool, n.shown)
		}
	}
	return b.String()
}

func (r *Runs) record(ctx context.Context) (Recorder, bool) {
	if r.o.Record == nil {
		return nil, false
	}
	return r.o.Record(ctx)
}

func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return text.Ellipsis(s, 120)
}
