package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// read takes frames off the socket until the connection ends. It never waits
// for OnEvent, so that calls get their answers whatever a reader does.
func (c *Client) read() {
	defer close(c.events)
	defer func() { _ = c.conn.CloseNow() }()
	quiet := silence(c.hello.Policy.TickIntervalMs)
	for {
		b, err := c.readOne(quiet)
		if err != nil {
			c.lost(err)
			return
		}
		var f frame
		if json.Unmarshal(b, &f) != nil {
			c.log.Warn("the gateway sent a message that is not a frame", "bytes", len(b))
			continue
		}
		switch f.Type {
		case protocol.TypeResponse:
			c.answer(protocol.Response{Type: f.Type, ID: f.ID, OK: f.OK, Payload: f.Payload, Error: f.Error})
		case protocol.TypeEvent:
			e := protocol.Event{Type: f.Type, Event: f.Event, Payload: f.Payload, Seq: f.Seq, StateVersion: f.StateVersion}
			if !c.queue(e) {
				c.fail(ErrSlow)
				return
			}
		}
	}
}

// silence is how long a gateway may say nothing: two ticks.
func silence(tickMs int) time.Duration {
	if tickMs <= 0 {
		tickMs = protocol.TickIntervalMs
	}
	return 2 * time.Duration(tickMs) * time.Millisecond
}

func (c *Client) readOne(quiet time.Duration) ([]byte, error) {
	ctx, cancel := awake.WithTimeout(c.life, quiet)
	defer cancel()
	_, b, err := c.conn.Read(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, ErrSilent
	}
	return b, err
}

// queue reports false when the event does not fit any more.
func (c *Client) queue(e protocol.Event) bool {
	if c.onEvent == nil {
		return true
	}
	if c.queuedBytes.Add(int64(len(e.Payload))) > maxQueuedBytes {
		return false
	}
	select {
	case c.events <- e:
		return true
	default:
		return false
	}
}

// deliver hands events on in order. After a loss it delivers what had arrived;
// after Close or ErrSlow it drops the rest.
func (c *Client) deliver() {
	defer c.finish()
	for e := range c.events {
		c.queuedBytes.Add(-int64(len(e.Payload)))
		if err := c.Err(); err != nil && !errors.Is(err, ErrLost) {
			continue
		}
		c.onEvent(e)
	}
}
