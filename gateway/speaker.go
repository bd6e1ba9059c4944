package gateway

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
)

func (g *Gateway) cmdWhoami(ctx context.Context, key, _ string) (string, error) {
	s := command.SpeakerIn(ctx)
	this := " This conversation is `" + key + "`."
	switch {
	case s.Network == "" && s.Owner:
		return "You are the owner, at a device of your own." + this, nil
	case s.Network == "" || s.Network == channel.API && !s.Owner:
		return "You are a program with a token of its own, and not the owner." + this, nil
	case s.Network == channel.API:
		return "You are the owner, by a program that you gave your rights." + this, nil
	case s.Owner && s.Chat == channel.Direct:
		return "You are the owner, on " + s.Where() + "." + this, nil
	case s.Owner:
		return "You are the owner, in a group on " + s.Where() + "; what is said here is read by all of it. This conversation is the group's, `" + key + "`.", nil
	case s.Chat != channel.Direct:
		return "You are a guest in a group on " + s.Where() + ", and not the owner of this Hearth. This conversation is the group's, `" + key + "`.", nil
	case s.Shared:
		return "You are a guest, let in on " + s.Where() + ", and not the owner of this Hearth. The owner opened their own conversation to you, and this is it: `" + key + "`.", nil
	}
	return "You are a guest, let in on " + s.Where() + ", and not the owner of this Hearth. This conversation is your own, `" + key + "`; the owner's is not open to you.", nil
}

// guestStatus tells about the conversation and nothing of the settings, the
// other conversations or the computer.
func (g *Gateway) guestStatus(key string) (string, error) {
	row, _, err := g.session.Get(key)
	if err != nil {
		return "", err
	}
	state := "Hearth is here."
	if row.HasActiveRun {
		state = "Hearth is answering."
	}
	return fmt.Sprintf("%s This conversation has %s.", state, counted(row.MessageCount, "message")), nil
}
