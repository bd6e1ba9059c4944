package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
)

// event is a message as Slack tells of it, and something else that is left out.
type event struct {
	message
	Type    string   `json:"type"`
	Channel string   `json:"channel"`
	Changed *message `json:"message"`          // with message_changed
	Before  *message `json:"previous_message"` // likewise

	// Of reactions.
	Reaction string          `json:"reaction"`
	Item     json.RawMessage `json:"item"`
	ItemUser string          `json:"item_user"`
	EventTS  string          `json:"event_ts"`

	Assistant *assistantThread `json:"assistant_thread"` // with assistant_thread_started
}

// message is one as Slack writes it.
type message struct {
	Subtype string `json:"subtype"`
	User    string `json:"user"`
	Bot     string `json:"bot_id"`
	Name    string `json:"username"` // of a bot
	Text    string `json:"text"`
	TS      string `json:"ts"` // its id: seconds, a point, six digits
	Thread  string `json:"thread_ts"`
	Parent  string `json:"parent_user_id"` // who began the thread
	Files   []file `json:"files"`
	Edited  *struct {
		TS string `json:"ts"`
	} `json:"edited"`
}

type file struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mimetype"`
	Size int64  `json:"size"`
	URL  string `json:"url_private_download"`
	Else string `json:"url_private"`
	Kind string `json:"subtype"` // slack_audio: recorded there
}

// written are the kinds of messages that somebody wrote; all others are Slack's own
// words.
func written(subtype string) bool {
	switch subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return true
	}
	return false
}

// micros is the id of a message as a number that grows with time; 0 for none.
func micros(ts string) int64 {
	whole, part, ok := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	us, err2 := strconv.ParseInt(part, 10, 64)
	if !ok || err != nil || err2 != nil || len(part) != 6 || s < 0 || s > 1<<40 || us < 0 {
		return 0
	}
	return s*1_000_000 + us
}

// tsOf is the other way round.
func tsOf(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000) }

// happened takes an event. It is acknowledged at once when it is none for us, and else
// when its message was taken.
func (c *Client) happened(ctx context.Context, ev event, env envelope) error {
	m, edited := ev.message, false
	switch {
	case ev.Type == "reaction_added" || ev.Type == "reaction_removed":
		return c.reacted(ctx, ev, env)
	case ev.Type == "assistant_thread_started" && ev.Assistant != nil:
		env.s.ack(env.id)
		c.opened(ctx, *ev.Assistant)
		return nil
	case ev.Type != "message" && ev.Type != "app_mention":
		env.s.ack(env.id)
		return nil
	case ev.Subtype == "message_changed" && ev.Changed != nil:
		if m, edited = *ev.Changed, true; m.Edited == nil || ev.Before != nil && ev.Before.Text == m.Text {
			env.s.ack(env.id)
			return nil
		}
	}
	took, err := c.came(ctx, ev.Channel, m, edited, env)
	if err != nil {
		return err
	}
	if !took {
		env.s.ack(env.id)
	}
	return nil
}

// came puts a message into the line; took is false when it is none for us, or was
// taken before.
func (c *Client) came(ctx context.Context, at string, m message, edited bool, env envelope) (took bool, err error) {
	id := at + "/" + m.TS
	if edited {
		id += "/" + m.Edited.TS
	}
	c.mu.Lock()
	waits, waiting := c.envs[id]
	if waiting {
		if env.id != "" {
			c.envs[id] = append(waits, env)
		}
		c.mu.Unlock()
		return true, nil
	}
	c.mu.Unlock()
	if c.queue.Seen(id) {
		return false, nil
	}
	in, ok, err := c.inbound(ctx, at, m)
	if err != nil || !ok {
		return false, err
	}
	in.Edited = edited
	if in.Thread != "" && !in.SenderIsBot {
		put(c.streams, c.streams.asked, at+"/"+in.Thread, in.SenderID)
		c.titled(ctx, in)
	}
	c.mu.Lock()
	c.envs[id] = nil
	if env.id != "" {
		c.envs[id] = []envelope{env}
	}
	c.mu.Unlock()
	err = c.queue.Add(intake.Item{ID: id, Mark: micros(m.TS), In: in, Taken: func() { c.taken(id) }})
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.envs, id)
	}
	return true, err
}

// taken acknowledges the events of a message.
func (c *Client) taken(id string) {
	c.mu.Lock()
	c.status.LastTake = c.now()
	waits := c.envs[id]
	delete(c.envs, id)
	c.mu.Unlock()
	for _, env := range waits {
		env.s.ack(env.id)
	}
}

