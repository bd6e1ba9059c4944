package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/text"
)

// generalTopic is the first topic of every forum. Messages into it must not
// name it; the typing sign must.
const generalTopic = 1

// place is a Target as numbers.
type place struct {
	chat   string
	conn   string // of the person in whose name it is said; "": in the bot's own
	thread int64
	reply  int64
}

func parseTarget(to channel.Target) (p place, err error) {
	p.chat = strings.TrimSpace(to.Conversation)
	if rest, ok := strings.CutPrefix(p.chat, businessScheme); ok {
		if p.conn, p.chat, ok = strings.Cut(rest, ":"); !ok || !plainWord(p.conn, 1, 128) {
			return p, fmt.Errorf("%w: %q names no chat of Telegram Business", channel.ErrRefused, text.Ellipsis(to.Conversation, 40))
		}
	}
	if _, err := strconv.ParseInt(p.chat, 10, 64); err != nil && !strings.HasPrefix(p.chat, "@") || p.chat == "" || p.chat == "@" {
		return p, fmt.Errorf("%w: a Telegram chat is named by its number or its @name, not %q", channel.ErrRefused,
			text.Ellipsis(to.Conversation, 40))
	}
	if to.Thread != "" {
		if p.thread, err = strconv.ParseInt(to.Thread, 10, 64); err != nil || p.thread < 1 {
			return p, fmt.Errorf("%w: a Telegram topic is named by its number, not %q", channel.ErrRefused, text.Ellipsis(to.Thread, 40))
		}
	}
	if to.ReplyTo != "" && !strings.HasPrefix(to.ReplyTo, businessNote) {
		if p.reply, err = messageNumber(to.ReplyTo); err != nil {
			return p, err
		}
	}
	return p, nil
}

func messageNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %q is not the number of a Telegram message", channel.ErrRefused, text.Ellipsis(id, 40))
	}
	return n, nil
}

// topic is the thread as sending methods want it.
func (p place) topic() int64 {
	if p.thread == generalTopic {
		return 0
	}
	return p.thread
}

// answering is what the first part of a message replies to. A deleted message
// must not keep the answer from arriving.
func (p place) answering(part int) *replyParameters {
	if p.reply == 0 || part > 0 {
		return nil
	}
	return &replyParameters{MessageID: p.reply, AllowMissing: true}
}

// part is what one request sends: a text, or files with a caption.
type part struct {
	text    rendered
	media   []channel.Media // one, or an album
	buttons *keyboard
	how     channel.Manner
}

// Send sends the text and then the files, as albums; a short text becomes the caption
// of the first. A message that needs several requests goes on where it
// stopped when it is sent again with the same Key. The receipt names the first, or
// the one with the buttons, which stand below the end of the text.
func (c *Channel) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	to, err := parseTarget(m.To)
	if err != nil {
		return channel.Receipt{}, err
	}
	if err := checkChoices(m.Choices); err != nil {
		return channel.Receipt{}, err
	}
	parts := c.split(m)
	if len(parts) == 0 {
		return channel.Receipt{}, fmt.Errorf("%w: there is nothing to send, the message has neither text nor a file", channel.ErrRefused)
	}
	if err := c.mayReply(ctx, to); err != nil {
		return channel.Receipt{}, err
	}
	first, next := c.parts.take(m.Key)
	for i := next; i < len(parts); i++ {
		id, err := c.sendPart(ctx, to, i, parts[i])
		if err != nil {
			return channel.Receipt{}, c.unfinished(m.Key, first, i, len(parts), err)
		}
		if i == 0 || parts[i].buttons != nil {
			first = id
		}
	}
	return channel.Receipt{MessageID: strconv.FormatInt(first, 10)}, nil
}

// unfinished says what has arrived of a message that failed on the way.
func (c *Channel) unfinished(key string, first int64, done, all int, err error) error {
	if done == 0 {
		return err
	}
	err = fmt.Errorf("%w (%d of %d parts of the message have arrived)", err, done, all)
	if errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrAuth) {
		return err
	}
	if key == "" { // trying again would begin at the first part
		return fmt.Errorf("%w: %s", channel.ErrUncertain, err.Error())
	}
	c.parts.put(key, first, done)
	return err
}

func (c *Channel) split(m channel.Message) []part {
	var parts []part
	for _, t := range fitting(m.Text, 0) {
		parts = append(parts, part{text: t, how: m.Manner})
	}
	if k := keyboardOf(m.Choices); k != nil && len(parts) > 0 {
		parts[len(parts)-1].buttons = k
	}
	for i, album := range c.Albums(m.Media, m.Manner) {
		if i == 0 && len(m.Choices) == 0 && len(parts) == 1 && parts[0].text.units() <= maxCaption {
			parts[0].media = album
			continue
		}
		parts = append(parts, part{media: album, how: m.Manner})
	}
	return parts
}

// fitting renders a text, in halves while it is too long for Telegram: one
// drawn character can count for two and more.
func fitting(markdown string, depth int) []rendered {
	r := render(markdown)
	if strings.TrimSpace(r.plain) == "" {
		return nil
	}
	if r.units() <= maxUnits || depth > 20 {
		return []rendered{r}
	}
	a, b := halve(markdown)
	return append(fitting(a, depth+1), fitting(b, depth+1)...)
}

