package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/random"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Bounds of a connection.
const (
	connectTime  = 30 * time.Second
	maxFrame     = 32 << 20 // a server with all its channels and threads
	mostQueued   = 10_000   // events that wait while the history is read
	leastBeat    = 100 * time.Millisecond
	mostBeat     = 5 * time.Minute
	identifyPace = 5 * time.Second
	// spareSessions are never begun.
	spareSessions = 10
	settleTime    = 15 * time.Second // until the servers have told of themselves
)

// Operations of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// intents are what the bot wants to hear of: servers with their channels, messages in
// them, direct messages, and the words of messages (privileged).
const intents = 1<<0 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<15

// frame is one of the gateway's.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type string          `json:"t"`
}

// session is what a broken connection can go on with.
type session struct {
	id, url    string // "": there is none
	seq        int64
	identified time.Time // when one was asked for last
}

// socket is one connection.
type socket struct {
	conn   *websocket.Conn
	seq    atomic.Int64
	acked  atomic.Bool
	frames chan frame
	end    context.CancelCauseFunc
}

// live is one connection, from its beginning to its end. Its error says why it ended;
// it is one of package channel's when another would be no better.
func (c *Client) live(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	at, err := c.entrance(ctx)
	if err != nil {
		return err
	}
	s, beat, err := dial(ctx, at, c.http)
	if err != nil {
		return err
	}
	s.end = cancel
	defer func() { _ = s.conn.CloseNow() }() // no closing word: the session stays for a while
	s.seq.Store(c.session.seq)
	if err := c.introduce(ctx, s); err != nil {
		return err
	}
	reading, beating := make(chan struct{}), make(chan struct{})
	go func() { defer close(reading); s.read(ctx) }()
	go func() { defer close(beating); s.beat(ctx, beat) }()
	defer func() { cancel(nil); <-reading; <-beating }()
	err = c.listen(ctx, s)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return c.ended(err)
}

// entrance is the address of the connection: the session's, or a new one's.
func (c *Client) entrance(ctx context.Context) (string, error) {
	if c.session.id != "" {
		return c.session.url, nil
	}
	if _, err := c.login(ctx); err != nil {
		return "", err
	}
	var g struct {
		URL   string `json:"url"`
		Limit struct {
			Remaining  *int    `json:"remaining"`
			ResetAfter float64 `json:"reset_after"` // milliseconds
		} `json:"session_start_limit"`
	}
	if err := c.ask(ctx, call{method: http.MethodGet, path: "/gateway/bot"}, nil, &g); err != nil {
		return "", err
	}
	// Whoever begins more sessions than a day has gets another token.
	if l := g.Limit; l.Remaining != nil && *l.Remaining <= spareSessions {
		return "", &channel.RateLimit{After: time.Duration(min(l.ResetAfter, 24*60*60*1000)) * time.Millisecond}
	}
	if err := sleep.For(ctx, identifyPace-c.now().Sub(c.session.identified)); err != nil {
		return "", err
	}
	c.session = session{url: g.URL, identified: c.now()}
	return g.URL, nil
}

// dial opens the connection, and returns the pace of heartbeats.
func dial(ctx context.Context, at string, h *http.Client) (*socket, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "wss" && u.Scheme != "ws" {
		return nil, 0, errors.New("Discord named no address for the connection")
	}
	u.RawQuery = "v=10&encoding=json"
	conn, _, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: h, HTTPHeader: http.Header{"User-Agent": {userAgent}},
	})
	if err != nil {
		return nil, 0, fmt.Errorf("open the connection: %w", err)
	}
	conn.SetReadLimit(maxFrame)
	_, raw, err := conn.Read(ctx)
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if err == nil {
		f, ok := parseFrame(raw)
		if !ok || f.Op != opHello || json.Unmarshal(f.Data, &hello) != nil || hello.Interval <= 0 {
			err = errors.New("it did not say hello")
		}
	}
	if err != nil {
		_ = conn.CloseNow()
		return nil, 0, fmt.Errorf("open the connection: %w", err)
	}
	s := &socket{conn: conn, frames: make(chan frame, mostQueued)}
	s.acked.Store(true)
	return s, min(max(time.Duration(hello.Interval)*time.Millisecond, leastBeat), mostBeat), nil
}

func parseFrame(raw []byte) (f frame, ok bool) { return f, json.Unmarshal(raw, &f) == nil }

// introduce goes on with the session, or begins one.
func (c *Client) introduce(ctx context.Context, s *socket) error {
	if c.session.id != "" {
		return s.write(ctx, opResume, map[string]any{"token": c.token(), "session_id": c.session.id, "seq": c.session.seq})
	}
	return s.write(ctx, opIdentify, map[string]any{
		"token": c.token(), "intents": intents, "large_threshold": 50,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "hearth", "device": "hearth"},
	})
}

func (s *socket) write(ctx context.Context, op int, data any) error {
	b, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, b)
}

// read takes frames until the connection ends. Heartbeats are answered here, so that
// they wait for nobody.
func (s *socket) read(ctx context.Context) {
	defer close(s.frames)
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			s.end(err)
			return
		}
		f, ok := parseFrame(raw)
		switch {
		case !ok:
			continue
		case f.Op == opAck:
			s.acked.Store(true)
			continue
		case f.Op == opHeartbeat:
			_ = s.write(ctx, opHeartbeat, s.last())
			continue
		}
		if f.Seq != nil {
			s.seq.Store(*f.Seq)
		}
		select {
		case s.frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// last is the number of the last event, null before the first.
func (s *socket) last() any {
	if n := s.seq.Load(); n > 0 {
		return n
	}
	return nil
}

// beat sends heartbeats, and ends a connection that answers none.
func (s *socket) beat(ctx context.Context, pace time.Duration) {
	wait := time.Duration(random.Float() * float64(pace))
	for sleep.For(ctx, wait) == nil {
		if !s.acked.Swap(false) {
			s.end(errors.New("Discord answered no heartbeat"))
			return
		}
		if err := s.write(ctx, opHeartbeat, s.last()); err != nil {
			s.end(err)
			return
		}
		wait = pace
	}
}

// Ends of a connection that are no failures.
var (
	errReconnect = errors.New("Discord asks to connect again")
	errInvalid   = errors.New("Discord has ended the session")
)

// ended says what the end of a connection means for the session and for the next one.
func (c *Client) ended(err error) error {
	switch code := int(websocket.CloseStatus(err)); {
	case errors.Is(err, errInvalid), code == 4003, code == 4007, code == 4009, code == 1000, code == 1001:
		c.session = session{identified: c.session.identified}
	case code == 4004:
		return fmt.Errorf("%w: Discord does not know the token: make a new one at https://discord.com/developers/applications, Bot, "+
			"Reset Token, and set channels.discord.token", channel.ErrAuth)
	case code == 4014:
		return fmt.Errorf("%w: Discord does not let the bot read messages (it lacks the MESSAGE CONTENT INTENT, code 4014): switch on "+
			"“Message Content Intent” at https://discord.com/developers/applications, your application, Bot, Privileged Gateway Intents, and "+
			"restart Hearth", channel.ErrRefused)
	case code >= 4010 && code <= 4013:
		return fmt.Errorf("%w: Discord refuses the connection for ever (code %d, %s): a newer Hearth may be needed, or, at 4011, the bot is "+
			"in too many servers", channel.ErrRefused, code, cmp.Or(reason(err), "no reason"))
	}
	return err
}

func reason(err error) string {
	var e websocket.CloseError
	if errors.As(err, &e) {
		return strings.ToValidUTF8(e.Reason, "")
	}
	return ""
}
