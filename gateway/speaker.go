package gateway

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// speaker is who said a message, for commands that answer by it.
type speaker struct {
	network string // "" = one of our own clients
	id      string
	owner   bool
	chat    channel.ChatType
	shared  bool // a guest in the owner's conversation
}

type speakerKey struct{}

func withSpeaker(ctx context.Context, s speaker) context.Context {
	return context.WithValue(ctx, speakerKey{}, s)
}

// speakerIn is a guest where nobody said who speaks.
func speakerIn(ctx context.Context) speaker {
	s, _ := ctx.Value(speakerKey{}).(speaker)
	return s
}

// speakerOf is who said a turn.
func (g *Gateway) speakerOf(turn session.Turn) speaker {
	s := speaker{id: turn.Sender, owner: turn.Owner, chat: channel.Direct}
	r, ok := channel.ParseRoute(turn.Route)
	if !ok {
		return s
	}
	s.network, s.chat = r.Channel, r.Chat
	if c, ok, err := g.contacts.Lookup(r.Channel, r.Account, turn.Sender); err == nil && ok {
		s.shared = c.Shared
	}
	return s
}

// where names the network and the sender's id there.
func (s speaker) where() string {
	name := strings.ToUpper(s.network[:1]) + s.network[1:]
	if s.id == "" {
		return name
	}
	return fmt.Sprintf("%s (id %s)", name, strings.ReplaceAll(s.id, "`", ""))
}

func (g *Gateway) cmdWhoami(ctx context.Context, key, _ string) (string, error) {
	s := speakerIn(ctx)
	this := " This conversation is `" + key + "`."
	switch {
	case s.network == "" && s.owner:
		return "You are the owner, at a device of your own." + this, nil
	case s.network == "" || s.network == channel.API && !s.owner:
		return "You are a program with a token of its own, and not the owner." + this, nil
	case s.network == channel.API:
		return "You are the owner, by a program that you gave your rights." + this, nil
	case s.owner && s.chat == channel.Direct:
		return "You are the owner, on " + s.where() + "." + this, nil
	case s.owner:
		return "You are the owner, in a group on " + s.where() + "; what is said here is read by all of it. This conversation is the group's, `" + key + "`.", nil
	case s.chat != channel.Direct:
		return "You are a guest in a group on " + s.where() + ", and not the owner of this Hearth. This conversation is the group's, `" + key + "`.", nil
	case s.shared:
		return "You are a guest, let in on " + s.where() + ", and not the owner of this Hearth. The owner opened their own conversation to you, and this is it: `" + key + "`.", nil
	}
	return "You are a guest, let in on " + s.where() + ", and not the owner of this Hearth. This conversation is your own, `" + key + "`; the owner's is not open to you.", nil
}

// notForGuests refuses a command of the owner, with words: silence would look
// as if Hearth were broken.
func notForGuests(word string) string {
	return "`" + strings.ReplaceAll(word, "`", "") + "` is for the owner of this Hearth, so nothing was done. `/help` lists what you can use."
}

// forGuests reports whether a command is for everybody who may write.
func forGuests(name string) bool {
	switch name {
	case "help", "status", "whoami", "stop":
		return true
	}
	return false
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
