package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ergochat/irc-go/ircevent"
	"github.com/ergochat/irc-go/ircmsg"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Lines of one message go out at once up to burst, then one each pace: servers end
// the connection of whoever is faster.
const (
	burst = 4
	pace  = 700 * time.Millisecond
)

// settle is how long a server may take to answer a line; strict ones let a new
// client wait.
const settle = 20 * time.Second

// Send says a text in a channel or to a nick, and waits until the server has read
// it.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if len(m.Media) > 0 {
		return channel.Receipt{}, fmt.Errorf("%w: IRC carries no files", channel.ErrRefused)
	}
	to := m.To.Conversation
	if to == "" || strings.ContainsAny(to, " ,\r\n\x00") || strings.HasPrefix(to, ":") {
		return channel.Receipt{}, fmt.Errorf("%w: %q is no channel or nick", channel.ErrRefused, to)
	}
	lines := split(markup.Plain(m.Text), irc.Limits.Text)
	if len(lines) == 0 {
		return channel.Receipt{}, fmt.Errorf("%w: the message is empty", channel.ErrRefused)
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	if c.Status().State != channel.Receiving {
		return channel.Receipt{}, errors.New("IRC is not connected")
	}
	r, broken := c.expect(to)
	defer c.forget(r)
	for i, line := range lines {
		if i >= burst && sleep.For(ctx, pace) != nil {
			return channel.Receipt{}, fmt.Errorf("%w: %d of %d lines were sent", channel.ErrUncertain, i, len(lines))
		}
		if err := c.conn.Privmsg(to, line); err != nil {
			if i == 0 && errors.Is(err, ircevent.ClientDisconnected) {
				return channel.Receipt{}, err
			}
			return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, err)
		}
	}
	if err := c.conn.Send("PING", r.token); err != nil {
		return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	late := time.NewTimer(settle)
	defer late.Stop()
	select {
	case <-r.done:
		select {
		case <-broken: // the PING went to the next connection already, and says nothing of the one before
			return channel.Receipt{}, fmt.Errorf("%w: the connection broke", channel.ErrUncertain)
		default:
		}
		return channel.Receipt{MessageID: r.token}, r.err
	case <-broken:
		return channel.Receipt{}, fmt.Errorf("%w: the connection broke", channel.ErrUncertain)
	case <-late.C:
		return channel.Receipt{}, fmt.Errorf("%w: the server did not answer for %v", channel.ErrUncertain, settle)
	case <-ctx.Done():
		return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, ctx.Err())
	}
}

// expect begins to listen for what becomes of a message. The sending lock is held.
func (c *Client) expect(to string) (*receipt, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pings++
	c.wait = &receipt{target: to, token: fmt.Sprintf("h%d-%d", c.now().UnixMilli(), c.pings), done: make(chan struct{})}
	return c.wait, c.broken
}

func (c *Client) forget(r *receipt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wait == r {
		c.wait = nil
	}
}

// ponged: what was sent before the PING has been read.
func (c *Client) ponged(m ircmsg.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.wait; w != nil && len(m.Params) > 0 && m.Params[len(m.Params)-1] == w.token {
		close(w.done)
		c.wait = nil
	}
}

// refused: a numeric says that the message does not arrive. The PONG that follows is
// waited for, so that it is not taken for another's.
func (c *Client) refused(m ircmsg.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.wait
	if w == nil || len(m.Params) < 2 {
		return
	}
	if named := m.Params[1]; c.same(named, w.target) || len(m.Params) == 2 {
		w.err = fmt.Errorf("%w: the server says %q", channel.ErrRefused, m.Params[len(m.Params)-1])
	}
}

// split cuts a text into lines of at most most bytes, between words where it can.
func split(text string, most int) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t")
		for len(line) > most {
			at := strings.LastIndexByte(line[:most], ' ')
			if at < most/2 {
				for at = most; !utf8.RuneStart(line[at]); at-- {
				}
			}
			out = append(out, line[:at])
			line = strings.TrimLeft(line[at:], " ")
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}
