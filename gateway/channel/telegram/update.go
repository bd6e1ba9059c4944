package telegram

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/text"
)

// wanted are the updates that we ask for.
func wanted() []string {
	return []string{"message", "channel_post", "edited_message", "edited_channel_post", "callback_query", "message_reaction",
		"business_connection", "business_message", "edited_business_message", "deleted_business_messages"}
}

// inbound turns an update into a message. ok is false for what nobody said:
// somebody joined, a title changed, a kind of update that we did not ask for.
func (c *Channel) inbound(u update) (in channel.Inbound, ok bool) {
	m := u.Message
	switch {
	case u.Callback != nil:
		return c.pressed(*u.Callback)
	case u.Reacted != nil:
		return c.reaction(*u.Reacted, u.ID)
	case m != nil:
	case u.ChannelPost != nil:
		m = u.ChannelPost
	default: // a location that moves is edited each time
		if m = cmp.Or(u.Edited, u.EditedPost); m == nil || m.Location != nil {
			return in, false
		}
	}
	if m == nil || m.ID == 0 || m.Chat.ID == 0 {
		return in, false
	}
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	media := attachments(m)
	if text == "" {
		text = described(m)
	}
	if text == "" && len(media) == 0 {
		return in, false
	}
	me := c.bot()
	in = c.happening(m.Chat)
	in.MessageID, in.Media, in.Album, in.At = strconv.FormatInt(m.ID, 10), media, m.Album, time.Unix(m.Date, 0)
	in.Edited = m == u.Edited || m == u.EditedPost
	in.Thread = thread(m)
	in.ReplyToText = quoted(m)
	in.QuoteSelected = m.Quote != nil && m.Quote.Text != ""
	sender(m, &in)
	text, called := addressed(text, entities, me)
	in.Text = text
	if c := commandOf(text, entities, me); c != text {
		in.Command = c
	}
	in.Forwarded, in.Text = forwarded(m, in.Text)
	called = called && in.Forwarded.From == "" // who passes a mention on calls nobody
	in.Mentioned = in.Chat == channel.Direct || called || answersUs(m, me)
	return in, true
}

// thread is the topic of a forum, or none: in other groups Telegram numbers
// threads of replies too, and takes no message into them.
func thread(m *message) string {
	switch {
	case m.IsTopic && m.ThreadID != 0:
		return strconv.FormatInt(m.ThreadID, 10)
	case m.Chat.IsForum && m.Chat.Type != "private":
		return strconv.Itoa(generalTopic)
	}
	return ""
}

func label(c chat) string {
	name := c.Title
	if name == "" {
		name = strings.TrimSpace(c.FirstName + " " + c.LastName)
	}
	if name == "" {
		name = c.Username
	}
	return name
}

// sender: posts of a channel, anonymous administrators and people who write as
// their channel are a chat, not a person.
func sender(m *message, in *channel.Inbound) {
	switch s := m.SenderChat; {
	case s != nil:
		in.SenderID = strconv.FormatInt(s.ID, 10)
		in.SenderName, in.SenderHandle = label(*s), s.Username
		if m.Signature != "" {
			in.SenderName = m.Signature
		}
	case m.From != nil:
		in.SenderID = strconv.FormatInt(m.From.ID, 10)
		in.SenderName = strings.TrimSpace(m.From.FirstName + " " + m.From.LastName)
		in.SenderHandle = m.From.Username
		in.SenderIsBot = m.From.IsBot
	default:
		in.SenderID, in.SenderName = in.Conversation, in.Label
	}
}

// quoted is what the message answers: the part that was selected, else all.
func quoted(m *message) string {
	if m.Quote != nil && m.Quote.Text != "" {
		return m.Quote.Text
	}
	if r := m.ReplyTo; r != nil && len(r.TopicCreated) == 0 {
		if r.Text != "" {
			return r.Text
		}
		return r.Caption
	}
	return ""
}

func answersUs(m *message, me user) bool {
	r := m.ReplyTo
	return r != nil && len(r.TopicCreated) == 0 && r.From != nil && r.From.ID == me.ID && me.ID != 0
}

// addressed reports whether a text names the bot: @bot, a mention of its
// account, or /command@bot. The bot's name is taken off a command, so that
// "/status@HearthBot" reads as "/status".
func addressed(text string, entities []entity, me user) (string, bool) {
	if me.ID == 0 {
		return text, false
	}
	units := utf16.Encode([]rune(text))
	called := false
	cutFrom, cutTo := 0, 0
	for _, e := range entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset > len(units) || e.Length > len(units)-e.Offset {
			continue
		}
		word := string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
		switch e.Type {
		case "mention":
			called = called || strings.EqualFold(word, "@"+me.Username)
		case "text_mention":
			called = called || e.User != nil && e.User.ID == me.ID
		case "bot_command":
			name, target, ok := strings.Cut(word, "@")
			if ok && strings.EqualFold(target, me.Username) {
				called = true
				if e.Offset == 0 {
					cutFrom, cutTo = utf16Len(name), e.Length
				}
			}
		}
	}
	if cutTo > cutFrom {
		text = string(utf16.Decode(slices.Concat(units[:cutFrom], units[cutTo:])))
	}
	return text, called
}

