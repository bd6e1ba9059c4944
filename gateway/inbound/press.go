package inbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Words for who pressed a button that does nothing.
const (
	notHere = "You may not answer here. Nothing was done."
	over    = "This was answered already."
)

// errPressed is a press that another was faster than.
var errPressed = errors.New("the question was answered meanwhile")

// pressed decides over a press of a button. One that may be is the same as writing
// what the button stands for: all rules for messages hold, with a sender of its own.
func (g *Gate) pressed(ctx context.Context, in channel.Inbound, pol Policy, known *contact.Contact) error {
	if g.Questions == nil {
		g.decide(RulePress, "no question is asked with buttons", in, "")
		return nil
	}
	in.Mentioned, in.Text, in.Command, in.Media, in.Edited = true, "", "", nil, false
	v := pol.admit(in, known)
	if v.rule != RuleAccepted {
		g.decide(v.rule, v.detail, in, "")
		g.Questions.Tell(in, notHere)
		return nil
	}
	says, word, err := g.Questions.Look(in, v.owner)
	if err != nil {
		return fmt.Errorf("look up what a button means: %w", err)
	}
	if word != "" {
		g.decide(RulePress, word, in, "")
		g.Questions.Tell(in, word)
		return nil
	}
	turn := in
	turn.Text, turn.MessageID = says, in.Press.MessageID
	err = g.take(ctx, turn, pol, v, func(tx *store.Tx) error {
		if err := g.Questions.Take(tx, in, v.owner); err != nil {
			return fmt.Errorf("%w: %w", errPressed, err)
		}
		return nil
	})
	if errors.Is(err, errPressed) {
		g.decide(RulePress, err.Error(), in, "")
		g.Questions.Tell(in, over)
		return nil
	}
	if err == nil {
		g.Questions.Taken(in)
	}
	return err
}
