// Package agent is the loop of one turn: ask the model, stream what it says,
// run the tools it asks for, and ask again until it is done. It does no I/O of
// its own: the model and the tools are handed in, and the caller stores and
// shows the events. Because Run is an iterator, a caller that makes an event
// durable before it returns to the loop knows that nothing later has happened
// yet: a tool starts only after its intent was taken.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/stopwatch"
)

const (
	// maxRounds bounds how often a turn goes back to the model.
	maxRounds = 25
	// maxRefused is how many calls that cannot be run a turn may have.
	maxRefused = 3
	// maxAnswerBytes is the most text of one turn; the rest is cut with a note.
	maxAnswerBytes = 8 << 20
	// retryDelay is the pause before the one repeat of a call that failed
	// before it said anything.
	retryDelay = 300 * time.Millisecond
)

// Turn is what Run needs.
type Turn struct {
	Provider model.Provider
	Model    string // the provider's model id
	System   string
	Stable   int             // model.Request.Stable
	Messages []model.Message // ends with what is to be answered
	Tools    []model.ToolSpec
	Exact    []string // model.Request.Exact
	// RunTool runs one call; it must return soon after ctx ends.
	// nil: there are no tools, and a call is refused.
	RunTool   func(ctx context.Context, call model.ToolCall) model.ToolResult
	MaxTokens int
	Thinking  string // model.Request.Thinking
	Once      bool   // the provider repeats by itself what failed
	Rounds    int    // how often it may go back to the model; 0 = 25
	// Options, when set, is asked before each call of the model.
	Options func() *model.Options
	// Steer, when set, lets new words of the person into the turn at a boundary:
	// between two tool calls and before the model is asked again. A tool that
	// runs is never cut short.
	Steer Steering
}

// Steering is where new words of the person wait. Take is called only after
// Waiting said true and after the results of skipped calls were yielded.
type Steering interface {
	Waiting(ctx context.Context) bool
	Take(ctx context.Context) ([]model.Message, error)
}

// skipped answers the calls of a batch that had not started when the person
// spoke: providers want a result for every call.
const skipped = "Skipped: the person sent a new message before this tool started. Read it first."

// Kind tells which fields of an Event are set.
type Kind int

const (
	Text      Kind = iota + 1 // Delta: new words of the answer
	Thinking                  // Delta: new words of the reasoning
	Retry                     // the model call failed before any word and is repeated; Err says why
	Intent                    // Message: a whole assistant message that asks for tools, none of which has started
	ToolStart                 // Call: this tool starts when the caller goes on
	ToolEnd                   // Call, Result, Took
	Done                      // Message: the final assistant message; Usage, Stop of the whole turn
)

// Event is one step of a turn.
type Event struct {
	Kind    Kind
	Delta   string
	Message model.Message
	Call    model.ToolCall
	Result  model.ToolResult
	Took    time.Duration
	Usage   model.Usage
	Last    model.Usage // of the call that Message came of, with Intent and Done
	Stop    model.StopReason
	Err     error
}

// Run yields the events of one turn. It ends after one Done, or with one
// error: an *model.Error, ErrLoop, or the cause of ctx.
func Run(ctx context.Context, t Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := &runner{Turn: t, ctx: ctx, yield: yield, messages: append([]model.Message(nil), t.Messages...)}
		if err := r.run(); err != nil && !errors.Is(err, errStopped) {
			yield(Event{}, err)
		}
	}
}

// errStopped: the caller left the loop, so nothing more may be yielded.
var errStopped = errors.New("stopped")

type runner struct {
	Turn
	ctx      context.Context
	yield    func(Event, error) bool
	messages []model.Message
	usage    model.Usage
	last     model.Usage
	size     int
	loop     loop
	refused  int // calls that could not be run
}

func (r *runner) emit(e Event) error {
	if !r.yield(e, nil) {
		return errStopped
	}
	return nil
}

func (r *runner) run() error {
	most := cmp.Or(r.Rounds, maxRounds)
	for range most {
		msg, stop, err := r.askTwice()
		if err != nil {
			return err
		}
		calls := toolCalls(msg)
		if len(calls) == 0 {
			return r.emit(Event{Kind: Done, Message: msg, Usage: r.usage, Last: r.last, Stop: stop})
		}
		for _, c := range calls {
			if err := r.loop.call(c); err != nil {
				return err
			}
		}
		if err := r.emit(Event{Kind: Intent, Message: msg, Usage: r.usage, Last: r.last}); err != nil {
			return err
		}
		r.messages = append(r.messages, msg)
		if err := r.runTools(calls); err != nil {
			return err
		}
		if err := r.steer(); err != nil {
			return err
		}
	}
	return &LoopError{What: fmt.Sprintf("it went back to its tools %d times", most)}
}

// askTwice repeats a model call once if it failed before it said anything and
// repeating is safe (F-PROV-11, F-PROV-13).
func (r *runner) askTwice() (model.Message, model.StopReason, error) {
	before := r.usage
	msg, stop, err := r.ask()
	if err == nil || len(msg.Blocks) > 0 || r.Once || !repeatable(err) {
		return msg, stop, err
	}
	if err := r.emit(Event{Kind: Retry, Err: err}); err != nil {
		return msg, stop, err
	}
	select {
	case <-time.After(retryDelay):
	case <-r.ctx.Done():
		return msg, stop, context.Cause(r.ctx)
	}
	r.usage = before
	return r.ask()
}

