package client

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
)

// words puts a text into a request, with how parts of it look.
func (c *Client) words(params map[string]any, markdown string) (string, error) {
	plain, styles := markup.PlainStyled(markdown)
	if n := utf8.RuneCountInString(plain); n > signal.Limits.Text {
		return "", refused("the message has %d characters, and at most %d are sent", n, signal.Limits.Text)
	}
	params["message"] = plain
	var list []string
	for _, s := range styles {
		if name := map[markup.Style]string{markup.Bold: "BOLD", markup.Italic: "ITALIC", markup.Monospace: "MONOSPACE"}[s.Style]; name != "" {
			list = append(list, fmt.Sprintf("%d:%d:%s", s.Start, s.Length, name))
		}
	}
	if len(list) > 0 {
		params["textStyle"] = list
	}
	return plain, nil
}

// Send sends a message with its files.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	params, err := recipient(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	plain, err := c.words(params, m.Text)
	if err != nil {
		return channel.Receipt{}, err
	}
	if strings.TrimSpace(plain) == "" && len(m.Media) == 0 {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	var files []string
	for _, f := range m.Media {
		uri, err := c.inline(f)
		if err != nil {
			return channel.Receipt{}, err
		}
		files = append(files, uri)
	}
	q := call{method: "send", params: params, once: true, within: askTime, most: maxAnswer}
	if len(files) > 0 {
		params["attachment"], q.within = files, fileTime
	}
	c.quote(params, m.To.ReplyTo)
	var s sent
	if err := c.do(ctx, q, &s); err != nil {
		return channel.Receipt{}, err
	}
	return c.receipt(s, plain)
}

// quote puts the message that is answered into a request, when it is known.
func (c *Client) quote(params map[string]any, id string) {
	at, author, ok := parseID(id)
	was, known := c.known.get(id)
	if !ok || !known || was.text == "" {
		return
	}
	if author == "" {
		author = c.number
	}
	params["quoteTimestamp"], params["quoteAuthor"], params["quoteMessage"] = at, author, was.text
}

// receipt is what is known of a message that signal-cli sent.
func (c *Client) receipt(s sent, plain string) (channel.Receipt, error) {
	if s.Timestamp <= 0 {
		return channel.Receipt{}, fmt.Errorf("%w: signal-cli's answer names no message", channel.ErrUncertain)
	}
	if len(s.Results) > 0 && s.has("SUCCESS") == 0 { // a group that it reached nobody of
		if s.has("RATE_LIMIT_FAILURE") == len(s.Results) {
			return channel.Receipt{}, c.limited(s)
		}
		return channel.Receipt{}, s.verdict("the message reached nobody of the group")
	}
	id := strconv.FormatInt(s.Timestamp, 10)
	c.known.with(id, func(m *message) { m.text = plain })
	return channel.Receipt{MessageID: id}, nil
}

// own reads what a message of ours is called; within: it is not older than that.
func (c *Client) own(id string, within time.Duration) (at int64, err error) {
	at, author, ok := parseID(id)
	switch {
	case !ok || author != "":
		return 0, refused("%q is no message of ours", cut(id))
	case c.now().Sub(time.UnixMilli(at)) > within:
		return 0, refused("Signal takes changes of a message for %v, and this one is older", within)
	}
	return at, nil
}

// Edit gives a message another text. Each edit names the one before it.
func (c *Client) Edit(ctx context.Context, to channel.Target, messageID, markdown string) error {
	at, err := c.own(messageID, signal.Limits.EditWindow)
	if err != nil {
		return err
	}
	params, err := recipient(to.Conversation)
	if err != nil {
		return err
	}
	plain, err := c.words(params, markdown)
	if err != nil {
		return err
	}
	was, _ := c.known.get(messageID)
	switch {
	case strings.TrimSpace(plain) == "":
		return refused("there is nothing to show")
	case was.removed:
		return refused("the message was deleted")
	case was.text == plain:
		return nil
	case was.edits >= signal.Limits.Edits:
		return refused("Signal takes %d edits of a message, and this one has had them", signal.Limits.Edits)
	}
	params["editTimestamp"] = max(at, was.newest)
	var s sent
	if err := c.do(ctx, call{method: "send", params: params, once: true, within: askTime, most: maxAnswer}, &s); err != nil {
		return err
	}
	c.known.with(messageID, func(m *message) { m.text, m.newest, m.edits = plain, s.Timestamp, m.edits+1 })
	return nil
}

// Delete removes a message for everybody.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	at, err := c.own(messageID, signal.Limits.EditWindow)
	if err != nil {
		return err
	}
	params, err := recipient(to.Conversation)
	if err != nil {
		return err
	}
	params["targetTimestamp"] = at
	if err := c.ask(ctx, "remoteDelete", params, nil); err != nil {
		return err
	}
	c.known.with(messageID, func(m *message) { m.removed = true })
	return nil
}

// Typing shows “is typing” for 15 seconds.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	params, err := recipient(to.Conversation)
	if err != nil {
		return err
	}
	return c.ask(ctx, "sendTyping", params, nil)
}

// React puts an emoji on a message, instead of the one that we put there before.
func (c *Client) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	at, author, ok := parseID(messageID)
	if !ok {
		return refused("%q is no message", cut(messageID))
	}
	if author == "" {
		author = c.number
	}
	params, err := recipient(to.Conversation)
	if err != nil {
		return err
	}
	was, _ := c.known.get(messageID)
	if emoji == "" && was.emoji == "" {
		return nil
	}
	params["emoji"], params["targetAuthor"], params["targetTimestamp"] = emoji, author, at
	if emoji == "" {
		params["emoji"], params["remove"] = was.emoji, true
	}
	if err := c.ask(ctx, "sendReaction", params, nil); err != nil {
		return err
	}
	c.known.with(messageID, func(m *message) { m.emoji = emoji })
	return nil
}
