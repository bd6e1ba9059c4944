package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Bounds of a socket.
const (
	connectTime = 30 * time.Second
	pingPace    = 30 * time.Second
	pongTime    = 20 * time.Second
	maxFrame    = 2 << 20 // a post has 64 KB, doubly written as text within text
)

// event is what comes by the socket.
type event struct {
	Event string `json:"event"`
	Data  struct {
		Post        string `json:"post"`     // a post, written as text
		Reaction    string `json:"reaction"` // likewise
		ChannelType string `json:"channel_type"`
		UserID      string `json:"user_id"`
	} `json:"data"`
	Broadcast struct {
		ChannelID string `json:"channel_id"`
		UserID    string `json:"user_id"`
	} `json:"broadcast"`
	Seq *int64 `json:"seq"`
}

// parseEvent reads a frame. ok is false for answers to requests and for what nobody
// can read.
func parseEvent(frame []byte) (ev event, ok bool) {
	return ev, json.Unmarshal(frame, &ev) == nil && ev.Event != ""
}

// live is one connection, from its beginning to its end. Its error says why it ended.
func (c *Client) live(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if _, err := c.login(ctx); err != nil {
		return err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	next, err := c.greeted(ctx, conn)
	if err != nil {
		return err
	}
	if err := c.catchUp(ctx); err != nil { // what comes meanwhile waits in the socket
		return err
	}
	c.note(channel.Receiving, "")
	pinging := make(chan struct{})
	go func() {
		defer close(pinging)
		ping(ctx, conn, cancel)
	}()
	defer func() { cancel(nil); <-pinging }()
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
				err = cause
			}
			return err
		}
		ev, ok := parseEvent(frame)
		if !ok {
			continue
		}
		if ev.Seq != nil && *ev.Seq != next {
			c.log.Info("events were left out on the way; the history is read", "expected", next, "came", *ev.Seq)
			if err := c.catchUp(ctx); err != nil {
				return err
			}
		}
		if ev.Seq != nil {
			next = *ev.Seq + 1
		}
		if err := c.happened(ctx, ev); err != nil {
			return err
		}
	}
}

// dial opens the socket.
func (c *Client) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, c.base+apiVersion+"/websocket", &websocket.DialOptions{
		HTTPClient: c.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.token()}},
	})
	if err == nil {
		conn.SetReadLimit(maxFrame)
		return conn, nil
	}
	if resp != nil && resp.StatusCode == http.StatusUnauthorized {
		return nil, &apiError{what: "the connection for events", status: resp.StatusCode, words: "Unauthorized", meaning: channel.ErrAuth}
	}
	if resp != nil {
		return nil, fmt.Errorf("the server answered the connection for events with %s; a proxy before it must let WebSockets through",
			resp.Status)
	}
	return nil, fmt.Errorf("open the connection for events: %w", err)
}

// greeted waits for the server's first word, and returns the number of the next event.
func (c *Client) greeted(ctx context.Context, conn *websocket.Conn) (next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return 0, fmt.Errorf("the server did not greet: %w", err)
		}
		if ev, ok := parseEvent(frame); ok && ev.Event == "hello" {
			if ev.Seq != nil {
				next = *ev.Seq + 1
			}
			return next, nil
		}
	}
}

// ping asks the server whether it lives, and ends the connection when it says nothing.
func ping(ctx context.Context, conn *websocket.Conn, end context.CancelCauseFunc) {
	tick := time.NewTicker(pingPace)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		ask, cancel := context.WithTimeout(ctx, pongTime)
		err := conn.Ping(ask)
		cancel()
		if err != nil && ctx.Err() == nil {
			end(fmt.Errorf("the server did not answer for %v", pongTime))
			return
		}
	}
}

// happened takes an event.
func (c *Client) happened(ctx context.Context, ev event) error {
	switch ev.Event {
	case "posted", "post_edited":
		var p post
		if json.Unmarshal([]byte(ev.Data.Post), &p) != nil {
			c.log.Warn("an event with a post that cannot be read is left out")
			return nil
		}
		return c.came(ctx, p, ev.Event == "post_edited")
	case "reaction_added", "reaction_removed":
		var r put
		if json.Unmarshal([]byte(ev.Data.Reaction), &r) != nil {
			return nil
		}
		return c.reacted(ctx, r, ev.Event == "reaction_removed")
	case "channel_updated", "channel_converted", "channel_deleted", "channel_restored", "user_removed", "user_added":
		c.known.forget(ev.Broadcast.ChannelID)
	case "user_updated":
		c.known.forgetPeople()
	}
	return nil
}
