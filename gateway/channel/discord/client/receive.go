package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// message is one as Discord writes it.
type message struct {
	ID        string       `json:"id"`
	Channel   string       `json:"channel_id"`
	Server    string       `json:"guild_id"` // only in events
	Author    user         `json:"author"`
	Webhook   string       `json:"webhook_id"`
	Kind      int          `json:"type"`
	Content   string       `json:"content"`
	At        time.Time    `json:"timestamp"`
	EditedAt  *time.Time   `json:"edited_timestamp"`
	Mentions  []user       `json:"mentions"`
	Roles     []string     `json:"mention_roles"`
	Files     []attachment `json:"attachments"`
	Reference *struct {
		Kind int `json:"type"` // 0: an answer, 1: passed on
	} `json:"message_reference"`
	Answered  *message `json:"referenced_message"`
	Snapshots []struct {
		Message message `json:"message"`
	} `json:"message_snapshots"`

	change bool // an event says that it changed
}

type attachment struct {
	Name string `json:"filename"`
	MIME string `json:"content_type"`
	Size int64  `json:"size"`
	URL  string `json:"url"`
	Wave string `json:"waveform"` // of a voice message
}

// Kinds of messages that people write; all others are Discord's own words.
const (
	kindWritten = 0
	kindAnswer  = 19
)

// came puts a message into the line, if it is somebody's and for us.
func (c *Client) came(ctx context.Context, m message) error {
	id := m.ID
	if m.change {
		if m.EditedAt == nil || m.Author.ID == "" { // a picture of a link was added
			return nil
		}
		id = fmt.Sprintf("%s/%d", m.ID, m.EditedAt.UnixMilli())
	}
	if c.queue.Seen(id) {
		return nil
	}
	in, ok, err := c.inbound(ctx, m)
	if err != nil || !ok {
		return err
	}
	in.Edited = m.change
	if in.Chat == channel.Direct && !m.change {
		if err := c.firstOf(ctx, m, in.SenderID); err != nil {
			return err
		}
	}
	return c.queue.Add(intake.Item{ID: id, Mark: number(m.ID), In: in, Taken: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.status.LastTake = c.now()
	}})
}

// number is an id as what it is; ids grow with time.
func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}

func before(a, b message) bool { return number(a.ID) < number(b.ID) }

// firstOf reads what somebody wrote before a message of theirs, when we did not know
// their channel at the beginning of the session: nobody told us of it.
func (c *Client) firstOf(ctx context.Context, m message, person string) error {
	c.known.mu.Lock()
	_, told := c.known.told[m.Channel]
	c.known.told[m.Channel] = struct{}{}
	c.known.mu.Unlock()
	if told {
		return nil
	}
	if err := c.direct(ctx, person, m.Channel); err != nil {
		return err
	}
	since, begun := c.queue.Since(overlap)
	if !begun {
		return nil
	}
	missed, err := c.since(ctx, m.Channel, since)
	if err != nil {
		return err
	}
	for _, old := range missed {
		if before(old, m) { // the others are told of
			if err := c.came(ctx, old); err != nil {
				return err
			}
		}
	}
	return nil
}

// inbound makes a message of what Discord wrote; ok is false when it is none for us.
func (c *Client) inbound(ctx context.Context, m message) (in channel.Inbound, ok bool, err error) {
	self, err := c.me(ctx)
	if err != nil {
		return in, false, err
	}
	if m.Author.ID == self.ID || m.Kind != kindWritten && m.Kind != kindAnswer || !discord.IsID(m.ID) || !discord.IsID(m.Channel) ||
		!discord.IsID(m.Author.ID) {
		return in, false, nil
	}
	where, err := c.place(ctx, m.Channel)
	if err != nil {
		return in, false, err
	}
	in = channel.Inbound{
		Channel: discord.ID, Account: c.account, Chat: channel.Group, Conversation: m.Channel, SenderID: m.Author.ID,
		SenderName: cmp.Or(m.Author.Full, m.Author.Name), SenderHandle: m.Author.Name, SenderIsBot: m.Author.Bot || m.Webhook != "",
		MessageID: m.ID, At: m.At, Media: files(m.Files),
	}
	switch {
	case where.Kind == kindDirect:
		in.Chat, in.Conversation, in.Label = channel.Direct, discord.PersonSign+m.Author.ID, in.SenderName
	case where.thread() && where.Parent != "":
		in.Conversation, in.Thread, in.Label = where.Parent, m.Channel, c.known.label(where)
	default:
		in.Label = c.known.label(where)
	}
	in.Room, in.Space = where.room()
	in.Text, in.Command, in.Mentioned = words(m, self)
	in.Mentioned = in.Mentioned || slices.ContainsFunc(m.Roles, func(r string) bool { return c.known.calls(r, self.ID) })
	if a := m.Answered; a != nil {
		in.ReplyToText, _, _ = words(*a, self)
		in.Mentioned = in.Mentioned || a.Author.ID == self.ID
	}
	if m.Reference != nil && m.Reference.Kind == 1 && len(m.Snapshots) > 0 {
		passed := m.Snapshots[0].Message
		in.Forwarded.From = "somebody on Discord"
		in.Forwarded.Text, _, _ = words(passed, self)
		in.Text, in.Command, in.Media = "", "", append(in.Media, files(passed.Files)...)
		return in, in.Forwarded.Text != "" || len(in.Media) > 0, nil
	}
	return in, in.Text != "" || len(in.Media) > 0, nil
}

