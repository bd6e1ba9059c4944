package client

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// push adds what came to the inbox, and waits while that is full: then the server
// keeps the rest.
func (c *Client) push(it item) error {
	c.mu.Lock()
	for len(c.inbox) >= mostWaiting {
		space := c.space
		c.mu.Unlock()
		select {
		case <-space:
		case <-it.link.broken:
			return it.link.cause()
		}
		c.mu.Lock()
	}
	c.inbox = append(c.inbox, it)
	c.mu.Unlock()
	select {
	case c.arrived <- struct{}{}:
	default:
	}
	return nil
}

// hand gives what came to inbox, each again until it was taken, and then tells the
// server.
func (c *Client) hand(ctx context.Context, inbox channel.Inbox) {
	pause := time.Duration(0)
	for {
		c.mu.Lock()
		var it item
		some := len(c.inbox) > 0
		if some {
			it = c.inbox[0]
		}
		c.mu.Unlock()
		if !some {
			select {
			case <-c.arrived:
			case <-ctx.Done():
				return
			}
			continue
		}
		err := error(nil)
		if it.in != nil {
			err = inbox(ctx, *it.in)
		}
		if err == nil && (it.id != "" || it.timed) {
			err = c.keep(ctx, it.archive, mark{ID: it.id, At: it.at})
		}
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			pause = min(max(2*pause, 50*time.Millisecond), 30*time.Second)
			c.log.Warn("a message was not taken; it is offered again", "err", err, "after", pause)
			if sleep.For(ctx, pause) != nil {
				return
			}
			continue
		}
		pause = 0
		c.took(it)
	}
}

// took forgets what was taken and acknowledges it.
func (c *Client) took(it item) {
	c.mu.Lock()
	c.inbox = c.inbox[1:]
	close(c.space)
	c.space = make(chan struct{})
	if it.in != nil {
		c.status.LastTake = c.now()
	}
	live := c.link == it.link
	c.mu.Unlock()
	if !live {
		return
	}
	if it.receipt != "" {
		_ = it.link.write(message{ID: newID(), To: it.receiver, Type: "chat", Receipt: &named{it.receipt}, Store: &empty{}})
	}
	_ = it.link.tell(false) // a connection that broke gives all again
}