// inbound makes a message of what Slack wrote; ok is false when it is none for us.
func (c *Client) inbound(ctx context.Context, at string, m message) (in channel.Inbound, ok bool, err error) {
	self, err := c.me(ctx)
	if err != nil {
		return in, false, err
	}
	from := cmp.Or(m.User, m.Bot)
	own := from == self.User || m.Bot != "" && m.Bot == self.Bot
	if own || !written(m.Subtype) || micros(m.TS) == 0 || !slack.IsID(at) || !slack.IsID(from) {
		return in, false, nil
	}
	who := user{ID: from, Name: cmp.Or(m.Name, from), Bot: true}
	if m.User != "" {
		if who, err = c.person(ctx, m.User); err != nil {
			return in, false, err
		}
	}
	in = channel.Inbound{
		Channel: slack.ID, Account: c.account, Chat: channel.Direct, Conversation: at, Label: who.shown(), SenderID: from,
		SenderName: who.shown(), SenderHandle: who.Name, SenderIsBot: who.Bot || m.Bot != "" || m.Subtype == "bot_message",
		MessageID: m.TS, At: time.UnixMicro(micros(m.TS)), Mentioned: m.Parent == self.User,
	}
	if m.Thread != "" && m.Thread != m.TS {
		in.Thread = m.Thread
	}
	if slack.Kind().Group(at) {
		in.Chat = channel.Group
		if in.Label, err = c.label(ctx, at); err != nil {
			return in, false, err
		}
		in.Room, in.Space = in.Label, self.TeamID
	}
	called := "<@" + self.User + ">"
	in.Mentioned = in.Mentioned || strings.Contains(m.Text, called) || strings.Contains(m.Text, "<@"+self.User+"|")
	rest := strings.TrimSpace(m.Text)
	if after, ok := strings.CutPrefix(rest, called); ok {
		in.Command, err = c.words(ctx, strings.TrimSpace(strings.TrimLeft(after, ":, ")))
	} else if before, ok := strings.CutSuffix(rest, called); ok {
		in.Command, err = c.words(ctx, strings.TrimSpace(before))
	}
	if err != nil {
		return in, false, err
	}
	if in.Text, err = c.words(ctx, m.Text); err != nil {
		return in, false, err
	}
	for _, f := range m.Files {
		if at := cmp.Or(f.URL, f.Else); at != "" {
			in.Media = append(in.Media, channel.Media{MIME: f.MIME, Name: f.Name, Size: f.Size, URL: at, Voice: f.Kind == "slack_audio"})
		}
	}
	return in, in.Text != "" || len(in.Media) > 0, nil
}

// written in angle brackets is what Slack knows: people, channels, groups and links.
func bracketed() *regexp.Regexp { return regexp.MustCompile(`<([^<>]*)>`) }

// words are a text as somebody typed it.
func (c *Client) words(ctx context.Context, text string) (string, error) {
	var failed error
	out := bracketed().ReplaceAllStringFunc(text, func(found string) string {
		inner, label, labelled := strings.Cut(found[1:len(found)-1], "|")
		switch {
		case strings.HasPrefix(inner, "@"):
			who, err := c.person(ctx, inner[1:])
			if err != nil {
				failed = err
			}
			return "@" + cmp.Or(who.Name, label, inner[1:])
		case strings.HasPrefix(inner, "#"):
			return "#" + cmp.Or(label, inner[1:])
		case strings.HasPrefix(inner, "!"):
			name, _, _ := strings.Cut(inner[1:], "^")
			return "@" + strings.TrimPrefix(cmp.Or(label, name), "@")
		case labelled && label != "" && label != inner && "mailto:"+label != inner:
			return label + " (" + inner + ")"
		}
		return strings.TrimPrefix(inner, "mailto:")
	})
	return html.UnescapeString(out), failed
}

// Bounds of what is read from the history of one channel.
const (
	pageSize  = 200
	mostPages = 25
)

// overlap is how far before the newest message that was taken history is read, in
// microseconds.
const overlap = 60_000_000

// next is where a list goes on.
type next struct {
	Meta struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

// catchUp reads what was written behind the newest message that was taken. Answers in
// threads are not in a channel's history; Slack tells of those again by itself.
func (c *Client) catchUp(ctx context.Context) error {
	since, begun := c.queue.Since(overlap)
	if !begun { // the first time ever: what was said before is not for us
		return c.queue.Begin(ctx, c.now().UnixMicro())
	}
	type found struct {
		at string
		m  message
	}
	var missed []found
	cursor := ""
	for range mostPages {
		var page struct {
			next
			Channels []struct {
				ID string `json:"id"`
			} `json:"channels"`
		}
		args := url.Values{"types": {"public_channel,private_channel,mpim,im"}, "exclude_archived": {"true"}, "limit": {"200"},
			"cursor": {cursor}}
		if err := c.patiently(ctx, "users.conversations", args, &page); err != nil {
			return ignore(err, "missing_scope")
		}
		for _, ch := range page.Channels {
			more, err := c.since(ctx, ch.ID, since)
			if err != nil {
				return err
			}
			for _, m := range more {
				missed = append(missed, found{ch.ID, m})
			}
		}
		if cursor = page.Meta.Cursor; cursor == "" {
			break
		}
	}
	slices.SortStableFunc(missed, func(a, b found) int { return cmp.Compare(micros(a.m.TS), micros(b.m.TS)) })
	for _, f := range missed {
		if _, err := c.came(ctx, f.at, f.m, false, envelope{}); err != nil {
			return err
		}
	}
	return nil
}

// ignore makes nothing of an error with one of these words: the status tells of it.
func ignore(err error, words ...string) error {
	if saidOf(err, words...) {
		return nil
	}
	return err
}

// since is what was written in a channel behind a message.
func (c *Client) since(ctx context.Context, at string, mark int64) (out []message, err error) {
	cursor := ""
	for range mostPages {
		var page struct {
			next
			Messages []message `json:"messages"`
		}
		args := url.Values{"channel": {at}, "oldest": {tsOf(mark)}, "limit": {strconv.Itoa(pageSize)}, "cursor": {cursor}}
		if err := c.patiently(ctx, "conversations.history", args, &page); err != nil {
			return out, ignore(err, "missing_scope", "not_in_channel", "channel_not_found", "is_archived")
		}
		out = append(out, page.Messages...)
		if cursor = page.Meta.Cursor; cursor == "" {
			return out, nil
		}
	}
	c.log.Warn("more was written than is read from the history", "channel", at, "messages", len(out))
	return out, nil
}
