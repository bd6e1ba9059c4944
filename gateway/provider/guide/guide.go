// Package guide is the model that Hearth brings along: a small responder made
// of rules, not of an AI, which answers at once on a computer where no model is
// connected yet. It explains Hearth and how to connect a model, does sums, tells
// the time, plans reminders, and can run any tool it is given, for demonstrations
// and tests.
//
// It is deterministic: the same conversation at the same time gets the same
// answer. It says what it is on its first answer of a conversation and whenever
// it is asked; the surfaces label it as well.
package guide

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// ContextWindow is far more than the guide ever reads.
const ContextWindow = 32_000

// Ref is the guide's name.
func Ref() model.Ref { return model.Ref{Provider: "guide", Model: "guide"} }

// Options shape a guide; the zero value works, with the clock of Now required
// only for questions about time.
type Options struct {
	Now        func() time.Time
	Hint       func() string // what stands in the way of a model on this computer; "" = nothing known
	DataDir    string        // where conversations are kept, to be told
	ConfigPath string        // where the settings are
	Delay      time.Duration // between words
}

// New returns the guide.
func New(o Options) model.Provider {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hint == nil {
		o.Hint = func() string { return "" }
	}
	return &guide{o}
}

type guide struct{ Options }

// reply is an answer, or a tool call with a sentence before it.
type reply struct {
	text string
	call *model.ToolCall
}

func say(format string, args ...any) reply { return reply{text: fmt.Sprintf(format, args...)} }

func (g *guide) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		r := g.answer(read(req))
		for word := range strings.SplitAfterSeq(r.text, " ") {
			if err := sleep.For(ctx, g.Delay); err != nil {
				yield(model.Event{}, err)
				return
			}
			if word != "" && !yield(model.Event{Kind: model.EventText, Text: word}, nil) {
				return
			}
		}
		stop := model.StopEnd
		if r.call != nil {
			stop = model.StopTool
			if !yield(model.Event{Kind: model.EventToolCall, Call: r.call}, nil) {
				return
			}
		}
		yield(model.Event{Kind: model.EventStop, Stop: stop}, nil)
	}
}

// conversation is what the guide looks at.
type conversation struct {
	user    string              // the last thing the person said
	first   bool                // nothing was answered before
	results []*model.ToolResult // that came after it
	calls   int                 // so far, to number the next
	tools   []model.ToolSpec
}

func read(req model.Request) conversation {
	c := conversation{first: true, tools: req.Tools}
	for _, m := range req.Messages {
		switch m.Role {
		case model.RoleUser:
			c.user, c.results = "", nil
			for _, b := range m.Blocks {
				c.user += b.Text
			}
		case model.RoleAssistant:
			for _, b := range m.Blocks {
				if b.ToolCall != nil {
					c.calls++
				} else if b.Text != "" {
					c.first = false
				}
			}
		case model.RoleTool:
			for _, b := range m.Blocks {
				if b.ToolResult != nil {
					c.results = append(c.results, b.ToolResult)
				}
			}
		}
	}
	return c
}

func (g *guide) answer(c conversation) reply {
	if len(c.results) > 0 {
		return g.report(c)
	}
	if r, ok := g.toolRequest(c); ok {
		return r
	}
	t := topicOf(c.user)
	r := t.answer(g, c)
	if c.first && !t.introduces && r.call == nil {
		r.text = "_I'm Hearth's built-in guide, not an AI model._\n\n" + r.text
	}
	return r
}

// call asks for a tool.
func (c conversation) call(name string, args json.RawMessage) *model.ToolCall {
	return &model.ToolCall{ID: fmt.Sprintf("guide_%d", c.calls+1), Name: name, Arguments: args}
}
