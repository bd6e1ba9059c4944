package guarded

import (
	"iter"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
)

// request is a request without the secrets that Hearth keeps. What only looks
// like one goes through: a person may want to talk about it.
func (g *Guard) request(req model.Request) model.Request {
	generation := g.Hide.Generation()
	if now := (cleared{req.System, generation}); g.system.Load() == nil || *g.system.Load() != now {
		if system := g.Hide.Known(req.System); system != req.System {
			req.System, req.Stable = system, 0 // its places are others now
		} else {
			g.system.Store(&now)
		}
	}
	holds := func(m model.Message) bool { return !m.Clear(generation, g.clear) }
	if !slices.ContainsFunc(req.Messages, holds) {
		return req
	}
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		if !holds(m) {
			continue
		}
		blocks := slices.Clone(m.Blocks)
		for j := range blocks {
			blocks[j] = g.block(blocks[j])
		}
		req.Messages[i].Blocks = blocks
	}
	return req
}

// cleared is a text in which no secret was found, and what was looked for.
type cleared struct {
	text       string
	generation uint64
}

// clear reports whether no secret is in a message.
func (g *Guard) clear(m model.Message) bool {
	has := func(s string) bool { return g.Hide.Known(s) != s }
	return !slices.ContainsFunc(m.Blocks, func(b model.Block) bool {
		return has(b.Text) || b.ToolCall != nil && has(string(b.ToolCall.Arguments)) || b.ToolResult != nil && has(b.ToolResult.Text)
	})
}

func (g *Guard) block(b model.Block) model.Block {
	if b.Signature == "" { // signed reasoning is the service's own, and checked by it
		b.Text = g.Hide.Known(b.Text)
	}
	if b.ToolCall != nil {
		call := *b.ToolCall
		call.Arguments = g.Hide.KnownJSON(call.Arguments)
		b.ToolCall = &call
	}
	if b.ToolResult != nil {
		res := *b.ToolResult
		res.Text = g.Hide.Known(res.Text)
		b.ToolResult = &res
	}
	return b
}

// answer hides secrets in what a model says, wherever the pieces are cut.
func (g *Guard) answer(said iter.Seq2[model.Event, error]) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		words, thoughts := speech{s: g.Hide.Stream()}, speech{s: g.Hide.Stream()}
		rest := func(kind model.EventKind, sp *speech) bool {
			text := sp.end()
			return text == "" || yield(model.Event{Kind: kind, Text: text}, nil)
		}
		for ev, err := range said {
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
			if silent := (ev.Kind == model.EventText || ev.Kind == model.EventThinking) && ev.Text == "" && ev.Signature == ""; err == nil &&
				silent {
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
