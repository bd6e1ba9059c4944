package openaiserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// turn is a run of a program, from its first request to its end. A request is
// attached to it while somebody listens; while the program runs a tool nobody
// does, and the run is parked.
type turn struct {
	runID, key   string
	client       pairing.Client
	instructions string
	tools        []Function
	follow       bool          // place.follow
	options      model.Options // of the newest request; guarded by mu
	hide         bool          // tools are not offered now; guarded by mu

	mu      sync.Mutex // guards all below
	words   strings.Builder
	gap     bool // the next words begin anew
	spoken  bool
	batch   []*wish // the program's tools of the model's last message
	usage   model.Usage
	parked  bool
	ended   bool
	changed chan struct{} // holds a token when there is news for the request
}

// wish is one call of a program's tool.
type wish struct {
	modelID string // as the model named it; ids of ours are unique, a model's are not
	call    Call
	asked   bool
	handed  bool          // the program knows of it
	done    chan struct{} // closed when the result is here
	result  string
	gone    bool // the program went on without it
}

// news is what a request has to pass on.
type news struct {
	words  string
	calls  []Call
	parked bool
	usage  model.Usage
}

func (t *turn) signal() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// take returns what is new, and forgets it.
func (t *turn) take() news {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := news{words: t.words.String(), parked: t.parked, usage: t.usage}
	for _, w := range t.batch {
		if w.asked && !w.handed {
			w.handed = true
			n.calls = append(n.calls, w.call)
		}
	}
	t.words.Reset()
	return n
}

// say adds words of the model.
func (t *turn) say(words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gap && t.spoken {
		t.words.WriteString("\n\n")
	}
	t.gap, t.spoken = false, true
	t.words.WriteString(words)
	t.signal()
}

// intend notes what the model asks for before any of it starts.
func (t *turn) intend(msg model.Message, usage model.Usage, newID func() string) (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gap, t.usage = true, usage
	t.batch = slices.DeleteFunc(t.batch, func(w *wish) bool { return closed(w.done) })
	for _, b := range msg.Blocks {
		c := b.ToolCall
		if c == nil || c.Problem != "" || !t.has(c.Name) {
			continue
		}
		id := callID(newID)
		t.batch = append(t.batch, newWish(c.ID, Call{ID: id, Name: c.Name, Arguments: string(c.Arguments)}))
		ids = append(ids, id)
	}
	return ids
}

// callID is unique, which a model's own ids are not.
func callID(newID func() string) string { return "call_" + strings.ReplaceAll(newID(), "-", "") }

func newWish(modelID string, c Call) *wish {
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
	}
	return &wish{modelID: modelID, call: c, done: make(chan struct{})}
}

func (t *turn) has(name string) bool {
	return slices.ContainsFunc(t.tools, func(f Function) bool { return f.Name == name })
}

// find looks a wish up by the model's name for it.
func (t *turn) find(modelID string) *wish {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.batch, func(w *wish) bool { return w.modelID == modelID }); i >= 0 {
		return t.batch[i]
	}
	return nil
}

// want hands a wish out, and with it all others of the model's message. extra is
// set for one that is not in the message: a program of code mode made it.
func (t *turn) want(w *wish, extra bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if extra {
		t.batch = append(t.batch, w)
	}
	if w.asked {
		return
	}
	for _, o := range t.batch {
		o.asked = true
	}
	t.parked = true
	t.signal()
}

// attach brings results, and listens from now on. It is false when the turn
// does not wait for a program any more.
func (t *turn) attach(results []Message, req *Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.parked || t.ended {
		return false
	}
	t.parked, t.spoken = false, false
	t.options, t.hide = req.Options, req.NoTools
	t.words.Reset()
	select {
	case <-t.changed: // news of before
	default:
	}
	for _, w := range t.batch {
		if !w.handed || closed(w.done) {
			if w.asked && !w.handed { // it came while nobody listened, and goes out at once
				t.parked = true
				t.signal()
			}
			continue
		}
		i := slices.IndexFunc(results, func(m Message) bool { return m.CallID == w.call.ID })
		if w.gone = i < 0; !w.gone {
			w.result = results[i].Text
		}
		close(w.done)
	}
	return true
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// end marks the turn as over; nobody can attach any more.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// clientTool is one of the program's tools as the engine sees it.
type clientTool struct {
	h *Handler
	t *turn
	f Function
}

func (c clientTool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: c.f.Name, Description: c.f.Description, Schema: c.f.Schema}
}

// Run waits for the program: it gets the call with the answer to its request,
// and brings the result with the next one.
func (c clientTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	w := c.t.find(call.ID)
	extra := w == nil
	if extra {
		w = newWish(call.ID, Call{ID: callID(c.h.NewID), Name: c.f.Name, Arguments: string(call.Args)})
		c.h.turns.calls(c.t, []string{w.call.ID})
	}
	c.t.want(w, extra)
	resume := c.h.Engine.Waiting(ctx)
	defer resume()
	limit := time.NewTimer(c.h.limits.ParkFor)
	defer limit.Stop()
	select {
	case <-w.done:
	case <-limit.C:
		c.h.Engine.Stop(context.WithoutCancel(ctx), c.t.key, c.t.runID)
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	case <-ctx.Done():
		return tool.Result{}, context.Cause(ctx)
	}
	if w.gone {
		return tool.Result{}, fmt.Errorf("the program sent no result for this call of %s", c.f.Name)
	}
	return tool.Text(c.h.Mark("tool "+c.f.Name+" of the program", w.result)), nil
}
