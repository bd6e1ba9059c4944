package gateway

import (
	"iter"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
)

// What keeps secrets from models, and models from repeating them (A-SEC-05).

// pastedWords follow a message of a person that holds a key. The words stay as
// they were said: taking them away would make the conversation a riddle.
const pastedWords = "🔑 Your message holds something that looks like a key or a password. It stands in this conversation's history, and models may read it. " +
	"If it is a real one, replace it at its service and keep the new one with `hearth secrets set NAME`: there no model sees it."

// scrubbed is a request without the secrets that Hearth keeps. What only looks
// like one goes through: a person may want to talk about it.
func (g *Gateway) scrubbed(req model.Request) model.Request {
	if system := g.redactor.Known(req.System); system != req.System {
		req.System, req.Stable = system, 0 // its places are others now
	}
	if !slices.ContainsFunc(req.Messages, g.holdsSecret) {
		return req
	}
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		if !g.holdsSecret(m) {
			continue
		}
		blocks := slices.Clone(m.Blocks)
		for j := range blocks {
			blocks[j] = g.scrubbedBlock(blocks[j])
		}
		req.Messages[i].Blocks = blocks
	}
	return req
}

func (g *Gateway) holdsSecret(m model.Message) bool {
	has := func(s string) bool { return g.redactor.Known(s) != s }
	return slices.ContainsFunc(m.Blocks, func(b model.Block) bool {
		return has(b.Text) || b.ToolCall != nil && has(string(b.ToolCall.Arguments)) || b.ToolResult != nil && has(b.ToolResult.Text)
	})
}

func (g *Gateway) scrubbedBlock(b model.Block) model.Block {
	if b.Signature == "" { // signed reasoning is the service's own, and checked by it
		b.Text = g.redactor.Known(b.Text)
	}
	if b.ToolCall != nil {
		call := *b.ToolCall
		call.Arguments = g.redactor.KnownJSON(call.Arguments)
		b.ToolCall = &call
	}
	if b.ToolResult != nil {
		res := *b.ToolResult
		res.Text = g.redactor.Known(res.Text)
		b.ToolResult = &res
	}
	return b
}

// discreet hides secrets in what a model says, wherever the pieces are cut.
func (g *Gateway) discreet(answer iter.Seq2[model.Event, error]) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		words, thoughts := speech{s: g.redactor.Stream()}, speech{s: g.redactor.Stream()}
		rest := func(kind model.EventKind, sp *speech) bool {
			text := sp.end()
			return text == "" || yield(model.Event{Kind: kind, Text: text}, nil)
		}
		for ev, err := range answer {
			text, thought := err == nil && ev.Kind == model.EventText, err == nil && ev.Kind == model.EventThinking && ev.Text != ""
			if !thought && !rest(model.EventThinking, &thoughts) || !text && !rest(model.EventText, &words) {
				return
			}
			switch {
			case text:
				ev.Text = words.say(ev.Text)
			case thought:
				ev.Text = thoughts.say(ev.Text)
			case ev.Signature != "":
				if thoughts.altered() {
					ev.Signature = "" // it vouches for the words that were said
				}
				thoughts = speech{s: thoughts.s}
			}
			if silent := (ev.Kind == model.EventText || ev.Kind == model.EventThinking) && ev.Text == "" && ev.Signature == ""; err == nil && silent {
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
		_ = rest(model.EventThinking, &thoughts) && rest(model.EventText, &words)
	}
}

// speech is what was said and what of it is shown.
type speech struct {
	s           *redact.Stream
	said, shown strings.Builder
}

func (p *speech) say(words string) string {
	p.said.WriteString(words)
	out := p.s.Write(words)
	p.shown.WriteString(out)
	return out
}

func (p *speech) end() string {
	out := p.s.Flush()
	p.shown.WriteString(out)
	return out
}

func (p *speech) altered() bool { return p.said.String() != p.shown.String() }
