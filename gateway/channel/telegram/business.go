package telegram

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/text"
)

// A person with Telegram Business lets a bot into the chats that they have with their
// customers: it reads them and answers in the person's name. Anybody can connect any
// bot, so nothing of such a chat counts before the person's account stands in the
// settings.

// businessScheme begins the conversations of those chats: their number alone is the
// customer's own chat with the bot.
const businessScheme = "business:"

// businessNote begins what is no message and cannot be answered by its number.
const businessNote = "business-"

// maxConnections that are remembered; each can be asked for again.
const maxConnections = 256

type connection struct {
	ID       string `json:"id"`
	User     user   `json:"user"`
	UserChat int64  `json:"user_chat_id"`
	Date     int64  `json:"date"`
	Rights   struct {
		CanReply bool `json:"can_reply"`
	} `json:"rights"`
	CanReply bool `json:"can_reply"` // where servers are older than the rights
	Enabled  bool `json:"is_enabled"`
}

func (b connection) replies() bool { return b.Enabled && (b.CanReply || b.Rights.CanReply) }

func (b connection) owner() string { return strconv.FormatInt(b.User.ID, 10) }

type deletedMessages struct {
	ConnectionID string  `json:"business_connection_id"`
	Chat         chat    `json:"chat"`
	IDs          []int64 `json:"message_ids"`
}

// connected remembers what a person lets the bot do.
func (c *Channel) connected(b connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.business == nil {
		c.business = map[string]connection{}
	}
	if _, known := c.business[b.ID]; !known && len(c.business) >= maxConnections {
		clear(c.business)
	}
	c.business[b.ID] = b
}

// connection is what holds for an id now. One that Telegram does not know may do
// nothing.
func (c *Channel) connection(ctx context.Context, id string) (connection, error) {
	b, known := c.businessOf(id)
	if known {
		return b, nil
	}
	err := c.api.call(ctx, "getBusinessConnection", map[string]string{"business_connection_id": id}, &b)
	if errors.Is(err, channel.ErrRefused) {
		b, err = connection{}, nil
	}
	if err != nil {
		return b, err
	}
	b.ID = id
	c.connected(b)
	return b, nil
}

func (c *Channel) businessOf(id string) (b connection, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known = c.business[id]
	return b, known
}

// allowed reports whether the settings let the bot into somebody's chats.
func (c *Channel) allowed(b connection) bool {
	return b.User.ID != 0 && slices.Contains(c.opt.Business, b.owner())
}

// onBehalf turns what happened in the chats of a person with Telegram Business into
// messages: none for most of it. An error means that it is to be tried again.
func (c *Channel) onBehalf(ctx context.Context, u update) ([]channel.Inbound, error) {
	if u.Connected != nil {
		return c.noteConnection(*u.Connected, u.ID), nil
	}
	id := ""
	m := u.BusinessMessage
	if m == nil {
		m = u.EditedBusiness
	}
	switch {
	case m != nil:
		id = m.ConnectionID
	case u.DeletedBusiness != nil:
		id = u.DeletedBusiness.ConnectionID
	}
	if !plainWord(id, 1, 128) {
		return nil, nil
	}
	b, err := c.connection(ctx, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask Telegram for whom a business message is: %w", err)
	case !c.allowed(b):
		c.log.Debug("Telegram Business: a message for an account that is not in businessAccounts was passed over", "update", u.ID)
		return nil, nil
	case !b.replies():
		c.log.Info("Telegram Business: the account does not let this bot reply, so its messages are passed over", "account", b.owner())
		return nil, nil
	case m == nil:
		return c.withdrawn(b, *u.DeletedBusiness), nil
	}
	in, ok := c.customer(b, u, m)
	if !ok {
		return nil, nil
	}
	return []channel.Inbound{in}, nil
}

