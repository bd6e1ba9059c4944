//go:build goolm

package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"maunium.net/go/mautrix/event"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
)

func refusedOnly(err error) bool { return errors.Is(err, channel.ErrRefused) }

func checkRoom(s string) error {
	if !matrix.IsRoom(s) {
		return fmt.Errorf("%w: %q is no room", channel.ErrRefused, s)
	}
	return nil
}

func noRoom(s string) error {
	if !matrix.IsUser(s) {
		return fmt.Errorf("%w: %q is no id of a person or room", channel.ErrRefused, s)
	}
	return fmt.Errorf("%w: it has no conversation with %s; they have to invite it first", channel.ErrRefused, s)
}

// said is what an event says that was said before, decrypted where it has to be. ok is
// false for what is not said to anybody.
func (c *Client) said(ctx context.Context, s *session, r *room, e *event.Event) (*event.MessageEventContent, bool, error) {
	e, err := c.plain(ctx, s, r, e, c.recall)
	if err != nil || e == nil {
		return nil, false, err
	}
	m, ok := message(e)
	return m, ok, nil
}

// message is what an event says that says something.
func message(e *event.Event) (*event.MessageEventContent, bool) {
	m, ok := e.Content.Parsed.(*event.MessageEventContent)
	return m, ok && e.Type.Type == event.EventMessage.Type
}

// opening decrypts an event of an encrypted room; nil: nobody will ever read it.
type opening func(ctx context.Context, s *session, e *event.Event) (*event.Event, error)

// plain is an event, decrypted where it has to be; nil: nobody can read it, or believe it.
func (c *Client) plain(ctx context.Context, s *session, r *room, e *event.Event, open opening) (*event.Event, error) {
	e.Type.Class = event.MessageEventType
	_ = e.Content.ParseRaw(e.Type) // twice is an error, and what cannot be read is nothing
	c.mu.Lock()
	encrypted := r.encryption != nil
	c.mu.Unlock()
	if e.Type.Type == event.EventEncrypted.Type {
		if _, ok := e.Content.Parsed.(*event.EncryptedEventContent); !ok {
			return nil, nil
		}
		plain, err := open(ctx, s, e)
		if err != nil || plain == nil {
			return nil, err
		}
		e = plain
		_ = e.Content.ParseRaw(e.Type)
	} else if encrypted { // a server can write that itself
		return nil, nil
	}
	return e, nil
}

// read makes a message of an event; ok is false for what is not for us.
func (c *Client) read(ctx context.Context, s *session, e *event.Event) (in channel.Inbound, ok bool, err error) {
	reaction := e.Type.Type == event.EventReaction.Type || e.Type.Type == event.EventRedaction.Type
	if reaction && e.Sender != c.user && e.ID != "" && matrix.IsUser(string(e.Sender)) {
		return c.reacted(ctx, s, e)
	}
	if e.Sender == c.user || e.ID == "" || !matrix.IsUser(string(e.Sender)) ||
		e.Type.Type != event.EventMessage.Type && e.Type.Type != event.EventEncrypted.Type && !isVerification(e.Type.Type) {
		return in, false, nil
	}
	r, err := c.room(ctx, s, e.RoomID)
	if err != nil {
		if refusedOnly(err) { // we are not there any more
			err = nil
		}
		return in, false, err
	}
	sealed := e
	if e, err = c.plain(ctx, s, r, e, openNew); err != nil || e == nil {
		return in, false, err
	}
	m, ok := message(e)
	if isVerification(e.Type.Type) || ok && m.MsgType == event.MsgVerificationRequest {
		c.verify(ctx, s, e)
		return in, false, nil
	}
	if !ok {
		return in, false, nil
	}
	if err := c.written(ctx, s, sealed, e); err != nil {
		return in, false, err
	}
	in = channel.Inbound{
		Channel: matrix.ID, Account: c.account, SenderID: string(e.Sender), SenderName: e.Sender.Localpart(),
		SenderIsBot: m.MsgType == event.MsgNotice, MessageID: string(e.ID), At: c.at(e),
	}
	if in.Chat, in.Conversation, in.Label, err = c.place(ctx, r); err != nil {
		return in, false, err
	}
	if replaced := m.RelatesTo.GetReplaceID(); replaced != "" {
		if m.NewContent == nil {
			return in, false, nil
		}
		first, err := s.api.GetEvent(ctx, e.RoomID, replaced)
		if err = failure(err, false); err != nil && !refusedOnly(err) {
			return in, false, err
		}
		if err != nil || first.Sender != e.Sender { // nobody changes what others said
			return in, false, nil
		}
		in.MessageID, in.Edited, m = string(replaced), true, m.NewContent
	}
	if thread := m.RelatesTo.GetThreadParent(); thread != "" {
		in.Thread = string(thread)
	}
	c.words(&in, e, m)
	if err := c.answersTo(ctx, s, r, &in, m); err != nil {
		return in, false, err
	}
	return in, in.Text != "" || len(in.Media) > 0, nil
}

