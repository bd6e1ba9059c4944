package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
)

// noTopic is what a message of a stream is sent to that names no topic: the server's
// own word for it.
const noTopic = "(no topic)"

// Send posts a message with the links of its files. Zulip knows no message that comes
// twice, so one without an answer is uncertain.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	to, err := placeOf(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	content := m.Text
	for _, f := range m.Media {
		at, err := c.upload(ctx, f)
		if err != nil {
			return channel.Receipt{}, err
		}
		content = strings.TrimLeft(content+"\n"+at, "\n")
	}
	if content, err = fit(content); err != nil {
		return channel.Receipt{}, err
	}
	params := url.Values{"content": {content}}
	if to.stream != 0 {
		params.Set("type", "stream")
		params.Set("to", strconv.FormatInt(to.stream, 10))
		params.Set("topic", cmp.Or(m.To.Thread, noTopic))
	} else {
		params.Set("type", "direct")
		params.Set("to", numbers(to.people))
	}
	var made struct {
		ID int64 `json:"id"`
	}
	q := request{method: http.MethodPost, path: "/messages", params: params, once: true, within: askTime}
	if err := c.do(ctx, q, &made); err != nil {
		return channel.Receipt{}, err
	}
	if made.ID <= 0 {
		return channel.Receipt{}, fmt.Errorf("%w: Zulip's answer names no message", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: strconv.FormatInt(made.ID, 10)}, nil
}

// fit is a text as it is sent. Of one that is too long the server would keep the
// beginning and say nothing.
func fit(content string) (string, error) {
	content = defused(content)
	if strings.TrimSpace(content) == "" {
		return "", refused("there is nothing to send")
	}
	if n := utf8.RuneCountInString(content); n > zulip.MostText {
		return "", refused("the message has %d characters, and at most %d are sent", n, zulip.MostText)
	}
	return content, nil
}

// numbers is a list as the API takes it.
func numbers(list []int64) string {
	b, _ := json.Marshal(list) // numbers can be written
	return string(b)
}

func messagePath(id string) (string, error) {
	if _, ok := number(id); !ok {
		return "", refused("%q is no message", cut(id))
	}
	return "/messages/" + id, nil
}

// Edit gives a message another text.
func (c *Client) Edit(ctx context.Context, _ channel.Target, messageID, words string) error {
	path, err := messagePath(messageID)
	if err != nil {
		return err
	}
	content, err := fit(words)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPatch, path, url.Values{"content": {content}}, nil)
}

// Delete removes a message.
func (c *Client) Delete(ctx context.Context, _ channel.Target, messageID string) error {
	path, err := messagePath(messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodDelete, path, nil, nil)
}

// Typing shows “is typing” in a conversation or topic.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	at, err := placeOf(to.Conversation)
	if err != nil {
		return err
	}
	params := url.Values{"op": {"start"}, "type": {"direct"}}
	if at.stream != 0 {
		params.Set("type", "stream")
		params.Set("stream_id", strconv.FormatInt(at.stream, 10))
		params.Set("topic", cmp.Or(to.Thread, noTopic))
	} else {
		params.Set("to", numbers(at.people))
	}
	return c.ask(ctx, http.MethodPost, "/typing", params, nil)
}

// reaction is an emoji on a message.
type reaction struct {
	Name   string `json:"emoji_name"`
	Code   string `json:"emoji_code"`
	Kind   string `json:"reaction_type"`
	UserID int64  `json:"user_id"`
}

// React puts an emoji on a message, instead of those that we put there before.
func (c *Client) React(ctx context.Context, _ channel.Target, messageID, sign string) error {
	path, err := messagePath(messageID)
	if err != nil {
		return err
	}
	name := emojiName(sign)
	if sign != "" && name == "" {
		return refused("Zulip has no name for %q", cut(sign))
	}
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	var said struct {
		Message message `json:"message"`
	}
	if err := c.ask(ctx, http.MethodGet, path, url.Values{"apply_markdown": {"false"}}, &said); err != nil {
		return err
	}
	for _, r := range said.Message.Reactions {
		if r.UserID != self.ID {
			continue
		}
		if r.Name == name {
			name = ""
			continue
		}
		params := url.Values{"emoji_name": {r.Name}, "emoji_code": {r.Code}, "reaction_type": {r.Kind}}
		if err := c.ask(ctx, http.MethodDelete, path+"/reactions", params, nil); err != nil {
			return err
		}
	}
	if name == "" {
		return nil
	}
	return c.ask(ctx, http.MethodPost, path+"/reactions", url.Values{"emoji_name": {name}}, nil)
}
