package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Bounds of how long a request for events may take: the server says something about
// every minute, and how long to wait for it at least.
const (
	leastPoll = 60 * time.Second
	mostPoll  = 110 * time.Second
)

// event is what comes by the queue.
type event struct {
	ID      int64    `json:"id"`
	Type    string   `json:"type"`
	Flags   []string `json:"flags"`
	Message message  `json:"message"` // of the type message

	// Of the type update_message.
	MessageID     int64   `json:"message_id"`
	Content       *string `json:"content"` // nil: the words are what they were
	EditedAt      int64   `json:"edit_timestamp"`
	RenderingOnly bool    `json:"rendering_only"`

	// Of the type reaction.
	Op    string `json:"op"` // add, remove
	User  int64  `json:"user_id"`
	Emoji string `json:"emoji_name"`
}

// parseEvents reads a list of events. Of one that nobody can read only the number is
// taken, and one without a number is left out; more says that there is something to
// go on from.
func parseEvents(list []json.RawMessage, last int64) (out []event, next int64, more bool) {
	next = last
	for _, raw := range list {
		var ev event
		if json.Unmarshal(raw, &ev) != nil {
			var n struct {
				ID int64 `json:"id"`
			}
			if json.Unmarshal(raw, &n) != nil {
				continue
			}
			ev = event{ID: n.ID}
		}
		if ev.ID <= last {
			continue
		}
		next, more = max(next, ev.ID), true
		out = append(out, ev)
	}
	return out, next, more
}

// registered is a queue of events that the server keeps for us.
type registered struct {
	Queue string  `json:"queue_id"`
	Last  int64   `json:"last_event_id"`
	Wait  float64 `json:"event_queue_longpoll_timeout_seconds"`
}

// register makes a queue.
func (c *Client) register(ctx context.Context) (r registered, err error) {
	err = c.ask(ctx, http.MethodPost, "/register", url.Values{
		"event_types": {`["message","update_message","reaction"]`}, "fetch_event_types": {`["message"]`}, "apply_markdown": {"false"},
	}, &r)
	if err == nil && r.Queue == "" {
		err = errors.New("Zulip's answer names no queue of events")
	}
	return r, err
}

// live is one queue of events, from its beginning to its end. Its error says why it
// ended.
func (c *Client) live(ctx context.Context) error {
	if _, err := c.login(ctx); err != nil {
		return err
	}
	r, err := c.register(ctx)
	if err != nil {
		return err
	}
	if err := c.catchUp(ctx); err != nil { // what comes meanwhile waits in the queue
		return err
	}
	within := min(max(time.Duration(r.Wait)*time.Second, leastPoll), mostPoll)
	for last := r.Last; ; {
		c.note(channel.Receiving, "")
		var said struct {
			Events []json.RawMessage `json:"events"`
		}
		err := c.do(ctx, request{method: http.MethodGet, path: "/events", within: within, params: url.Values{
			"queue_id": {r.Queue}, "last_event_id": {strconv.FormatInt(last, 10)},
		}}, &said)
		if queueGone(err) {
			return errors.New("Zulip has put away the queue of events; what was missed is read from the history")
		}
		if err != nil {
			return err
		}
		list, next, more := parseEvents(said.Events, last)
		if !more {
			return fmt.Errorf("Zulip answered with %d events that are none", len(said.Events))
		}
		for _, ev := range list {
			if err := c.happened(ctx, ev); err != nil {
				return err
			}
		}
		last = next
	}
}

// happened takes an event.
func (c *Client) happened(ctx context.Context, ev event) error {
	switch {
	case ev.Type == "message":
		ev.Message.Flags = ev.Flags
		return c.came(ctx, ev.Message, "")
	case ev.Type == "update_message" && ev.Content != nil && !ev.RenderingOnly && ev.MessageID > 0:
		return c.changed(ctx, ev)
	case ev.Type == "reaction" && ev.MessageID > 0:
		return c.reacted(ctx, ev)
	}
	return nil
}

// changed takes an edit, which says little of the message that it changed.
func (c *Client) changed(ctx context.Context, ev event) error {
	var said struct {
		Message message `json:"message"`
	}
	err := c.ask(ctx, http.MethodGet, fmt.Sprintf("/messages/%d", ev.MessageID), url.Values{"apply_markdown": {"false"}}, &said)
	if isNo(err) { // it is gone meanwhile, or moved to where we are not
		return nil
	}
	if err != nil {
		return err
	}
	said.Message.Content, said.Message.Flags = *ev.Content, ev.Flags
	return c.came(ctx, said.Message, fmt.Sprintf("%d/%d/%s", ev.MessageID, ev.EditedAt, digest(*ev.Content)))
}

// Bounds of what is read from the history.
const (
	pageSize  = 100
	mostPages = 100
)

// overlap is how far before the newest message that was taken the history is read, in
// messages: the numbers of those that are written at the same time are not seen in
// their order.
const overlap = 50

// history is a page of what was written where we are, the oldest first.
type history struct {
	Messages []message `json:"messages"`
	Newest   bool      `json:"found_newest"`
}

func (c *Client) history(ctx context.Context, anchor string, before, after int) (h history, err error) {
	err = c.ask(ctx, http.MethodGet, "/messages", url.Values{
		"anchor": {anchor}, "num_before": {strconv.Itoa(before)}, "num_after": {strconv.Itoa(after)}, "apply_markdown": {"false"},
	}, &h)
	return h, err
}

// catchUp reads what was written behind the newest message that was taken.
func (c *Client) catchUp(ctx context.Context) error {
	since, begun := c.queue.Since(overlap)
	if !begun { // the first time ever: what was said before is not for us
		h, err := c.history(ctx, "newest", 1, 0)
		if err != nil {
			return err
		}
		newest := int64(1)
		for _, m := range h.Messages {
			newest = max(newest, m.ID)
		}
		return c.queue.Begin(ctx, newest)
	}
	for range mostPages {
		h, err := c.history(ctx, strconv.FormatInt(since, 10), 0, pageSize)
		if err != nil {
			return err
		}
		further := since
		for _, m := range h.Messages {
			if m.ID <= since { // the message at the anchor
				continue
			}
			if err := c.came(ctx, m, ""); err != nil {
				return err
			}
			further = max(further, m.ID)
		}
		if h.Newest || further == since {
			return nil
		}
		since = further
	}
	c.log.Warn("more was written than is read from the history", "messages", mostPages*pageSize)
	return nil
}
