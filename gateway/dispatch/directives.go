package dispatch

import (
	"context"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Levels and models that a message asks for beside what it says ("/think high
// what is 1+1"): they hold for its own answer, and the model does not read them.

// directives takes them out of the text of a turn. said is what else the message
// says, "" when it says nothing else: then they are commands, which change the
// session. Whoever may not use them as commands has none.
func (d *Dispatcher) directives(turn session.Turn) (found []command.Directive, said string) {
	if !turn.Owner {
		return nil, turn.Text
	}
	found, said = command.Directives(turn.Text, func(name string) bool {
		_, ok := d.models.Meant(turn.SessionKey, name)
		return ok
	})
	if len(found) == 0 {
		return nil, turn.Text
	}
	if inv, ok := d.commands.Parse(turn.Text); ok && inv.Name != found[0].Name {
		return nil, turn.Text // of another command, or behind one that is wrong
	}
	if _, ok := d.commands.Parse(said); ok {
		return nil, turn.Text
	}
	return found, said
}

// hintsOf are the directives as a run keeps them.
func (d *Dispatcher) hintsOf(key string, found []command.Directive) (h session.Hints) {
	for _, x := range found {
		switch x.Name {
		case "think":
			h.Thinking = x.Value
		case "verbose":
			h.Verbose = x.Value
		case "reasoning":
			h.Reasoning = x.Value
		case "model":
			h.Model, _ = d.models.Meant(key, x.Value)
		}
	}
	return h
}

// Hinted is a turn whose directives are taken out, if it says something beside
// them.
func (d *Dispatcher) Hinted(turn session.Turn) session.Turn {
	found, said := d.directives(turn)
	if len(found) == 0 || said == "" {
		return turn
	}
	turn.Hints = d.hintsOf(turn.SessionKey, found)
	if turn.ForAgent == "" {
		turn.ForAgent = said
	}
	if turn.Title == "" {
		turn.Title = said
	}
	return turn
}

// hintedPrompt takes them out of what the model reads of a message from a network:
// out of the sender's own words there, and not of what was said before it, what is
// quoted or passed on.
func (d *Dispatcher) hintedPrompt(a *inbound.Accepted, turn *session.Turn) {
	h := d.Hinted(*turn)
	if h.Hints == (session.Hints{}) {
		return
	}
	_, a.Prompt.Body = d.directives(session.Turn{SessionKey: turn.SessionKey, Text: a.Prompt.Body, Owner: true})
	a.Text = a.Prompt.Render()
	turn.Hints, turn.Title, turn.ForAgent = h.Hints, h.Title, a.Text
}

// setLevels carries out directives that stand alone, which hold for the session.
func (d *Dispatcher) setLevels(ctx context.Context, key string, found []command.Directive) (string, error) {
	var said []string
	for _, x := range found {
		c, _ := d.commands.Get(x.Name)
		words, err := c.Do(ctx, key, x.Value)
		if err != nil {
			return "", err
		}
		said = append(said, words)
	}
	return strings.Join(said, "\n"), nil
}

// IsCommand tells what is carried out at once, and does not wait for more text.
func (d *Dispatcher) IsCommand(text string) bool {
	if _, ok := d.commands.Parse(text); !ok {
		return command.IsStop(text)
	}
	found, said := d.directives(session.Turn{Text: text, SessionKey: session.MainAlias, Owner: true})
	return len(found) == 0 || said == ""
}
