package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
)

// receive reads the mailbox over one connection, until it ends.
func (c *Client) receive(ctx context.Context, inbox channel.Inbox) error {
	b, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer b.end()
	if err := c.begin(ctx, b); err != nil {
		return err
	}
	for {
		c.note(channel.Receiving, "")
		if err := c.look(ctx, b, inbox); err != nil {
			return err
		}
		c.note(channel.Receiving, "")
		if err := b.rest(ctx); err != nil {
			return err
		}
	}
}

// begin says where reading begins: behind what was there before Hearth was told of
// the mailbox.
func (c *Client) begin(ctx context.Context, b *mailbox) error {
	c.mu.Lock()
	validity, next := c.kept.Validity, c.kept.Next
	c.mu.Unlock()
	if next != 0 && validity == b.validity {
		return nil
	}
	if next != 0 {
		c.log.Warn("the server has numbered the mailbox anew: what came meanwhile is not read", "folder", c.folder)
	}
	return c.keep(ctx, func(k *kept) { k.Validity, k.Next = b.validity, max(b.next, 1) })
}

// look takes the messages that have come.
func (c *Client) look(ctx context.Context, b *mailbox, inbox channel.Inbox) error {
	c.mu.Lock()
	next := c.kept.Next
	c.mu.Unlock()
	var since imap.UIDSet
	since.AddRange(imap.UID(next), 0)
	b.within(answerTime, requestBytes)
	found, err := b.UIDSearch(&imap.SearchCriteria{UID: []imap.UIDSet{since}}, nil).Wait()
	if err != nil {
		return fmt.Errorf("ask for new mail: %w", err)
	}
	// The range has the last message in it also where that is an older one.
	uids := slices.DeleteFunc(found.AllUIDs(), func(u imap.UID) bool { return uint32(u) < next })
	slices.Sort(uids)
	for _, uid := range uids {
		if err := c.take(ctx, b, uint32(uid), inbox); err != nil {
			return err
		}
	}
	return nil
}

// take reads one message and hands it over, again until it was taken.
func (c *Client) take(ctx context.Context, b *mailbox, uid uint32, inbox channel.Inbox) error {
	raw, at, err := b.fetch(uid)
	if err != nil {
		return err
	}
	_ = b.conn.SetDeadline(time.Time{}) // nothing is asked while the message is judged and taken
	done := func(k *kept) { k.Next = uid + 1 }
	l, in, why := c.judge(ctx, raw, at, fmt.Sprintf("%d-%d", b.validity, uid))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why != nil {
		c.log.Info("a message is left unread", "uid", uid, "why", why)
		if errors.Is(why, errUnproven) {
			c.mu.Lock()
			c.unproven++
			c.mu.Unlock()
		}
		return c.keep(ctx, done)
	}
	for i := range l.files {
		in.Media[i].URL = fileURL(b.validity, uid, i)
	}
	if err := c.keep(ctx, func(k *kept) {
		k.add(answer{From: l.from, ID: in.MessageID, Subject: l.subject, References: l.thread()})
	}); err != nil {
		return err
	}
	if err := intake.Take(ctx, inbox, in, c.log); err != nil {
		return err
	}
	c.mu.Lock()
	c.status.LastTake = c.now()
	c.mu.Unlock()
	b.within(answerTime, requestBytes)
	flags := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagSeen}}
	if err := b.Store(imap.UIDSetNum(imap.UID(uid)), flags, nil).Close(); err != nil {
		return fmt.Errorf("mark a message as read: %w", err)
	}
	return c.keep(ctx, done)
}

var (
	errUnproven = errors.New("nobody proves who sent it")
	errNotOurs  = errors.New("it is not for the assistant")
)

// judge makes a message of mail; the error says why it is none.
func (c *Client) judge(ctx context.Context, raw []byte, at time.Time, number string) (l *letter, in channel.Inbound, why error) {
	if len(raw) == 0 || len(raw) > email.MaxMessage {
		return nil, in, fmt.Errorf("%w: it is empty, or larger than %d MB", errNotOurs, email.MaxMessage>>20)
	}
	l, err := parse(raw)
	if err != nil {
		return nil, in, fmt.Errorf("%w: %w", errUnproven, err)
	}
	switch {
	case l.automatic != "":
		return nil, in, fmt.Errorf("%w: %s", errNotOurs, l.automatic)
	case l.from == c.address:
		return nil, in, fmt.Errorf("%w: it is our own", errNotOurs)
	}
	if err := c.proven(ctx, raw, l); err != nil {
		return nil, in, err
	}
	in = channel.Inbound{
		Channel: email.ID, Account: c.account, Chat: channel.Direct, Conversation: l.from, Label: l.from, SenderID: l.from,
		SenderName: l.name, SenderHandle: l.from, MessageID: l.id, Text: l.text, ReplyToText: l.quoted, At: at,
	}
	if in.MessageID == "" {
		in.MessageID = number
	}
	// Who begins a conversation may say it all in the subject.
	if l.subject != "" && len(l.references) == 0 {
		in.Text, in.Command = strings.TrimSpace(l.subject+"\n\n"+l.text), l.text
	}
	for _, f := range l.files {
		in.Media = append(in.Media, channel.Media{MIME: f.mime, Name: f.name, Size: int64(len(f.data))})
	}
	if in.Text == "" && len(in.Media) == 0 {
		return nil, in, fmt.Errorf("%w: it says nothing", errNotOurs)
	}
	return l, in, nil
}

// fileURL names a file of a message.
func fileURL(validity, uid uint32, n int) string {
	return fmt.Sprintf("%d/%d/%d", validity, uid, n)
}

// number reads one of the three parts of what fileURL wrote.
func number(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil
}