const longestText = 128 << 10

// words are what a message says.
func (c *Client) words(in *channel.Inbound, e *event.Event, m *event.MessageEventContent) {
	m.RemoveReplyFallback()
	text := strings.ToValidUTF8(m.Body, "\uFFFD")
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "")
	}
	switch m.MsgType {
	case event.MsgText, event.MsgNotice:
	case event.MsgEmote:
		text = "* " + in.SenderName + " " + text
	case event.MsgImage, event.MsgVideo, event.MsgAudio, event.MsgFile:
		f := channel.Media{Name: line(m.GetFileName(), 120), URL: string(e.RoomID) + "/" + string(e.ID)}
		f.Voice = m.MSC3245Voice != nil
		if m.Info != nil {
			f.MIME, f.Size = line(m.Info.MimeType, 100), max(int64(m.Info.Size), 0)
		}
		in.Media, text = append(in.Media, f), m.GetCaption()
	default:
		text = ""
	}
	in.Text = strings.TrimSpace(text)
	in.Command, in.Mentioned = addressed(in.Text, string(c.user), c.user.Localpart())
	if m.Mentions != nil && !in.Mentioned {
		for _, who := range m.Mentions.UserIDs {
			in.Mentioned = in.Mentioned || who == c.user
		}
	}
}

// answersTo finds what a message answers.
func (c *Client) answersTo(ctx context.Context, s *session, r *room, in *channel.Inbound, m *event.MessageEventContent) error {
	to := m.RelatesTo.GetNonFallbackReplyTo()
	if to == "" {
		return nil
	}
	e, err := s.api.GetEvent(ctx, r.id, to)
	if err = failure(err, false); err != nil {
		if refusedOnly(err) {
			return nil
		}
		return err
	}
	e.RoomID = r.id
	if e.Sender == c.user {
		in.Mentioned = true
	}
	quoted, ok, err := c.said(ctx, s, r, e)
	if ok && err == nil {
		quoted.RemoveReplyFallback()
		if in.ReplyToText = strings.ToValidUTF8(quoted.Body, "\uFFFD"); len(in.ReplyToText) > longestText {
			in.ReplyToText = strings.ToValidUTF8(in.ReplyToText[:longestText], "")
		}
	}
	return nil // without its words it is an answer too
}

// at is when a message was said; no server knows the future.
func (c *Client) at(e *event.Event) time.Time {
	now := c.now()
	if t := time.UnixMilli(e.Timestamp); e.Timestamp > 0 && t.Before(now) {
		return t
	}
	return now
}

// addressed finds one of our names in a text: at its beginning it calls us, and what
// follows is for us; as a word elsewhere it names us.
func addressed(text string, names ...string) (command string, mentioned bool) {
	for _, name := range names {
		if name == "" {
			continue
		}
		for at := 0; at < len(text); {
			if len(text)-at >= len(name) && strings.EqualFold(text[at:at+len(name)], name) {
				before, _ := utf8.DecodeLastRuneInString(text[:at])
				rest := text[at+len(name):]
				after, _ := utf8.DecodeRuneInString(rest)
				if (at == 0 || !inWord(before)) && (rest == "" || !inWord(after)) {
					if strings.Trim(text[:at], "@ ") == "" {
						return strings.TrimSpace(strings.TrimLeft(rest, ":,! ")), true
					}
					mentioned = true
				}
			}
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
	}
	return "", mentioned
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }

// line makes one short line of a text.
func line(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return strings.TrimSpace(s)
}
