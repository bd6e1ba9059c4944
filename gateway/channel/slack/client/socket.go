package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Bounds of a socket.
const (
	connectTime = 30 * time.Second
	pingPace    = 30 * time.Second
	pongTime    = 20 * time.Second
	maxFrame    = 4 << 20
)

// frame is what comes by the socket.
type frame struct {
	Type     string `json:"type"` // hello, disconnect, events_api, interactive, slash_commands and others
	Envelope string `json:"envelope_id"`
	Reason   string `json:"reason"` // of a disconnect
	Payload  struct {
		used
		Event event `json:"event"`
	} `json:"payload"`
}

func parseFrame(raw []byte) (f frame, ok bool) {
	return f, json.Unmarshal(raw, &f) == nil && f.Type != ""
}

// envelope is an event that waits to be acknowledged, on its own connection.
type envelope struct {
	id string
	s  *socket
}

// socket is one connection.
type socket struct {
	conn *websocket.Conn
	life context.Context // of the connection
	mu   sync.Mutex      // of writing
}

// ack tells Slack that an event was taken. One that gets lost is told of again.
func (s *socket) ack(id string) {
	if id == "" {
		return
	}
	b, err := json.Marshal(map[string]string{"envelope_id": id})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.life, connectTime)
	defer cancel()
	_ = s.conn.Write(ctx, websocket.MessageText, b)
}

// errRefresh: Slack moves the connection. What it could not deliver meanwhile it tells
// of again.
var errRefresh = errors.New("Slack moves the connection")

// live is one connection, from its beginning to its end. Its error says why it ended.
func (c *Client) live(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if _, err := c.login(ctx); err != nil {
		return err
	}
	s, err := c.dial(ctx)
	if err != nil {
		return err
	}
	s.life = ctx
	defer func() { _ = s.conn.CloseNow() }()
	if !c.refresh {
		if err := c.catchUp(ctx); err != nil { // what comes meanwhile waits in the socket
			return err
		}
	}
	c.note(channel.Receiving, "")
	pinging := make(chan struct{})
	go func() {
		defer close(pinging)
		ping(ctx, s.conn, cancel)
	}()
	defer func() { cancel(nil); <-pinging }()
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
				err = cause
			}
			return err
		}
		f, ok := parseFrame(raw)
		if !ok {
			continue
		}
		if f.Type == "disconnect" {
			if f.Reason == "link_disabled" {
				return fmt.Errorf("%w: Socket Mode was switched off: switch it on at https://api.slack.com/apps, your app, Socket Mode, and restart "+
					"Hearth", channel.ErrRefused)
			}
			return errRefresh
		}
		if err := c.framed(ctx, f, envelope{f.Envelope, s}); err != nil {
			return err
		}
	}
}

// framed takes what came by the socket.
func (c *Client) framed(ctx context.Context, f frame, env envelope) error {
	switch f.Type {
	case "events_api":
		return c.happened(ctx, f.Payload.Event, env)
	case "interactive":
		return c.pressed(ctx, f.Payload.used, env)
	case "slash_commands":
		return c.commanded(ctx, f.Payload.used, env)
	}
	env.s.ack(env.id) // nobody here waits for it
	return nil
}

// dial opens a socket and waits for its first word.
func (c *Client) dial(ctx context.Context) (*socket, error) {
	var at struct {
		URL string `json:"url"`
	}
	if _, err := c.ask(ctx, call{method: "apps.connections.open", app: true}, nil, &at); err != nil {
		return nil, err
	}
	u, err := url.Parse(at.URL)
	if err != nil || u.Scheme != "wss" && u.Scheme != "ws" {
		return nil, errors.New("Slack named no address for the connection")
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		return nil, errors.New("the connection for events could not be opened") // its address is a secret
	}
	conn.SetReadLimit(maxFrame)
	_, raw, err := conn.Read(ctx)
	if f, ok := parseFrame(raw); err != nil || !ok || f.Type != "hello" {
		_ = conn.CloseNow()
		return nil, errors.New("Slack did not say hello")
	}
	return &socket{conn: conn}, nil
}

// ping asks Slack whether it lives, and ends the connection when it says nothing.
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
			end(fmt.Errorf("Slack did not answer for %v", pongTime))
			return
		}
	}
}
