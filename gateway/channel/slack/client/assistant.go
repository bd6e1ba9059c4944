package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/internal/text"
)

// The assistant's view of Slack: threads with a status, a title and suggestions. A
// workspace where it is not switched on refuses these methods, and nothing is missed.

const (
	// viewTime bounds what nobody waits for.
	viewTime = 5 * time.Second
	// longestTitle of a thread, in characters.
	longestTitle = 60
	thinking     = "is thinking…"
)

type assistantThread struct {
	User    string `json:"user_id"`
	Channel string `json:"channel_id"`
	Thread  string `json:"thread_ts"`
}

// view calls a method of the assistant's view, where it was not refused lately.
func (c *Client) view(ctx context.Context, method, at, thread string, more url.Values) error {
	if c.rests(method) || c.rests(method+"/"+at) {
		return nil
	}
	more.Set("channel_id", at)
	more.Set("thread_ts", thread)
	_, err := c.ask(ctx, call{method: method}, more, nil)
	if err != nil && c.rest(err, method, at) {
		return nil
	}
	return err
}

// Typing shows that an answer is being thought about, where it will stand in a thread.
// Slack takes it away with the answer, or after two minutes.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	if to.Thread == "" {
		return nil
	}
	at, err := c.place(ctx, to)
	if err != nil {
		return err
	}
	return c.view(ctx, "assistant.threads.setStatus", at, to.Thread, url.Values{"status": {thinking}})
}

// opened greets a new thread of the assistant's view with what can be asked.
func (c *Client) opened(ctx context.Context, th assistantThread) {
	if !slack.IsID(th.Channel) || micros(th.Thread) == 0 {
		return
	}
	put(c.streams, c.streams.fresh, th.Channel+"/"+th.Thread, true)
	type prompt struct {
		Title   string `json:"title"`
		Message string `json:"message"`
	}
	list, err := json.Marshal([]prompt{{"What can you do?", "What can you do for me here?"},
		{"What is new?", "What happened since we talked last?"}, {"Plan my day", "What is on today, and what should I do first?"}})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, viewTime)
	defer cancel()
	if err := c.view(ctx, "assistant.threads.setSuggestedPrompts", th.Channel, th.Thread, url.Values{"prompts": {string(list)}}); err != nil {
		c.log.Debug("Slack took no suggestions", "err", err)
	}
}

// titled calls a new thread of the assistant's view by what is asked in it first.
func (c *Client) titled(ctx context.Context, in channel.Inbound) {
	key := in.Conversation + "/" + in.Thread
	if in.Thread == "" || in.Text == "" || !get(c.streams, c.streams.fresh, key) {
		return
	}
	drop(c.streams, c.streams.fresh, key)
	ctx, cancel := context.WithTimeout(ctx, viewTime)
	defer cancel()
	title := text.Ellipsis(strings.Join(strings.Fields(in.Text), " "), longestTitle)
	if err := c.view(ctx, "assistant.threads.setTitle", in.Conversation, in.Thread, url.Values{"title": {title}}); err != nil {
		c.log.Debug("Slack took no title", "err", err)
	}
}
