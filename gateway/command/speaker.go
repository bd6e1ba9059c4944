package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Speaker is who said a message, for commands that answer by it.
type Speaker struct {
	Network string // "" = one of our own clients
	Label   string // of the network, for people
	Shown   string // ID as the network writes it; "" is ID
	ID      string
	Owner   bool
	Chat    channel.ChatType
	Shared  bool // a guest in the owner's conversation
}

type speakerKey struct{}

// WithSpeaker returns a context for a command that a speaker gave.
func WithSpeaker(ctx context.Context, s Speaker) context.Context {
	return context.WithValue(ctx, speakerKey{}, s)
}

// SpeakerIn is a guest where nobody said who speaks.
func SpeakerIn(ctx context.Context) Speaker {
	s, _ := ctx.Value(speakerKey{}).(Speaker)
	return s
}

// Where names the network and the sender's id there.
func (s Speaker) Where() string {
	name, id := cmp.Or(s.Label, s.Network), cmp.Or(s.Shown, s.ID)
	if id == "" {
		return name
	}
	return fmt.Sprintf("%s (id %s)", name, strings.ReplaceAll(id, "`", ""))
}

// NotForGuests refuses a command of the owner, with words: silence would look
// as if Hearth were broken.
func NotForGuests(word string) string {
	return "`" + strings.ReplaceAll(word, "`", "") + "` is for the owner of this Hearth, so nothing was done. `/help` lists what you can use."
}
