package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// beginning is a new session whose servers have not all told of themselves. What is
// written meanwhile waits until the history was read.
type beginning struct {
	waits   map[string]bool // the servers
	held    []message
	settled <-chan time.Time
}

// listen takes what comes until the connection ends.
func (c *Client) listen(ctx context.Context, s *socket) error {
	var b *beginning
	defer func() {
		if b != nil { // what was held is read from the history of the next session
			c.session = session{identified: c.session.identified}
		}
	}()
	for {
		var late <-chan time.Time
		if b != nil {
			late = b.settled
		}
		select {
		case <-late:
			if err := c.begun(ctx, b); err != nil {
				return err
			}
			b = nil
		case f, open := <-s.frames:
			if !open {
				return errors.New("it broke")
			}
			next, err := c.frame(ctx, f, b)
			if err != nil {
				return err
			}
			b = next
			if f.Seq != nil {
				c.session.seq = *f.Seq // only now: what was not taken is told again
			}
			if b != nil && len(b.waits) == 0 {
				if err := c.begun(ctx, b); err != nil {
					return err
				}
				b = nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// frame takes one of the gateway's.
func (c *Client) frame(ctx context.Context, f frame, b *beginning) (*beginning, error) {
	switch f.Op {
	case opReconnect:
		return b, errReconnect
	case opInvalid:
		var again bool
		if json.Unmarshal(f.Data, &again) == nil && again {
			return b, errReconnect
		}
		return b, errInvalid
	case opDispatch:
		return c.event(ctx, f, b)
	}
	return b, nil
}

// event takes something that happened. What cannot be read is left out.
func (c *Client) event(ctx context.Context, f frame, b *beginning) (*beginning, error) {
	switch f.Type {
	case "READY":
		return c.ready(f.Data)
	case "RESUMED":
		c.note(channel.Receiving, "")
	case "GUILD_CREATE":
		var g guild
		if json.Unmarshal(f.Data, &g) == nil {
			c.known.server(g)
			if b != nil {
				delete(b.waits, g.ID)
			}
		}
	case "GUILD_DELETE":
		var g guild
		if json.Unmarshal(f.Data, &g) == nil && b != nil {
			delete(b.waits, g.ID)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var p place
		if json.Unmarshal(f.Data, &p) == nil {
			c.known.place(p)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var p place
		if json.Unmarshal(f.Data, &p) == nil {
			c.known.forget(p.ID)
		}
	case "INTERACTION_CREATE":
		var i interaction
		if json.Unmarshal(f.Data, &i) == nil {
			return b, c.interacted(ctx, i)
		}
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		var r reaction
		if json.Unmarshal(f.Data, &r) == nil {
			return b, c.reacted(ctx, r, f.Type == "MESSAGE_REACTION_REMOVE")
		}
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		var m message
		if json.Unmarshal(f.Data, &m) != nil {
			c.log.Warn("a message that cannot be read is left out")
			return b, nil
		}
		m.change = f.Type == "MESSAGE_UPDATE"
		if b != nil {
			b.held = append(b.held, m)
			return b, nil
		}
		return b, c.came(ctx, m)
	}
	return b, nil
}

// ready begins a session.
func (c *Client) ready(data json.RawMessage) (*beginning, error) {
	var r struct {
		User      user    `json:"user"`
		SessionID string  `json:"session_id"`
		URL       string  `json:"resume_gateway_url"`
		Guilds    []guild `json:"guilds"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.SessionID == "" {
		return nil, errors.New("Discord began a session that cannot be read")
	}
	c.session.id = r.SessionID
	if r.URL != "" {
		c.session.url = r.URL
	}
	b := &beginning{waits: map[string]bool{}, settled: time.After(settleTime)}
	for _, g := range r.Guilds {
		b.waits[g.ID] = true
	}
	return b, nil
}

// begun reads what was missed, then what came meanwhile.
func (c *Client) begun(ctx context.Context, b *beginning) error {
	if err := c.catchUp(ctx); err != nil {
		c.session = session{identified: c.session.identified} // it is read at the next beginning
		return err
	}
	for _, m := range b.held {
		if err := c.came(ctx, m); err != nil {
			return err
		}
	}
	c.note(channel.Receiving, "")
	return nil
}
