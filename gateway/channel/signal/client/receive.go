package client

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/internal/text"
)

// received is what an event says.
type received struct {
	Account  string   `json:"account"`
	Envelope envelope `json:"envelope"`
}

// envelope is a message with who sent it.
type envelope struct {
	Number string       `json:"sourceNumber"`
	UUID   string       `json:"sourceUuid"`
	Name   string       `json:"sourceName"`
	Data   *dataMessage `json:"dataMessage"`
	Edit   *struct {
		Target int64        `json:"targetSentTimestamp"`
		Data   *dataMessage `json:"dataMessage"`
	} `json:"editMessage"`
}

// dataMessage is what somebody wrote.
type dataMessage struct {
	Timestamp int64    `json:"timestamp"`
	Message   string   `json:"message"`
	ViewOnce  bool     `json:"viewOnce"`
	Quote     *quote   `json:"quote"`
	Mentions  []callOf `json:"mentions"`
	Files     []file   `json:"attachments"`
	Group     *struct {
		ID   string `json:"groupId"`
		Name string `json:"groupName"`
	} `json:"groupInfo"`
	Story json.RawMessage `json:"storyContext"`
}

type quote struct {
	AuthorUUID string   `json:"authorUuid"`
	Text       string   `json:"text"`
	Mentions   []callOf `json:"mentions"`
}

// callOf is a mention: the sign that stands for it, and who is meant.
type callOf struct {
	Number string `json:"number"`
	UUID   string `json:"uuid"`
	Start  int    `json:"start"`
	Length int    `json:"length"`
}

type file struct {
	ID   string `json:"id"`
	Type string `json:"contentType"`
	Name string `json:"filename"`
	Size int64  `json:"size"`
}

// Bounds of what a message says.
const (
	mostFiles    = 32
	mostMentions = 100
)

// happened takes an event.
func (c *Client) happened(ctx context.Context, e event) error {
	var r received
	if json.Unmarshal([]byte(e.data), &r) != nil {
		c.log.Warn("an event of signal-cli could not be read", "account", c.account)
		return nil
	}
	if r.Account != "" && strings.HasPrefix(r.Account, "+") && r.Account != c.number {
		return nil // another account of the same signal-cli
	}
	in, mark, ok := c.inbound(r.Envelope)
	if !ok {
		return nil
	}
	id := in.SenderID + "/" + strconv.FormatInt(mark, 10)
	if c.queue.Seen(id) {
		return nil
	}
	return c.queue.Add(intake.Item{ID: id, Mark: mark, In: in, Taken: func() {
		c.took(ctx, e.id)
		c.read(ctx, in)
	}})
}

// read tells somebody that what they wrote directly was read, where the settings say so.
func (c *Client) read(ctx context.Context, in channel.Inbound) {
	at, _, ok := parseID(in.MessageID)
	if !c.receipts || in.Chat != channel.Direct || in.Edited || !ok {
		return
	}
	params := map[string]any{"recipient": strings.TrimPrefix(in.SenderID, signal.PersonSign), "targetTimestamp": at, "type": "read"}
	if err := c.ask(ctx, "sendReceipt", params, nil); err != nil && ctx.Err() == nil {
		c.log.Warn("that a message was read could not be told", "err", err)
	}
}

