package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
)

// message is one as the server writes it.
type message struct {
	ID         int64           `json:"id"`
	Type       string          `json:"type"` // stream or private
	SenderID   int64           `json:"sender_id"`
	SenderName string          `json:"sender_full_name"`
	SenderMail string          `json:"sender_email"`
	StreamID   int64           `json:"stream_id"`
	To         json.RawMessage `json:"display_recipient"` // a stream's name, or people
	Topic      string          `json:"subject"`
	Content    string          `json:"content"`
	At         int64           `json:"timestamp"` // seconds
	Client     string          `json:"client"`    // the program that it was sent with
	Flags      []string        `json:"flags"`
	Reactions  []reaction      `json:"reactions"`
}

// internal is the program that the server's own words are sent with.
const internal = "Internal"

// digest is a short name of a text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// came puts a message into the line, if it is somebody's and for us. edit is empty, or
// what tells the edit of a message from all others.
func (c *Client) came(ctx context.Context, m message, edit string) error {
	id := cmp.Or(edit, strconv.FormatInt(m.ID, 10))
	if c.queue.Seen(id) {
		return nil
	}
	in, ok, err := c.inbound(ctx, m)
	if err != nil || !ok {
		return err
	}
	in.Edited = edit != ""
	return c.queue.Add(intake.Item{ID: id, Mark: m.ID, In: in, Taken: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.status.LastTake = c.now()
	}})
}

// inbound makes a message for the gateway; ok is false when it is none for us.
func (c *Client) inbound(ctx context.Context, m message) (in channel.Inbound, ok bool, err error) {
	self, err := c.me(ctx)
	if err != nil {
		return in, false, err
	}
	if m.ID <= 0 || m.SenderID <= 0 || m.SenderID == self.ID {
		return in, false, nil
	}
	in = channel.Inbound{
		Channel: zulip.ID, Account: c.account, SenderID: strconv.FormatInt(m.SenderID, 10), SenderHandle: m.SenderMail,
		MessageID: strconv.FormatInt(m.ID, 10), At: time.Unix(m.At, 0), Mentioned: slices.Contains(m.Flags, "mentioned"),
	}
	if !m.where(&in, self.ID) {
		return in, false, nil
	}
	who, err := c.person(ctx, m.SenderID)
	if err != nil {
		return in, false, err
	}
	in.SenderName = cmp.Or(m.SenderName, who.Name, in.SenderID)
	in.SenderIsBot = who.IsBot || m.Client == internal
	if in.Chat == channel.Direct {
		in.Label = in.SenderName
	}
	words, files := c.split(m.Content)
	in.Text = words
	if in.Media, err = c.described(ctx, files); err != nil {
		return in, false, err
	}
	if in.Mentioned {
		in.Command = withoutName(words, self)
	}
	return in, in.Text != "" || len(in.Media) > 0, nil
}

// where says in which conversation a message is; false: in none that we know.
func (m message) where(in *channel.Inbound, self int64) bool {
	if m.Type == "stream" {
		in.Chat, in.Conversation, in.Thread = channel.Group, zulip.StreamSign+strconv.FormatInt(m.StreamID, 10), m.Topic
		if json.Unmarshal(m.To, &in.Label) != nil || in.Label == "" {
			in.Label = in.Conversation
		}
		in.Room = "#" + in.Label
		return m.StreamID > 0
	}
	var people []struct {
		ID   int64  `json:"id"`
		Name string `json:"full_name"`
	}
	if m.Type != "private" || json.Unmarshal(m.To, &people) != nil {
		return false
	}
	var ids []int64
	var names []string
	for _, p := range people {
		if p.ID > 0 && p.ID != self {
			ids, names = append(ids, p.ID), append(names, p.Name)
		}
	}
	in.Chat, in.Conversation, in.Label = channel.Group, conversationOf(ids), strings.Join(names, ", ")
	if len(ids) == 1 {
		in.Chat = channel.Direct
	}
	return len(ids) > 0
}

// conversationOf is what the conversation with some people is called.
func conversationOf(people []int64) string {
	slices.Sort(people)
	all := make([]string, len(people))
	for i, id := range people {
		all[i] = strconv.FormatInt(id, 10)
	}
	return zulip.PersonSign + strings.Join(all, ",")
}

// mostTogether is how many people a conversation outside of streams has at most here.
const mostTogether = 100

// place is where a conversation is: in a stream or with people.
type place struct {
	stream int64
	people []int64
}

// placeOf reads what a conversation is called.
func placeOf(conversation string) (place, error) {
	no := refused("%q is no conversation: a channel is called by # and its number, a person by @ and the person's number",
		cut(conversation))
	if rest, stream := strings.CutPrefix(conversation, zulip.StreamSign); stream {
		id, ok := number(rest)
		if !ok {
			return place{}, no
		}
		return place{stream: id}, nil
	}
	rest, people := strings.CutPrefix(conversation, zulip.PersonSign)
	parts := strings.Split(rest, ",")
	if !people || len(parts) > mostTogether {
		return place{}, no
	}
	var p place
	for _, s := range parts {
		id, ok := number(s)
		if !ok {
			return place{}, no
		}
		p.people = append(p.people, id)
	}
	return p, nil
}

// number reads what the server numbers: digits, and not zero.
func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && s[0] != '+'
}