// commandOf is what is said to us: the text without a mention of the bot before
// or behind it. "@bot stop", "stop @bot" and "@bot /status@bot" are commands.
func commandOf(text string, entities []entity, me user) string {
	units := utf16.Encode([]rune(text))
	slice := func(from, to int) string { return string(utf16.Decode(units[from:to])) }
	blank := func(s string) bool { return strings.Trim(s, " \t\r\n,;:.!?-–—") == "" }
	for _, e := range entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset > len(units) || e.Length > len(units)-e.Offset || me.ID == 0 {
			continue
		}
		end := e.Offset + e.Length
		word := slice(e.Offset, end)
		ours := e.Type == "mention" && strings.EqualFold(word, "@"+me.Username) || e.Type == "text_mention" && e.User != nil && e.User.ID == me.ID
		switch {
		case !ours:
		case blank(slice(0, e.Offset)) && !blank(slice(end, len(units))):
			rest := strings.TrimLeft(slice(end, len(units)), " \t\r\n,;:.!?-–—")
			first, more, _ := strings.Cut(rest, " ")
			if name, target, ok := strings.Cut(first, "@"); ok && strings.HasPrefix(name, "/") && strings.EqualFold(target, me.Username) {
				rest = strings.TrimSpace(name + " " + more)
			}
			return rest
		case blank(slice(end, len(units))) && !blank(slice(0, e.Offset)):
			return strings.TrimRight(slice(0, e.Offset), " \t\r\n,;:-–—")
		}
	}
	return text
}

func attachments(m *message) (out []channel.Media) {
	add := func(f *file, mime, name string) {
		if f == nil || f.ID == "" {
			return
		}
		if f.MIME != "" {
			mime = f.MIME
		}
		if f.Name != "" {
			name = f.Name
		}
		out = append(out, channel.Media{MIME: mime, Name: fileName(name), URL: fileScheme + f.ID, Size: f.Size})
	}
	if n := len(m.Photo); n > 0 {
		largest := &m.Photo[0]
		for i := range m.Photo {
			if m.Photo[i].Size > largest.Size {
				largest = &m.Photo[i]
			}
		}
		add(largest, "image/jpeg", "photo.jpg")
	}
	if m.Animation != nil { // its document is the same file
		add(m.Animation, "video/mp4", "animation.mp4")
	} else {
		add(m.Document, "application/octet-stream", "file")
	}
	if add(m.Voice, "audio/ogg", "voice.ogg"); m.Voice != nil && len(out) > 0 {
		out[len(out)-1].Voice = true
	}
	add(m.Audio, "audio/mpeg", "audio.mp3")
	add(m.Video, "video/mp4", "video.mp4")
	add(m.VideoNote, "video/mp4", "video-note.mp4")
	switch s := m.Sticker; {
	case s == nil:
	case !s.Animated && !s.IsVideo:
		add(s, "image/webp", "sticker.webp")
	default: // what moves is seen by its picture
		add(s.Still, "image/webp", "sticker.webp")
	}
	return out
}

// described is the text for what has none of its own.
func described(m *message) string {
	switch {
	case m.Venue != nil && m.Location != nil:
		return fmt.Sprintf("[place: %s, %s (%.6f, %.6f)]", oneLineOf(m.Venue.Title), oneLineOf(m.Venue.Address), m.Location.Latitude,
			m.Location.Longitude)
	case m.Location != nil:
		return fmt.Sprintf("[location: %.6f, %.6f]", m.Location.Latitude, m.Location.Longitude)
	case m.Contact != nil:
		return fmt.Sprintf("[contact: %s %s]", oneLineOf(strings.TrimSpace(m.Contact.FirstName+" "+m.Contact.LastName)),
			oneLineOf(m.Contact.Phone))
	case m.Sticker != nil:
		return strings.TrimSpace("[sticker " + oneLineOf(m.Sticker.Emoji) + "]")
	case m.Poll != nil:
		answers := make([]string, 0, maxOptions)
		for _, o := range m.Poll.Options[:min(len(m.Poll.Options), maxOptions)] {
			answers = append(answers, oneLineOf(o.Text))
		}
		return fmt.Sprintf("[poll: %s (%s)]", oneLineOf(m.Poll.Question), strings.Join(answers, " / "))
	case m.Dice != nil:
		return fmt.Sprintf("[%s %d]", oneLineOf(m.Dice.Emoji), m.Dice.Value)
	}
	return ""
}

func oneLineOf(s string) string { return text.Ellipsis(strings.Join(strings.Fields(s), " "), 200) }
