package loopback

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Can implements channel.Standing: it has every ability, and buttons where its limits
// speak of them.
func (c *Channel) Can(a channel.Ability) bool { return a != channel.CanChoose || c.limits.Choices > 0 }

// Settle takes the buttons of a message away.
func (c *Channel) Settle(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.change(ctx, OpSettle, to, messageID, func(m *Message) error {
		m.Choices = nil
		m.Text = text
		return nil
	})
}

// Answer keeps the words with the message whose button was pressed.
func (c *Channel) Answer(ctx context.Context, to channel.Target, _ string, p channel.Press, text string) error {
	return c.change(ctx, OpAnswer, to, p.MessageID, func(m *Message) error {
		m.Words = append(m.Words, text)
		return nil
	})
}

// Poll asks everybody.
func (c *Channel) Poll(ctx context.Context, to channel.Target, p channel.Poll) (channel.Receipt, error) {
	after, err := c.net.begin(ctx, OpPoll)
	if err != nil {
		return channel.Receipt{}, err
	}
	defer c.net.mu.Unlock()
	if p.Question == "" || len(p.Options) < 2 {
		return channel.Receipt{}, fmt.Errorf("%w: a poll has a question and two answers at least", channel.ErrRefused)
	}
	return c.put(Message{To: to, Text: p.Question, Options: p.Options, Key: p.Key}), after
}

// Pin keeps a message at the top, or lets it go.
func (c *Channel) Pin(ctx context.Context, to channel.Target, messageID string, on bool) error {
	return c.change(ctx, OpPin, to, messageID, func(m *Message) error {
		m.Pinned = on
		return nil
	})
}

// Read brings what was said in a conversation.
func (c *Channel) Read(ctx context.Context, to channel.Target, before string, limit int) (out []channel.Past, err error) {
	after, err := c.net.begin(ctx, OpRead)
	if err != nil {
		return nil, err
	}
	defer c.net.mu.Unlock()
	for _, m := range c.net.messages {
		if m.ID == before {
			break
		}
		if m.To.Conversation == to.Conversation && m.To.Thread == to.Thread && !m.Deleted {
			out = append(out, channel.Past{MessageID: m.ID, SenderID: c.account, SenderName: c.account, Text: m.Text, At: m.at})
		}
	}
	return out[max(len(out)-limit, 0):], after
}

// Search looks for words in a conversation.
func (c *Channel) Search(ctx context.Context, to channel.Target, words string, limit int) ([]channel.Past, error) {
	all, err := c.Read(ctx, to, "", math.MaxInt32)
	all = slices.DeleteFunc(all, func(p channel.Past) bool { return !strings.Contains(strings.ToLower(p.Text), strings.ToLower(words)) })
	return all[max(len(all)-limit, 0):], err
}

// Menu shows commands.
func (c *Channel) Menu(ctx context.Context, commands []channel.Command) error {
	after, err := c.net.begin(ctx, OpMenu)
	if err != nil {
		return err
	}
	defer c.net.mu.Unlock()
	c.net.menu = slices.Clone(commands)
	c.net.change()
	return after
}

// Menu are the commands that people see in a language, "" for all others: the name,
// and what is said of it.
func (n *Net) Menu(language string) (out [][2]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.menu {
		out = append(out, [2]string{c.Name, cmp.Or(c.Local[language], c.Description)})
	}
	return out
}