func files(all []attachment) (out []channel.Media) {
	for _, f := range all {
		out = append(out, channel.Media{MIME: f.MIME, Name: f.Name, Size: f.Size, URL: f.URL, Voice: f.Wave != ""})
	}
	return out
}

// called is how a message names somebody, a channel or an emoji of a server.
func called() *regexp.Regexp {
	return regexp.MustCompile(`<(?:@!?([0-9]{15,20})|a?:([A-Za-z0-9_]{2,32}):[0-9]{15,20})>`)
}

// words are what somebody wrote, with names for the ids in it, and whether it names us.
func words(m message, self user) (text, command string, mentioned bool) {
	names := map[string]string{self.ID: self.Name}
	for _, u := range m.Mentions {
		names[u.ID] = u.Name
		mentioned = mentioned || u.ID == self.ID
	}
	re := called()
	plain := func(s string) string {
		return re.ReplaceAllStringFunc(s, func(found string) string {
			part := re.FindStringSubmatch(found)
			switch {
			case part[2] != "":
				return ":" + part[2] + ":"
			case names[part[1]] != "":
				return "@" + names[part[1]]
			}
			return found
		})
	}
	rest := strings.TrimSpace(m.Content)
	for _, own := range []string{"<@" + self.ID + ">", "<@!" + self.ID + ">"} {
		if after, ok := strings.CutPrefix(rest, own); ok && self.ID != "" {
			command = plain(strings.TrimSpace(strings.TrimLeft(after, ":, ")))
		} else if before, ok := strings.CutSuffix(rest, own); ok && self.ID != "" {
			command = plain(strings.TrimSpace(before))
		}
	}
	return plain(m.Content), command, mentioned
}

// Bounds of what is read from the history of one channel.
const (
	pageSize  = 100
	mostPages = 50
)

// overlap is how far before the newest message that was taken history is read, in the
// numbers of Discord, which are milliseconds times 2²².
const overlap = 60_000 << 22

// firstYear is where those milliseconds begin: with 2015.
const firstYear = 1_420_070_400_000

// catchUp reads what was written behind the newest message that was taken.
func (c *Client) catchUp(ctx context.Context) error {
	since, begun := c.queue.Since(overlap)
	all := c.known.all()
	if !begun { // the first time ever: what was said before is not for us
		var newest int64
		for _, p := range all {
			newest = max(newest, number(p.Last))
		}
		if newest == 0 {
			newest = (c.now().UnixMilli() - firstYear) << 22
		}
		return c.queue.Begin(ctx, newest)
	}
	var ids []string
	for _, p := range all {
		if number(p.Last) > since && p.Server != "" {
			ids = append(ids, p.ID)
		}
	}
	c.known.mu.Lock()
	clear(c.known.told)
	for _, at := range c.known.directs {
		ids = append(ids, at)
		c.known.told[at] = struct{}{}
	}
	c.known.mu.Unlock()
	var missed []message
	for _, id := range ids {
		more, err := c.since(ctx, id, since)
		if err != nil {
			return err
		}
		missed = append(missed, more...)
	}
	slices.SortFunc(missed, func(a, b message) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	for _, m := range missed {
		if err := c.came(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// since is what was written in a channel behind a message, the oldest first.
func (c *Client) since(ctx context.Context, id string, mark int64) (out []message, err error) {
	for range mostPages {
		var page []message
		q := call{method: http.MethodGet, path: fmt.Sprintf("/channels/%s/messages?after=%d&limit=%d", id, mark, pageSize),
			route: "/channels/messages", major: id}
		err := c.patiently(ctx, q, &page)
		if refusedWith(err) { // we may not read there, or not any more
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			mark = max(mark, number(m.ID))
		}
		slices.Reverse(page) // the newest came first
		out = append(out, page...)
		if len(page) < pageSize {
			return out, nil
		}
	}
	c.log.Warn("more was written than is read from the history", "channel", id, "messages", len(out))
	return out, nil
}

// patiently asks, and waits where Discord asks to.
func (c *Client) patiently(ctx context.Context, q call, result any) error {
	for {
		err := c.ask(ctx, q, nil, result)
		var limit *channel.RateLimit
		if !errors.As(err, &limit) {
			return err
		}
		if err := sleep.For(ctx, limit.After); err != nil {
			return err
		}
	}
}
