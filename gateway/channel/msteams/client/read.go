package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/emoji"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/internal/text"
)

// item is one thing that an event says, with an id that it has when it comes again.
type item struct {
	id string
	in channel.Inbound
}

// Bounds of what an event says.
const (
	mostFiles     = 20
	mostMentions  = 100
	mostReactions = 20
)

// read makes of an event what somebody did: nothing, one thing, or several reactions.
func (c *Client) read(ev event) []item {
	in, ok := c.place(ev)
	if !ok {
		return nil
	}
	switch {
	case ev.Type == "messageReaction":
		return c.reactions(ev, in)
	case ev.Type == "messageUpdate" && ev.Data.Event == "editMessage", ev.Type == "messageUpdate" && ev.Data.Event == "undeleteMessage":
		in.Edited = true
	case ev.Type != "message" && ev.Type != "invoke" || !msteams.IsActivity(ev.ID):
		return nil
	}
	in.MessageID = ev.ID
	id := in.Conversation + " " + ev.ID
	if data := choiceOf(ev); data != "" && msteams.IsActivity(ev.ReplyTo) && !in.Edited {
		in.Mentioned = true
		in.Press = channel.Press{ID: ev.ID, Data: data, MessageID: ev.ReplyTo}
		return []item{{id, in}}
	}
	if ev.Type == "invoke" {
		return nil
	}
	c.words(ev, &in)
	c.files(ev, &in)
	if in.Edited {
		sum := sha256.Sum256([]byte(ev.Time + "\x00" + in.Text))
		id += " " + hex.EncodeToString(sum[:8])
	}
	if in.Text == "" && len(in.Media) == 0 {
		return nil
	}
	return []item{{id, in}}
}

// place is what everything begins with that somebody does somewhere.
func (c *Client) place(ev event) (in channel.Inbound, ok bool) {
	where, post, inThread := strings.Cut(ev.Conversation.ID, threadSign)
	sender := ev.From.stable()
	if !msteams.IsConversation(where) || inThread && !msteams.IsActivity(post) || !msteams.IsPerson(sender) || ev.From.ID == ev.Recipient.ID {
		return in, false
	}
	in = channel.Inbound{
		Channel: msteams.ID, Account: c.account, Conversation: where, Label: ev.Conversation.Name, SenderID: sender,
		SenderName:  text.Ellipsis(text.Line(ev.From.Name), 100),
		SenderIsBot: ev.From.Role == "bot" || strings.HasPrefix(ev.From.ID, "28:"), At: c.Now(),
	}
	if at, err := time.Parse(time.RFC3339Nano, ev.Time); err == nil {
		in.At = at
	}
	switch ev.Conversation.Kind {
	case "personal":
		in.Chat, in.Conversation, in.Label = channel.Direct, msteams.PersonSign+where, in.SenderName
	case "channel":
		in.Chat = channel.Room
		if ev.Data.Channel.Name != "" {
			in.Label = strings.TrimPrefix(ev.Data.Team.Name+" / "+ev.Data.Channel.Name, " / ")
			in.Room, in.Space = "#"+text.Ellipsis(text.Line(ev.Data.Channel.Name), 100), text.Ellipsis(text.Line(ev.Data.Team.Name), 100)
		}
		if !c.topLevel {
			in.Thread = post
		}
	case "groupChat":
		in.Chat = channel.Group
	default: // what a newer Teams has: nobody is alone with us there for sure
		in.Chat = channel.Group
	}
	in.Label = text.Ellipsis(text.Line(in.Label), 100)
	return in, true
}

// words reads the text of a message. In it names stand as elements, and the signs of
// HTML as entities; whom they name stands beside it, where no text can pretend.
func (c *Client) words(ev event, in *channel.Inbound) {
	said, command := ev.Text, ev.Text
	for _, e := range ev.Entities[:min(len(ev.Entities), mostMentions)] {
		if e.Type != "mention" || e.Text == "" {
			continue
		}
		name := "@" + html.EscapeString(strings.TrimSpace(e.Mentioned.Name))
		said = strings.ReplaceAll(said, e.Text, name)
		if e.Mentioned.ID != ev.Recipient.ID {
			command = strings.ReplaceAll(command, e.Text, name)
			continue
		}
		in.Mentioned = true
		if rest := strings.TrimSpace(command); strings.HasPrefix(rest, e.Text) {
			command = strings.TrimPrefix(rest, e.Text)
		} else if strings.HasSuffix(rest, e.Text) {
			command = strings.TrimSuffix(rest, e.Text)
		} else {
			command = strings.ReplaceAll(command, e.Text, name)
		}
	}
	in.Text = typed(said)
	if command = typed(command); in.Mentioned && command != in.Text {
		in.Command = command
	}
	if quote := quoted(ev.Attachments); quote != "" {
		in.ReplyToText = quote
	}
}

// typed is a text as somebody typed it.
func typed(s string) string {
	s = html.UnescapeString(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.NewReplacer("\u00a0", " ", "\r\n", "\n", "\r", "\n").Replace(s)
	return strings.TrimSpace(s)
}

// reactions are what somebody put on a message of ours, or took away: of others' Teams
// tells bots nothing.
func (c *Client) reactions(ev event, in channel.Inbound) (out []item) {
	if !msteams.IsActivity(ev.ReplyTo) {
		return nil
	}
	for n, list := range [][]reaction{ev.Added, ev.Removed} {
		for _, r := range list[:min(len(list), mostReactions)] {
			sign := signOf(r.Type)
			if sign == "" {
				continue
			}
			one := in
			one.MessageID = fmt.Sprintf("reaction-%s-%s-%d-%s", ev.ReplyTo, ev.ID, n, sign)
			one.Reaction = channel.Reaction{MessageID: ev.ReplyTo, Emoji: sign, Removed: n == 1, Ours: true}
			out = append(out, item{in.Conversation + " " + one.MessageID + " " + in.SenderID + " " + ev.Time, one})
		}
	}
	return out
}

// signOf is the emoji that Teams calls by a name; "" for what is none.
func signOf(name string) string {
	switch name {
	case "like":
		return "👍"
	case "heart":
		return "❤️"
	case "laugh":
		return "😆"
	case "surprised":
		return "😮"
	case "sad":
		return "🙁"
	case "angry":
		return "😠"
	case "":
		return ""
	}
	// Others come as a sign, or by its number with a name behind it: 1f440_eyes.
	if r, size := utf8.DecodeRuneInString(name); r >= 0x203c && size < 5 && len(name) <= 32 {
		return name
	}
	if number, _, ok := strings.Cut(name, "_"); ok {
		var b strings.Builder
		for part := range strings.SplitSeq(number, "-") {
			var r rune
			if _, err := fmt.Sscanf(part, "%x", &r); err != nil || r < 0x203c || r > utf8.MaxRune || !utf8.ValidRune(r) || len(part) > 6 {
				b.Reset()
				break
			}
			b.WriteRune(r)
		}
		if b.Len() > 0 && b.Len() <= 32 {
			return b.String()
		}
	}
	return text.Ellipsis(emoji.Sign(strings.Map(func(r rune) rune {
		if r < 0x21 || r == 0x7f {
			return -1
		}
		return r
	}, text.Line(name))), 64)
}