func repeatable(err error) bool {
	switch model.ClassOf(err) {
	case model.ClassEmpty, model.ClassInterrupted, model.ClassServer, model.ClassConnect:
		return true
	}
	return false
}

// ask makes one model call. The message it returns with an error holds what
// was said before.
func (r *runner) ask() (model.Message, model.StopReason, error) {
	var said words
	var usage model.Usage
	stop := model.StopEnd
	var failure error
	req := model.Request{Model: r.Model, System: r.System, Stable: r.Stable, Messages: r.messages, Tools: r.Tools, Exact: r.Exact,
		MaxTokens: r.MaxTokens, Thinking: r.Thinking}
	if r.Options != nil {
		req.Tools, req.Options = r.Options().Offer(r.Tools, r.Exact != nil)
	}
	for ev, err := range r.Provider.Stream(r.ctx, req) {
		if err != nil {
			failure = err
			break
		}
		switch ev.Kind {
		case model.EventText:
			if r.size += len(ev.Text); r.size > maxAnswerBytes {
				ev.Text, stop = "\n\n[The answer was longer than 8 MB; the rest was cut.]", model.StopLength
			}
			said.text(ev.Text)
			failure = r.emit(Event{Kind: Text, Delta: ev.Text})
		case model.EventThinking:
			said.thinking(ev.Text, ev.Signature)
			if ev.Text != "" {
				failure = r.emit(Event{Kind: Thinking, Delta: ev.Text})
			}
		case model.EventToolCall:
			said.call(*ev.Call)
		case model.EventUsage:
			usage = ev.Usage
		case model.EventStop:
			stop = ev.Stop
		}
		if failure != nil || r.size > maxAnswerBytes {
			break
		}
	}
	r.usage, r.last = r.usage.Add(usage), usage
	msg := model.Message{Role: model.RoleAssistant, Blocks: said.blocks()}
	if failure == nil && r.ctx.Err() != nil {
		failure = context.Cause(r.ctx)
	} else if failure != nil && r.ctx.Err() != nil && !errors.Is(failure, errStopped) {
		failure = context.Cause(r.ctx) // the provider only says "canceled"; the cause says why
	}
	return msg, stop, failure
}

func (r *runner) runTools(calls []model.ToolCall) error {
	for i, c := range calls {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if i > 0 && r.waiting() {
			return r.skip(calls[i:])
		}
		if c.Problem == "" && r.RunTool == nil {
			c.Problem = noTools
		}
		if c.Problem != "" {
			if err := r.refuse(c); err != nil {
				return err
			}
			continue
		}
		if err := r.emit(Event{Kind: ToolStart, Call: c}); err != nil {
			return err
		}
		watch := stopwatch.Start()
		res := r.RunTool(watch.Within(r.ctx), c)
		if err := r.result(c, res, watch.Ran()); err != nil {
			return err
		}
		if err := r.loop.result(c, res); err != nil {
			return err
		}
	}
	return nil
}

// noTools answers a model that calls what it was not offered.
const noTools = "There are no tools in this conversation. Answer in words."

// refuse tells the model that a call cannot be run. One that keeps making such
// calls is stopped (F-PROV-16).
func (r *runner) refuse(c model.ToolCall) error {
	if r.refused++; r.refused > maxRefused {
		return &model.Error{Class: model.ClassMalformed, Ref: model.Ref{Model: r.Model},
			Detail: fmt.Sprintf("the model called tools %d times in a way that cannot be run", r.refused)}
	}
	return r.result(c, model.ToolResult{CallID: c.ID, Name: c.Name, Text: c.Problem, IsError: true}, 0)
}

// result shows a tool's result and puts it before the model.
func (r *runner) result(c model.ToolCall, res model.ToolResult, took time.Duration) error {
	if err := r.emit(Event{Kind: ToolEnd, Call: c, Result: res, Took: took}); err != nil {
		return err
	}
	r.messages = append(r.messages, model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &res}}})
	return nil
}

func (r *runner) waiting() bool { return r.Steer != nil && r.Steer.Waiting(r.ctx) }

// skip answers calls that will not start.
func (r *runner) skip(calls []model.ToolCall) error {
	for _, c := range calls {
		if err := r.result(c, model.ToolResult{CallID: c.ID, Name: c.Name, Text: skipped, IsError: true}, 0); err != nil {
			return err
		}
	}
	return nil
}

// steer lets waiting words of the person into the turn.
func (r *runner) steer() error {
	if !r.waiting() {
		return nil
	}
	words, err := r.Steer.Take(r.ctx)
	r.messages = append(r.messages, words...)
	return err
}

func toolCalls(m model.Message) (calls []model.ToolCall) {
	for _, b := range m.Blocks {
		if b.ToolCall != nil {
			calls = append(calls, *b.ToolCall)
		}
	}
	return calls
}