// inbound makes a message for the gateway, with the time that it or its edit has; ok is
// false when it is none for us: our own, a receipt, somebody typing, a story, a
// reaction, or what can be looked at once.
func (c *Client) inbound(e envelope) (in channel.Inbound, mark int64, ok bool) {
	d := e.Data
	if e.Edit != nil {
		d = e.Edit.Data
	}
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if d == nil || d.Timestamp <= 0 || !isUUID(e.UUID) || e.UUID == self || e.Number == c.number || d.ViewOnce || d.Story != nil {
		return in, 0, false
	}
	in = channel.Inbound{
		Channel: signal.ID, Account: c.account, Chat: channel.Direct, Conversation: signal.PersonSign + e.UUID,
		SenderID: signal.PersonSign + e.UUID, SenderName: cmp.Or(e.Name, e.Number, e.UUID), MessageID: messageID(d.Timestamp, e.UUID),
		At: time.UnixMilli(d.Timestamp),
	}
	in.Label = in.SenderName
	if d.Group != nil {
		if !isGroupID(d.Group.ID) {
			return in, 0, false
		}
		in.Chat, in.Conversation, in.Label = channel.Group, d.Group.ID, cmp.Or(d.Group.Name, d.Group.ID)
	}
	var named bool
	in.Text, in.Command, named = c.mentions(d.Message, d.Mentions, self)
	in.Mentioned = named || d.Quote != nil && d.Quote.AuthorUUID == self && self != ""
	if d.Quote != nil {
		in.ReplyToText, _, _ = c.mentions(d.Quote.Text, d.Quote.Mentions, self)
	}
	for i, f := range d.Files {
		if f.ID == "" || i == mostFiles {
			break
		}
		in.Media = append(in.Media, channel.Media{MIME: f.Type, Name: cmp.Or(f.Name, f.ID), Size: max(f.Size, 0),
			URL: url.Values{"id": {f.ID}, "in": {in.Conversation}}.Encode(), Voice: recorded(f)})
	}
	if e.Edit != nil {
		in.Edited = true
		in.MessageID = c.known.original(messageID(e.Edit.Target, e.UUID), in.MessageID)
	}
	c.known.with(in.MessageID, func(m *message) { m.text = in.Text })
	return in, d.Timestamp, in.Text != "" || len(in.Media) > 0
}

// mentions writes who is meant where a sign stands for a mention. named: we are;
// command is the text without our name before or behind it.
func (c *Client) mentions(words string, all []callOf, self string) (out, command string, named bool) {
	if len(all) == 0 {
		return words, "", false
	}
	units := utf16.Encode([]rune(words))
	at := map[int]callOf{}
	for _, m := range all[:min(len(all), mostMentions)] {
		if m.Start >= 0 && m.Length > 0 && m.Start <= len(units)-m.Length {
			at[m.Start] = m
		}
	}
	var whole, bare []uint16
	for i := 0; i < len(units); {
		m, here := at[i]
		if !here {
			whole, bare = append(whole, units[i]), append(bare, units[i])
			i++
			continue
		}
		name := utf16.Encode([]rune("@" + cmp.Or(m.Number, m.UUID)))
		whole = append(whole, name...)
		if m.UUID == self && self != "" || m.Number == c.number {
			named = true
		} else {
			bare = append(bare, name...)
		}
		i += m.Length
	}
	if !named {
		return string(utf16.Decode(whole)), "", false
	}
	return string(utf16.Decode(whole)), strings.TrimLeft(strings.TrimSpace(string(utf16.Decode(bare))), ":, "), true
}

// messageID is what a message is called: the time that its author gave it, and the
// author. Our own are called by the time alone.
func messageID(at int64, author string) string { return strconv.FormatInt(at, 10) + "/" + author }

// parseID reads what a message is called; author is "" for our own.
func parseID(id string) (at int64, author string, ok bool) {
	n, author, others := strings.Cut(id, "/")
	at, err := strconv.ParseInt(n, 10, 64)
	return at, author, err == nil && at > 0 && (!others || isUUID(author))
}

// isGroupID reports whether a text has the form of a group's id.
func isGroupID(s string) bool {
	b, err := base64.StdEncoding.DecodeString(s)
	return err == nil && (len(b) == 16 || len(b) == 32)
}

// cut shortens what a sentence quotes.
func cut(s string) string { return text.Ellipsis(s, 60) }

// recorded: a sound that was never a file has no name.
func recorded(f file) bool { return f.Name == "" && strings.HasPrefix(f.Type, "audio/") }
