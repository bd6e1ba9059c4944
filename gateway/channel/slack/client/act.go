package client

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Pin keeps a message among the pinned ones of its conversation, or lets it go.
func (c *Client) Pin(ctx context.Context, to channel.Target, messageID string, on bool) error {
	args, err := c.about(ctx, to, messageID, "timestamp")
	if err != nil {
		return err
	}
	if on {
		_, err = c.ask(ctx, call{method: "pins.add"}, args, nil)
		return ignore(err, "already_pinned")
	}
	_, err = c.ask(ctx, call{method: "pins.remove"}, args, nil)
	return ignore(err, "no_pin", "not_pinned")
}

// Read reads what was written before in a conversation, or in a thread.
func (c *Client) Read(ctx context.Context, to channel.Target, before string, limit int) (out []channel.Past, err error) {
	at, err := c.place(ctx, to)
	if err != nil {
		return nil, err
	}
	limit = min(max(limit, 1), pageSize)
	args, method := url.Values{"channel": {at}, "limit": {strconv.Itoa(limit)}}, "conversations.history"
	if before != "" {
		if micros(before) == 0 {
			return nil, refused("%q is no message", text.Ellipsis(before, 40))
		}
		args.Set("latest", before)
	}
	if to.Thread != "" { // it comes from its beginning
		method = "conversations.replies"
		args.Set("ts", to.Thread)
		args.Set("limit", strconv.Itoa(pageSize))
	}
	var page struct {
		Messages []message `json:"messages"`
	}
	if _, err := c.ask(ctx, call{method: method}, args, &page); err != nil {
		return nil, err
	}
	if to.Thread == "" {
		slices.Reverse(page.Messages) // the newest came first
	}
	for _, m := range page.Messages {
		who := user{ID: m.Bot, Name: m.Name}
		if m.User != "" {
			if who, err = c.person(ctx, m.User); err != nil {
				return nil, err
			}
		}
		said, err := c.words(ctx, m.Text)
		if err != nil {
			return nil, err
		}
		for _, f := range m.Files {
			said = strings.TrimSpace(said + "\n[file: " + f.Name + "]")
		}
		out = append(out, channel.Past{MessageID: m.TS, SenderID: who.ID, SenderName: who.shown(), Text: said,
			At: time.UnixMicro(micros(m.TS))})
	}
	return out[max(len(out)-limit, 0):], nil
}

// Menu keeps which words behind /hearth are commands. Slack's own menu comes from the
// app's manifest, where the one command stands.
func (c *Client) Menu(_ context.Context, commands []channel.Command) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.menu = map[string]bool{}
	for _, cmd := range commands {
		c.menu[cmd.Name] = true
	}
	return nil
}

// isCommand reports whether a word is the name of a command: "/hearth status" is the
// same as /status, and "/hearth how are you" is not.
func (c *Client) isCommand(word string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.menu[word]
}