// customer is a message of a chat between a person and one of their customers. What the
// person says there themselves is context and asks for nothing.
func (c *Channel) customer(b connection, u update, m *message) (in channel.Inbound, ok bool) {
	if m.ByBot != nil || m.Chat.Type != "private" || m.From == nil {
		return in, false // what a bot said for them comes back
	}
	plain := u
	plain.Message, plain.Edited = u.BusinessMessage, u.EditedBusiness
	plain.BusinessMessage, plain.EditedBusiness = nil, nil
	if in, ok = c.inbound(plain); !ok {
		return in, false
	}
	c.behalf(b, &in)
	in.Mentioned = m.From.ID != b.User.ID
	return in, true
}

// behalf puts something of a person's chat where it belongs: to a conversation of its
// own, in which others speak than its owner.
func (c *Channel) behalf(b connection, in *channel.Inbound) {
	who := cleanName(b.User)
	in.Behalf = b.owner()
	in.Label = text.Ellipsis(in.Label, 60) + ", a customer of " + who
	in.Conversation = businessScheme + b.ID + ":" + in.Conversation
	in.Chat, in.Thread = channel.Group, ""
}

func cleanName(u user) string {
	name := oneLineOf(strings.TrimSpace(u.FirstName + " " + u.LastName))
	if name == "" {
		name = strconv.FormatInt(u.ID, 10)
	}
	return text.Ellipsis(name, 60)
}

// withdrawn are messages that were deleted: what waits of them is not read any more.
func (c *Channel) withdrawn(b connection, d deletedMessages) (out []channel.Inbound) {
	if d.Chat.ID == 0 || d.Chat.Type != "private" {
		return nil
	}
	for _, id := range d.IDs[:min(len(d.IDs), 100)] {
		in := c.happening(d.Chat)
		in.MessageID, in.At, in.Edited, in.Withdrawn = strconv.FormatInt(id, 10), c.now(), true, true
		in.SenderID = strconv.FormatInt(d.Chat.ID, 10)
		c.behalf(b, &in)
		in.Mentioned = true
		out = append(out, in)
	}
	return out
}

// noteConnection remembers what a person lets the bot do. One who is not in the
// settings is told, as far as they may write here at all, how to be.
func (c *Channel) noteConnection(b connection, number int64) []channel.Inbound {
	if !plainWord(b.ID, 1, 128) || b.User.ID == 0 {
		return nil
	}
	c.connected(b)
	c.log.Info("Telegram Business: a connection changed", "account", b.owner(), "enabled", b.Enabled, "replies", b.replies(),
		"allowed", c.allowed(b))
	if c.allowed(b) || !b.Enabled || b.UserChat == 0 {
		return nil
	}
	in := c.happening(chat{ID: b.UserChat, Type: "private", FirstName: b.User.FirstName, LastName: b.User.LastName})
	sender(&message{From: &b.User}, &in)
	in.MessageID, in.At, in.Mentioned = businessNote+strconv.FormatInt(number, 10), time.Unix(b.Date, 0), true
	in.Text = fmt.Sprintf("[Telegram Business: this bot was connected to the account %s. Nobody of its customers is answered before the "+
		"owner of this computer allows it: hearth config set channels.telegram.businessAccounts '[\"%s\"]']", b.owner(), b.owner())
	return []channel.Inbound{in}
}

// mayReply refuses what a person's connection does not allow, before anything is sent.
func (c *Channel) mayReply(ctx context.Context, to place) error {
	if to.conn == "" {
		return nil
	}
	b, err := c.connection(ctx, to.conn)
	switch {
	case err != nil:
		return err
	case !c.allowed(b):
		return fmt.Errorf("%w: this chat belongs to a Telegram Business account that is not in channels.telegram.businessAccounts",
			channel.ErrRefused)
	case !b.replies():
		return fmt.Errorf("%w: the Telegram Business account %s does not let this bot reply to its customers; in Telegram: Settings, "+
			"Telegram Business, Chatbots, “Reply to messages”", channel.ErrRefused, b.owner())
	}
	return nil
}

// business are the fields that a form needs for such a chat.
func (p place) business() [][2]string {
	if p.conn == "" {
		return nil
	}
	return [][2]string{{"business_connection_id", p.conn}}
}

type deleteBusiness struct {
	ConnectionID string  `json:"business_connection_id"`
	IDs          []int64 `json:"message_ids"`
}
