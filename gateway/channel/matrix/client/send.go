//go:build goolm

package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
)

// mostEvent is how large what is said may be as JSON, so that it fits encrypted too.
const mostEvent = 44_000

// transaction is the same for every attempt to send a message: the server takes it once.
func transaction(key string) string {
	if key == "" {
		return "hearth-" + rand.Text()
	}
	sum := sha256.Sum256([]byte(key))
	return "hearth-" + hex.EncodeToString(sum[:16])
}

// text is what a message says, formatted too where that says more.
func text(markdown string) *event.MessageEventContent {
	m := &event.MessageEventContent{MsgType: event.MsgText, Body: markup.Plain(markdown)}
	var html bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table)).Convert([]byte(markdown), &html)
	if formatted := strings.TrimSpace(html.String()); err == nil && formatted != "<p>"+m.Body+"</p>" {
		m.Format, m.FormattedBody = event.FormatHTML, strings.ToValidUTF8(formatted, "\uFFFD")
	}
	return m
}

// slim takes the formatting away where an event would be too large.
func slim(m *event.MessageEventContent) {
	b, err := json.Marshal(m)
	if err == nil && len(b) <= mostEvent {
		return
	}
	m.Format, m.FormattedBody = "", ""
	if m.NewContent != nil { // what programs show that know no edits can be short
		m.NewContent.Format, m.NewContent.FormattedBody = "", ""
		m.Body = line(m.Body, 200)
	}
}

// Send says a text or sends files. The id that the server gives is the receipt.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	of, err := c.where(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	s, err := c.current()
	if err != nil {
		return channel.Receipt{}, err
	}
	r, err := c.room(ctx, s, of)
	if err != nil {
		return channel.Receipt{}, err
	}
	var all []*event.MessageEventContent
	if m.Text != "" {
		if t := text(m.Text); t.Body != "" {
			all = append(all, t)
		}
	}
	for _, f := range m.Media { // they are there before the first word is said
		t, err := c.upload(ctx, s, r, f)
		if err != nil {
			return channel.Receipt{}, err
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return channel.Receipt{}, fmt.Errorf("%w: the message is empty", channel.ErrRefused)
	}
	first := id.EventID("")
	for i, t := range all {
		relate(t, m.To)
		slim(t)
		key := m.Key
		if i > 0 && key != "" {
			key = fmt.Sprint(key, " part ", i)
		}
		sent, err := c.say(ctx, s, r, event.EventMessage, t, transaction(key))
		if err != nil {
			if i > 0 && !errors.Is(err, channel.ErrUncertain) {
				err = fmt.Errorf("%w: %d of %d parts were sent, then: %w", channel.ErrUncertain, i, len(all), err)
			}
			return channel.Receipt{}, err
		}
		if i == 0 {
			first = sent
		}
	}
	return channel.Receipt{MessageID: string(first)}, nil
}

// relate says which message is answered, and in which thread.
func relate(m *event.MessageEventContent, to channel.Target) {
	switch {
	case to.Thread != "":
		reply := id.EventID(to.ReplyTo)
		if reply == "" {
			reply = id.EventID(to.Thread)
		}
		m.RelatesTo = (&event.RelatesTo{}).SetThread(id.EventID(to.Thread), reply)
		if to.ReplyTo != "" {
			m.RelatesTo.IsFallingBack = false
		}
	case to.ReplyTo != "":
		m.RelatesTo = (&event.RelatesTo{}).SetReplyTo(id.EventID(to.ReplyTo))
	}
}

// say sends an event, encrypted where the room is.
func (c *Client) say(ctx context.Context, s *session, r *room, kind event.Type, content any, txn string) (id.EventID, error) {
	c.mu.Lock()
	encrypted := r.encryption != nil
	c.mu.Unlock()
	if encrypted && (kind == event.EventMessage || isVerification(kind.Type)) {
		closed, err := c.encrypt(ctx, s, r, kind, content)
		if err != nil {
			return "", err
		}
		kind, content = event.EventEncrypted, closed
	}
	sent, err := s.api.SendMessageEvent(ctx, r.id, kind, content, mautrix.ReqSendEvent{TransactionID: txn, DontEncrypt: true})
	if err != nil {
		return "", uncertain(ctx, err)
	}
	return sent.EventID, nil
}

// encrypt closes a message for all who are in a room. Nothing of it was sent when it
// fails.
func (c *Client) encrypt(ctx context.Context, s *session, r *room, kind event.Type, content any) (*event.EncryptedEventContent, error) {
	closed, err := s.mach.EncryptMegolmEvent(ctx, r.id, kind, content)
	if !crypto.IsShareError(err) {
		return closed, err
	}
	if err := c.nextGeneration(ctx, s.api); err != nil {
		return nil, err
	}
	c.mu.Lock()
	who := r.there()
	c.mu.Unlock()
	if err := s.mach.ShareGroupSession(ctx, r.id, who); err != nil {
		err = failure(err, false)
		return nil, fmt.Errorf("give the key of the room to those who are in it: %w", err)
	}
	if err := s.keys.trouble(); err != nil {
		return nil, err
	}
	return s.mach.EncryptMegolmEvent(ctx, r.id, kind, content)
}

// about finds what a change of a message is about.
func (c *Client) about(ctx context.Context, to channel.Target, messageID string) (*session, *room, id.EventID, error) {
	of, err := c.where(to.Conversation)
	if err != nil {
		return nil, nil, "", err
	}
	if !isEvent(messageID) {
		return nil, nil, "", fmt.Errorf("%w: %q is no message", channel.ErrRefused, messageID)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, "", err
	}
	s, err := c.current()
	if err != nil {
		return nil, nil, "", err
	}
	r, err := c.room(ctx, s, of)
	return s, r, id.EventID(messageID), err
}

// Edit implements channel.Editor.
func (c *Client) Edit(ctx context.Context, to channel.Target, messageID, markdown string) error {
	s, r, of, err := c.about(ctx, to, messageID)
	if err != nil {
		return err
	}
	t := text(markdown)
	if t.Body == "" {
		return fmt.Errorf("%w: the new text is empty", channel.ErrRefused)
	}
	t.SetEdit(of)
	slim(t)
	_, err = c.say(ctx, s, r, event.EventMessage, t, transaction(""))
	return err
}

// Delete implements channel.Deleter.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	s, r, of, err := c.about(ctx, to, messageID)
	if err != nil {
		return err
	}
	_, err = s.api.RedactEvent(ctx, r.id, of)
	return uncertain(ctx, err)
}

// React implements channel.Reactor.
func (c *Client) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	s, r, of, err := c.about(ctx, to, messageID)
	if err != nil {
		return err
	}
	key := string(r.id) + " " + messageID
	c.mu.Lock()
	old := c.reacts[key]
	delete(c.reacts, key)
	c.mu.Unlock()
	if old != "" {
		if _, err := s.api.RedactEvent(ctx, r.id, old); err != nil {
			return uncertain(ctx, err)
		}
	}
	if emoji == "" {
		return nil
	}
	content := &event.ReactionEventContent{RelatesTo: *(&event.RelatesTo{}).SetAnnotation(of, emoji)}
	sent, err := c.say(ctx, s, r, event.EventReaction, content, transaction(""))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.reacts) < 1000 {
		c.reacts[key] = sent
	}
	return nil
}

// Typing implements channel.Typer.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	of, err := c.where(to.Conversation)
	if err != nil {
		return err
	}
	s, err := c.current()
	if err != nil {
		return err
	}
	_, err = s.api.UserTyping(ctx, of, true, matrix.Limits.Typing)
	return failure(err, false)
}