func (c *Channel) sendPart(ctx context.Context, to place, i int, p part) (int64, error) {
	if len(p.media) > 0 {
		return c.sendMedia(ctx, to, i, p)
	}
	req := sendMessage{
		ConnID: to.conn, ChatID: to.chat, ThreadID: to.topic(), Text: p.text.html, ParseMode: "HTML",
		Reply: to.answering(i), Preview: linkPreview{Disabled: true}, Buttons: p.buttons, Quiet: p.how.Silent,
	}
	var sent message
	post := func() error { return c.api.once(ctx, callTimeout, "sendMessage", req, &sent) }
	err := post()
	if refusal(err, "can't parse entities") {
		c.log.Warn("Telegram did not take the formatting of a message; it is sent as plain text", "err", err)
		req.Text, req.ParseMode = p.text.plain, ""
		err = post()
	}
	if chat := migrated(err); chat != "" {
		c.log.Info("a Telegram group has a new number", "old", req.ChatID, "new", chat)
		req.ChatID = chat
		err = post()
	}
	return sent.ID, err
}

// migrated is the new number of a group that became a supergroup. Nothing was
// sent to the old one.
func migrated(err error) string {
	var e *apiError
	if errors.As(err, &e) && e.migrateTo != 0 {
		return strconv.FormatInt(e.migrateTo, 10)
	}
	return ""
}

// Edit replaces the text of a message. That it is already so is fine.
func (c *Channel) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	p, err := parseTarget(to)
	if err != nil {
		return err
	}
	id, err := messageNumber(messageID)
	if err != nil {
		return err
	}
	if err := c.mayReply(ctx, p); err != nil {
		return err
	}
	r := render(text)
	switch {
	case strings.TrimSpace(r.plain) == "":
		return fmt.Errorf("%w: a Telegram message cannot become empty; delete it instead", channel.ErrRefused)
	case r.units() > maxUnits:
		return fmt.Errorf("%w: the new text has %d characters as Telegram counts them, the limit is %d", channel.ErrRefused, r.units(), maxUnits)
	}
	req := editMessage{ConnID: p.conn, ChatID: p.chat, MessageID: id, Text: r.html, ParseMode: "HTML", Preview: linkPreview{Disabled: true}}
	err = c.api.call(ctx, "editMessageText", req, nil)
	if refusal(err, "can't parse entities") {
		req.Text, req.ParseMode = r.plain, ""
		err = c.api.call(ctx, "editMessageText", req, nil)
	}
	if refusal(err, "message is not modified") {
		return nil
	}
	return err
}

// Delete removes a message. That it is already gone is fine.
func (c *Channel) Delete(ctx context.Context, to channel.Target, messageID string) error {
	p, err := parseTarget(to)
	if err != nil {
		return err
	}
	id, err := messageNumber(messageID)
	if err != nil {
		return err
	}
	if p.conn != "" {
		err = c.api.call(ctx, "deleteBusinessMessages", deleteBusiness{p.conn, []int64{id}}, nil)
	} else {
		err = c.api.call(ctx, "deleteMessage", messageRef{ChatID: p.chat, MessageID: id}, nil)
	}
	if refusal(err, "message to delete not found") {
		return nil
	}
	return err
}

// Typing shows "typing…" for about five seconds.
func (c *Channel) Typing(ctx context.Context, to channel.Target) error {
	p, err := parseTarget(to)
	if err != nil {
		return err
	}
	if err := c.mayReply(ctx, p); err != nil {
		return err
	}
	return c.api.call(ctx, "sendChatAction", chatAction{ConnID: p.conn, ChatID: p.chat, ThreadID: p.thread, Action: "typing"}, nil)
}

// React puts an emoji on a message; "" takes it away. Telegram allows some
// dozens of emoji; another one is refused.
func (c *Channel) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	p, err := parseTarget(to)
	if err != nil {
		return err
	}
	id, err := messageNumber(messageID)
	if err != nil {
		return err
	}
	if p.conn != "" {
		return fmt.Errorf("%w: Telegram lets no bot put an emoji on a message in somebody else's chats", channel.ErrRefused)
	}
	req := setReaction{messageRef: messageRef{ChatID: p.chat, MessageID: id}, Reaction: []emojiReaction{}}
	if emoji != "" {
		// Telegram knows them without the sign that asks for colour.
		req.Reaction = append(req.Reaction, emojiReaction{Type: "emoji", Emoji: strings.ReplaceAll(emoji, "\uFE0F", "")})
	}
	return c.api.call(ctx, "setMessageReaction", req, nil)
}

// progress remembers which messages arrived in part, for the next attempt. It
// is lost with the process, which is right: after a crash an attempt without a
// receipt counts as uncertain anyway.
type progress struct {
	mu   sync.Mutex
	keys []string
	at   map[string][2]int64 // first message id, parts done
}

const maxProgress = 256

func (p *progress) put(key string, first int64, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at = map[string][2]int64{}
	}
	if len(p.keys) == maxProgress {
		delete(p.at, p.keys[0])
		p.keys = p.keys[1:]
	}
	p.keys = append(p.keys, key)
	p.at[key] = [2]int64{first, int64(done)}
}

func (p *progress) take(key string) (first int64, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.at[key]
	if !ok || key == "" {
		return 0, 0
	}
	delete(p.at, key)
	for i, k := range p.keys {
		if k == key {
			p.keys = append(p.keys[:i:i], p.keys[i+1:]...)
			break
		}
	}
	return v[0], int(v[1])
}
