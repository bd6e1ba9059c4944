package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
)

// idSign begins the ids of what we say, so that nobody else's message is changed by
// mistake.
const idSign = "hearth-"

func newID() string { return idSign + rand.Text() }

// idOf is the same for every attempt to send a message: programs that get it twice
// show it once.
func idOf(key string) string {
	if key == "" {
		return newID()
	}
	sum := sha256.Sum256([]byte(key))
	return idSign + hex.EncodeToString(sum[:12])
}

// recipient is who a conversation is with.
func (c *Client) recipient(to channel.Target) (address, kind string, err error) {
	if room, ok := strings.CutPrefix(to.Conversation, xmpp.RoomSign); ok {
		if !c.isRoom(room) {
			return "", "", fmt.Errorf("%w: %s is none of its rooms; add it to channels.xmpp.rooms", channel.ErrRefused, to.Conversation)
		}
		return room, "groupchat", nil
	}
	if !xmpp.IsAddress(to.Conversation) {
		return "", "", fmt.Errorf("%w: %q is no address", channel.ErrRefused, to.Conversation)
	}
	return to.Conversation, "chat", nil
}

// Send says a text or sends files. The server's, or the room's, word is the receipt.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	to, kind, err := c.recipient(m.To)
	if err != nil {
		return channel.Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	l, err := c.current()
	if err != nil {
		return channel.Receipt{}, err
	}
	text := markup.Plain(m.Text)
	if text == "" && len(m.Media) == 0 {
		return channel.Receipt{}, fmt.Errorf("%w: the message is empty", channel.ErrRefused)
	}
	var all []*message
	if text != "" {
		all = append(all, &message{ID: idOf(m.Key), To: to, Type: kind, Bodies: []body{{text}}, Reply: c.replyTo(to, kind, m.To.ReplyTo)})
	}
	for i, f := range m.Media { // they are there before the first word is said
		address, err := c.upload(ctx, l, f)
		if err != nil {
			return channel.Receipt{}, err
		}
		id := idOf(m.Key)
		if len(all) > 0 && m.Key != "" {
			id = idOf(fmt.Sprint(m.Key, " file ", i))
		} else if len(all) > 0 {
			id = newID()
		}
		all = append(all, &message{ID: id, To: to, Type: kind, Bodies: []body{{address}}, OOB: []oob{{URL: address}}})
	}
	for i, s := range all {
		if err := c.say(ctx, l, s); err != nil {
			if i > 0 && !errors.Is(err, channel.ErrUncertain) {
				err = fmt.Errorf("%w: %d of %d parts were sent, then: %w", channel.ErrUncertain, i, len(all), err)
			}
			return channel.Receipt{}, err
		}
	}
	return channel.Receipt{MessageID: all[0].ID}, nil
}

// replyTo names the message that is answered.
func (c *Client) replyTo(to, kind, id string) *reply {
	if id == "" {
		return nil
	}
	r := &reply{To: to, ID: id}
	if kind == "groupchat" {
		c.mu.Lock()
		r.To, _ = c.said.get(to + " " + id)
		c.mu.Unlock()
	}
	return r
}

