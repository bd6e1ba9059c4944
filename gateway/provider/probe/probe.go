// Package probe finds out what a model really does: whether it answers, whether
// it calls tools, and how much of a long text reaches it. Some local servers cut
// what is too long without a word, so the window that they claim is tried with a
// word to remember near the beginning of a text of that size.
//
// It asks the model that it is given and nobody else. It stores nothing, and
// what follows from a result is for others to decide.
package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Prober asks a model a few questions. Draw is chance: a number from 0 to n-1.
type Prober struct {
	Provider model.Provider
	Model    string
	Now      func() time.Time
	Draw     func(n int) int
}

// Outcome is what became of a question.
type Outcome struct {
	Text  string
	Call  *model.ToolCall // the first that came
	Usage model.Usage
	Took  time.Duration // until the answer was complete
}

// answerTokens is how long an answer may be. Models that reason think first.
const answerTokens = 1024

// Hello asks for a word.
func (p Prober) Hello(ctx context.Context) (Outcome, error) {
	return p.ask(ctx, model.Request{System: "Answer with one word.", Messages: said("Say hello.")})
}

const toolName = "remember"

// toolTries: models are not machines, and one that did not call a tool at first
// may do so when it is asked again.
const toolTries = 2

// Tools asks the model to call a tool, and reports whether it did so as told.
func (p Prober) Tools(ctx context.Context) (works bool, used model.Usage, err error) {
	n := 1000 + p.Draw(9000)
	tool := model.ToolSpec{
		Name: toolName, Description: "Remembers a number.",
		Schema: json.RawMessage(`{"type":"object","properties":{"number":{"type":"integer"}},` +
			`"required":["number"],"additionalProperties":false}`),
	}
	for try := range toolTries {
		req := model.Request{
			System:   "You call tools when you are asked to.",
			Messages: said(fmt.Sprintf(`Call the tool %s with {"number": %d}`, toolName, n+try)), Tools: []model.ToolSpec{tool},
		}
		a, err := p.ask(ctx, req)
		used = used.Add(a.Usage)
		if err != nil {
			return false, used, err
		}
		if a.Call != nil && called(*a.Call, n+try) {
			return true, used, nil
		}
	}
	return false, used, nil
}

func called(c model.ToolCall, n int) bool {
	var args struct {
		Number json.Number `json:"number"`
	}
	return c.Name == toolName && c.Problem == "" && json.Unmarshal(c.Arguments, &args) == nil && args.Number.String() == fmt.Sprint(n)
}

func said(text string) []model.Message {
	return []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: text}}}}
}

// errMute is a model that ended without a word or a call.
var errMute = errors.New("the model answered nothing")

func (p Prober) ask(ctx context.Context, req model.Request) (a Outcome, err error) {
	req.Model, req.MaxTokens, req.Thinking = p.Model, answerTokens, model.ThinkingOff
	start := p.Now()
	var text strings.Builder
	thought := false
	for ev, err := range p.Provider.Stream(ctx, req) {
		if err != nil {
			return a, err
		}
		switch ev.Kind {
		case model.EventText:
			text.WriteString(ev.Text)
		case model.EventThinking:
			thought = true
		case model.EventToolCall:
			if a.Call == nil {
				a.Call = ev.Call
			}
		case model.EventUsage:
			a.Usage = ev.Usage
		}
	}
	a.Text, a.Took = text.String(), p.Now().Sub(start)
	if strings.TrimSpace(a.Text) == "" && a.Call == nil && !thought {
		return a, errMute
	}
	return a, nil
}
