package client

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/emoji"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/internal/text"
)

// put is an emoji that somebody put on a post, as an event tells of it.
type put struct {
	reaction
	CreateAt int64 `json:"create_at"`
}

// reacted puts somebody's emoji on a post into the line. Those that came while nobody
// was connected are not told.
func (c *Client) reacted(ctx context.Context, r put, removed bool) error {
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	if r.UserID == self.ID || !mattermost.IsID(r.UserID) || !mattermost.IsID(r.PostID) || r.Name == "" {
		return nil
	}
	p, err := c.root(ctx, r.PostID)
	if err != nil || !mattermost.IsID(p.ChannelID) {
		return err
	}
	who, err := c.person(ctx, r.UserID)
	if err != nil {
		return err
	}
	where, err := c.place(ctx, p.ChannelID)
	if err != nil {
		return err
	}
	in := channel.Inbound{
		Channel: mattermost.ID, Account: c.account, Chat: channel.Group, Conversation: p.ChannelID, Label: cmp.Or(where.Label, where.Name),
		Thread: p.RootID, SenderID: r.UserID, SenderName: who.shown(), SenderHandle: who.Name, SenderIsBot: who.IsBot, At: c.now(),
		MessageID: fmt.Sprintf("reaction-%s-%s-%s-%d-%v", r.PostID, r.UserID, r.Name, r.CreateAt, removed),
		Reaction: channel.Reaction{MessageID: r.PostID, Emoji: text.Ellipsis(emoji.Sign(r.Name), 64), Removed: removed,
			Ours: p.UserID == self.ID},
	}
	if r.CreateAt > 0 && !removed {
		in.At = time.UnixMilli(r.CreateAt)
	}
	if where.Type == "D" {
		in.Chat, in.Conversation, in.Label = channel.Direct, mattermost.PersonSign+r.UserID, who.shown()
	}
	// The mark is the post's: an emoji says nothing of how far posts were taken.
	return c.queue.Add(intake.Item{ID: in.MessageID, Mark: p.CreateAt, In: in})
}