// say writes a message and waits for what becomes of it.
func (c *Client) say(ctx context.Context, l *link, m *message) error {
	m.Origin = &named{m.ID}
	if len(m.Bodies) > 0 {
		m.Active = &empty{}
		c.stopTyping(m.To)
	}
	o := &outgoing{to: m.To, room: m.Type == "groupchat", done: make(chan struct{})}
	l.mu.Lock()
	if o.room {
		if s := l.seats[m.To]; s == nil || s.state != seated {
			l.mu.Unlock()
			return fmt.Errorf("it is not in the room %s", m.To)
		}
	}
	l.sends[m.ID] = o
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.sends, m.ID)
		l.mu.Unlock()
	}()
	number, err := l.count(m)
	if errors.Is(err, channel.ErrRefused) {
		return err
	}
	if err == nil {
		if o.room {
			err = l.await(ctx, o.done)
		} else {
			err = l.confirmed(ctx, number)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(o.err, errLeft): // before or after it said this
		return fmt.Errorf("%w: %w", channel.ErrUncertain, o.err)
	case o.err != nil:
		return o.err
	case err != nil:
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return nil
}

// fail says that a message was not taken. The lock of the link is held.
func (o *outgoing) fail(err error) {
	select {
	case <-o.done:
	default:
		o.err = err
		close(o.done)
	}
}

// bounced: somebody refuses a message of ours.
func (c *Client) bounced(l *link, m *message) {
	l.mu.Lock()
	o := l.sends[m.ID]
	if o == nil || bare(m.From) != o.to && m.From != "" && m.From != c.address && m.From != c.domain {
		l.mu.Unlock()
		if strings.HasPrefix(m.ID, idSign) && m.Error != nil {
			c.log.Warn("a message came back after the server had taken it", "from", line(m.From, 200), "why", m.Error.words())
		}
		return
	}
	defer l.mu.Unlock()
	e := m.Error
	if e == nil {
		e = &stanzaErr{}
	}
	if e.Type == "wait" {
		o.fail(fmt.Errorf("%s does not take it now: %s", o.to, e.words()))
		return
	}
	o.fail(fmt.Errorf("%w: %s says: %s", channel.ErrRefused, o.to, e.words()))
}

// echoed: a room says something, perhaps what we wrote.
func (c *Client) echoed(l *link, m *message, stored string) {
	room := bare(m.From)
	l.mu.Lock()
	s := l.seats[room]
	if s == nil || resource(m.From) != s.nick {
		l.mu.Unlock()
		return
	}
	if o := l.sends[m.ID]; o != nil && o.room && o.to == room {
		select {
		case <-o.done:
		default:
			close(o.done)
		}
	}
	l.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range []string{m.ID, stored} {
		if id != "" {
			c.ours.put(room+" "+id, m.ID)
		}
	}
}

// change says something about a message that was said.
func (c *Client) change(ctx context.Context, to channel.Target, own string, make func() *message) error {
	address, kind, err := c.recipient(to)
	if err != nil {
		return err
	}
	if own != "" && !strings.HasPrefix(own, idSign) {
		return fmt.Errorf("%w: %q is no message of its own", channel.ErrRefused, own)
	}
	l, err := c.current()
	if err != nil {
		return err
	}
	m := make()
	m.ID, m.To, m.Type = newID(), address, kind
	return c.say(ctx, l, m)
}

// Edit implements channel.Editor.
func (c *Client) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	text = markup.Plain(text)
	if text == "" {
		return fmt.Errorf("%w: the new text is empty", channel.ErrRefused)
	}
	if messageID == "" {
		return fmt.Errorf("%w: no message is named", channel.ErrRefused)
	}
	return c.change(ctx, to, messageID, func() *message {
		return &message{Bodies: []body{{text}}, Replace: &named{messageID}}
	})
}

// Delete implements channel.Deleter. Programs that know no retractions show its words.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	if messageID == "" {
		return fmt.Errorf("%w: no message is named", channel.ErrRefused)
	}
	return c.change(ctx, to, messageID, func() *message {
		named := &named{messageID}
		if strings.HasPrefix(to.Conversation, xmpp.RoomSign) {
			named.ID = c.inRoomID(strings.TrimPrefix(to.Conversation, xmpp.RoomSign), messageID)
		}
		return &message{Retract: named, Falls: []fallback{{For: nsRetract}}, Store: &empty{}, Bodies: []body{{"(This message was deleted.)"}}}
	})
}

// inRoomID is the id that a room gave a message of ours.
func (c *Client) inRoomID(room, id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range c.ours.order {
		if own, ok := c.ours.get(key); ok && own == id && strings.HasPrefix(key, room+" ") && key != room+" "+id {
			return strings.TrimPrefix(key, room+" ")
		}
	}
	return id
}

// React implements channel.Reactor.
func (c *Client) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	if messageID == "" {
		return fmt.Errorf("%w: no message is named", channel.ErrRefused)
	}
	return c.change(ctx, to, "", func() *message {
		r := &reactions{ID: messageID}
		if room, ok := strings.CutPrefix(to.Conversation, xmpp.RoomSign); ok {
			r.ID = c.inRoomID(room, messageID)
		}
		if emoji != "" {
			r.Emoji = []string{emoji}
		}
		return &message{React: r, Store: &empty{}}
	})
}

// Typing implements channel.Typer. It is shown until a text follows, or for as long
// as the limits say.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	address, kind, err := c.recipient(to)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := c.current()
	if err != nil {
		return err
	}
	c.mu.Lock()
	if t := c.typing[address]; t != nil {
		t.Stop()
	}
	var t *time.Timer
	t = time.AfterFunc(xmpp.Limits.Typing, func() {
		c.mu.Lock()
		mine := c.typing[address] == t
		if mine {
			delete(c.typing, address)
		}
		c.mu.Unlock()
		if mine {
			_ = l.write(message{ID: newID(), To: address, Type: kind, Paused: &empty{}, NoStore: &empty{}})
		}
	})
	c.typing[address] = t
	c.mu.Unlock()
	return l.write(message{ID: newID(), To: address, Type: kind, Composing: &empty{}, NoStore: &empty{}})
}

// stopTyping: a text takes away that we are typing.
func (c *Client) stopTyping(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.typing[address]; t != nil {
		t.Stop()
		delete(c.typing, address)
	}
}

// untype stops all of them.
func (c *Client) untype() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for address, t := range c.typing {
		t.Stop()
		delete(c.typing, address)
	}
}
