package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/emoji"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	"github.com/hearth-assistant/hearth/internal/text"
)

// reacted puts somebody's emoji on a message into the line. Those that came while nobody
// was connected are not told.
func (c *Client) reacted(ctx context.Context, ev event) error {
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	if ev.User == self.ID || ev.User <= 0 || ev.Emoji == "" {
		return nil
	}
	var said struct {
		Message message `json:"message"`
	}
	err = c.ask(ctx, http.MethodGet, fmt.Sprintf("/messages/%d", ev.MessageID), url.Values{"apply_markdown": {"false"}}, &said)
	if isNo(err) { // it is gone meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	m := said.Message
	in := channel.Inbound{
		Channel: zulip.ID, Account: c.account, SenderID: strconv.FormatInt(ev.User, 10), At: c.now(),
		MessageID: fmt.Sprintf("reaction-%d-%d-%s-%s-%d", ev.MessageID, ev.User, ev.Emoji, ev.Op, c.now().UnixNano()),
		Reaction: channel.Reaction{MessageID: strconv.FormatInt(ev.MessageID, 10), Emoji: text.Ellipsis(emojiSign(ev.Emoji), 64),
			Removed: ev.Op == "remove", Ours: m.SenderID == self.ID},
	}
	if !m.where(&in, self.ID) {
		return nil
	}
	who, err := c.person(ctx, ev.User)
	if err != nil {
		return err
	}
	in.SenderName, in.SenderIsBot = cmp.Or(who.Name, in.SenderID), who.IsBot
	if in.Chat == channel.Direct {
		in.Label = in.SenderName
	}
	// The mark is the message's: an emoji says nothing of how far messages were taken.
	return c.queue.Add(intake.Item{ID: in.MessageID, Mark: ev.MessageID, In: in})
}

// emojiSign is the emoji that Zulip calls by a name.
func emojiSign(name string) string {
	for common, own := range ownNames() {
		if own == name {
			return emoji.Sign(common)
		}
	}
	return emoji.Sign(name)
}
