//go:build goolm

package client

import (
	"context"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	words "github.com/hearth-assistant/hearth/internal/text"
)

// put is somebody's emoji on a message.
type put struct {
	by    id.UserID
	of    string
	emoji string
}

// mostPut is how many are remembered, to know what somebody takes away.
const mostPut = 2000

// reacted makes a reaction of an event; ok is false for what is none for us. Reactions
// are not encrypted, in no room: what they say is no more than context. Whether the
// message is ours the gateway knows.
func (c *Client) reacted(ctx context.Context, s *session, e *event.Event) (in channel.Inbound, ok bool, err error) {
	var p put
	removed := e.Type.Type == event.EventRedaction.Type
	e.Type.Class = event.MessageEventType
	_ = e.Content.ParseRaw(e.Type) // twice is an error, and what cannot be read is nothing
	if removed {
		if p, ok = c.takenAway(e); !ok {
			return in, false, nil
		}
	} else {
		content, is := e.Content.Parsed.(*event.ReactionEventContent)
		if !is || content.RelatesTo.GetAnnotationID() == "" || content.RelatesTo.GetAnnotationKey() == "" {
			return in, false, nil
		}
		p = put{e.Sender, string(content.RelatesTo.GetAnnotationID()), words.Ellipsis(content.RelatesTo.GetAnnotationKey(), 64)}
		c.mu.Lock()
		if len(c.puts) >= mostPut {
			clear(c.puts)
		}
		c.puts[e.ID] = p
		c.mu.Unlock()
	}
	r, err := c.room(ctx, s, e.RoomID)
	if err != nil {
		if refusedOnly(err) { // we are not there any more
			err = nil
		}
		return in, false, err
	}
	in = channel.Inbound{
		Channel: matrix.ID, Account: c.account, SenderID: string(e.Sender), SenderName: e.Sender.Localpart(), MessageID: string(e.ID),
		At: c.at(e), Reaction: channel.Reaction{MessageID: p.of, Emoji: p.emoji, Removed: removed},
	}
	in.Chat, in.Conversation, in.Label, err = c.place(ctx, r)
	return in, err == nil, err
}

// takenAway is the emoji that a redaction takes away; ok is false when it takes away
// something else, or somebody else's.
func (c *Client) takenAway(e *event.Event) (p put, ok bool) {
	of := e.Redacts
	if content, is := e.Content.Parsed.(*event.RedactionEventContent); of == "" && is {
		of = content.Redacts
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok = c.puts[of]
	if !ok || p.by != e.Sender {
		return p, false
	}
	delete(c.puts, of)
	return p, true
}
