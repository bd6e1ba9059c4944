package loopback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Channel is an account on a Net.
type Channel struct {
	net     *Net
	id      string
	account string
	limits  channel.Limits
	open    func(path string) (fs.File, error) // nil: what is in files is not looked at
}

// Channel returns an account on the network.
func (n *Net) Channel(id, account string, limits channel.Limits) *Channel {
	return &Channel{net: n, id: id, account: account, limits: limits}
}

// OpenFiles makes the channel read the files that it sends, and returns it.
func (c *Channel) OpenFiles(open func(path string) (fs.File, error)) *Channel {
	c.open = open
	return c
}

// ID is the network's name.
func (c *Channel) ID() string { return c.id }

// Account is the account's name.
func (c *Channel) Account() string { return c.account }

// Limits of a message.
func (c *Channel) Limits() channel.Limits { return c.limits }

// Run hands over what people write until ctx ends.
func (c *Channel) Run(ctx context.Context, inbox channel.Inbox) error {
	for {
		c.net.mu.Lock()
		changed := c.net.changed
		var in channel.Inbound
		waiting := len(c.net.inbox) > 0
		if waiting {
			in = c.net.inbox[0]
		}
		c.net.mu.Unlock()
		if ctx.Err() != nil {
			return nil
		}
		if !waiting {
			select {
			case <-changed:
			case <-ctx.Done():
				return nil
			}
			continue
		}
		in.Channel, in.Account = c.id, c.account
		if err := inbox(ctx, in); err != nil {
			continue // not taken: it comes again
		}
		c.net.mu.Lock()
		c.net.inbox = c.net.inbox[1:]
		c.net.taken[in.MessageID] = true
		c.net.change()
		c.net.mu.Unlock()
	}
}

// Send puts a message on the network.
func (c *Channel) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	files, err := c.read(m.Media)
	if err != nil {
		return channel.Receipt{}, err
	}
	after, err := c.net.begin(ctx, OpSend)
	if err != nil {
		return channel.Receipt{}, err
	}
	defer c.net.mu.Unlock()
	if err := c.check(m.Text, len(m.Media)); err != nil {
		return channel.Receipt{}, err
	}
	if m.To.Conversation == "" {
		return channel.Receipt{}, fmt.Errorf("%w: no conversation is named", channel.ErrRefused)
	}
	if c.net.once && m.Key != "" {
		for _, old := range c.net.messages {
			if old.Key == m.Key {
				return channel.Receipt{MessageID: old.ID}, after
			}
		}
	}
	if len(m.Choices) > c.limits.Choices {
		return channel.Receipt{}, fmt.Errorf("%w: it has %d buttons, at most %d are shown", channel.ErrRefused, len(m.Choices), c.limits.Choices)
	}
	return c.put(Message{To: m.To, Text: m.Text, Media: m.Media, Files: files, Choices: m.Choices, Key: m.Key,
		Silent: m.Manner.Silent && c.limits.Manner.Silent}), after
}

// put shows a message. The lock is held.
func (c *Channel) put(m Message) channel.Receipt {
	m.ID, m.at = strconv.Itoa(len(c.net.messages)+1), time.Now()
	c.net.messages = append(c.net.messages, m)
	c.net.change()
	return channel.Receipt{MessageID: m.ID}
}

// read reads the files of a message.
func (c *Channel) read(media []channel.Media) (out []File, err error) {
	if c.open == nil {
		return nil, nil
	}
	for _, m := range media {
		f, err := c.open(m.URL)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", channel.ErrRefused, err)
		}
		content, err := channel.ReadFile(f, c.limits.Files)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read a file that is to be sent: %w", err)
		}
		if int64(len(content)) > c.limits.Files {
			return nil, fmt.Errorf("%w: %s has more than %d bytes", channel.ErrRefused, m.Name, c.limits.Files)
		}
		out = append(out, File{Name: m.Name, MIME: m.MIME, Content: content})
	}
	return out, nil
}

// Fetch brings a file that somebody sent.
func (c *Channel) Fetch(_ context.Context, m channel.Media) (io.ReadCloser, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	f, ok := c.net.files[m.URL]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: there is no file %q", channel.ErrRefused, m.URL)
	case c.limits.Files > 0 && int64(len(f.Content)) > c.limits.Files:
		return nil, fmt.Errorf("%w: %s has more than %d bytes", channel.ErrRefused, f.Name, c.limits.Files)
	}
	return io.NopCloser(bytes.NewReader(f.Content)), nil
}

func (c *Channel) check(text string, media int) error {
	if text == "" && media == 0 {
		return fmt.Errorf("%w: the message is empty", channel.ErrRefused)
	}
	if n := c.limits.Unit.Len(text); c.limits.Text > 0 && n > c.limits.Text {
		return fmt.Errorf("%w: it has a length of %d, at most %d is allowed", channel.ErrRefused, n, c.limits.Text)
	}
	return nil
}

// Edit replaces the text of a message.
func (c *Channel) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.change(ctx, OpEdit, to, messageID, func(m *Message) error {
		if err := c.check(text, 0); err != nil {
			return err
		}
		if c.limits.Edits > 0 && m.Edits >= c.limits.Edits && m.Text != text {
			return fmt.Errorf("%w: it was edited %d times already", channel.ErrRefused, m.Edits)
		}
		if c.limits.EditWindow > 0 && time.Since(m.at) >= c.limits.EditWindow {
			return fmt.Errorf("%w: it is too old to be edited", channel.ErrRefused)
		}
		if m.Text == text {
			return nil
		}
		m.Text = text
		m.Edits++
		return nil
	})
}

// Delete removes a message.
func (c *Channel) Delete(ctx context.Context, to channel.Target, messageID string) error {
	return c.change(ctx, OpDelete, to, messageID, func(m *Message) error {
		m.Deleted = true
		return nil
	})
}

// React puts an emoji on a message that we or others wrote.
func (c *Channel) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	return c.change(ctx, OpReact, to, messageID, func(m *Message) error {
		m.Reactions = nil
		if emoji != "" {
			m.Reactions = []string{emoji}
		}
		return nil
	})
}

func (c *Channel) change(ctx context.Context, op Op, to channel.Target, id string, do func(*Message) error) error {
	after, err := c.net.begin(ctx, op)
	if err != nil {
		return err
	}
	defer c.net.mu.Unlock()
	m, err := c.net.find(to, id)
	if err != nil {
		return err
	}
	if err := do(m); err != nil {
		return err
	}
	c.net.change()
	return after
}

// Typing is counted.
func (c *Channel) Typing(ctx context.Context, _ channel.Target) error {
	after, err := c.net.begin(ctx, OpTyping)
	if err != nil {
		return err
	}
	c.net.mu.Unlock()
	return after
}

// Status implements channel.Reporter: it receives, whatever happens.
func (c *Channel) Status() channel.Status { return channel.Status{State: channel.Receiving} }

// TakesKeyOnce says whether a message may be sent again with its key after an
// uncertain end.
func (c *Channel) TakesKeyOnce() bool {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	return c.net.once
}
