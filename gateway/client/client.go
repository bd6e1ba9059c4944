package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Options says whom to call and what to present. URL and Client.ID are needed.
type Options struct {
	URL    string // ws, wss, http or https; plaintext only to this machine
	Token  string // the shared gateway token
	Auth   *protocol.Auth
	Client protocol.ClientInfo
	Role   protocol.Role // default operator
	Scopes []protocol.Scope
	Caps   []string
	Device *Identity // proves this device, optional

	// Of a node: the commands that it takes, what its owner lets it do, and where
	// its programs are.
	Commands    []string
	Permissions map[string]bool
	PathEnv     string

	// OnEvent gets every event in order, one at a time, on a goroutine of the
	// client. It may make calls but must not Close. nil drops events.
	OnEvent func(protocol.Event)
	Logger  *slog.Logger // default: silent
	TLS     *tls.Config  // for wss, e.g. with a pinned certificate
	// PerAddress is how long DialPinned tries one address, 4 s by default.
	PerAddress time.Duration
	// DialNet replaces how the network is reached. Optional.
	DialNet func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Events wait for OnEvent up to these limits, then the client gives up: a
// reader that slow must start over from the history anyway.
const (
	maxQueuedEvents = 4096
	maxQueuedBytes  = 64 << 20

	handshakeTimeout = 15 * time.Second
	writeTimeout     = 30 * time.Second
	goodbyeTimeout   = time.Second
)

// Client is one connection. It ends once, by Close or by losing the gateway,
// and is not usable afterwards. All methods may be called at the same time.
type Client struct {
	conn  *websocket.Conn
	raw   net.Conn // what conn runs on
	hello protocol.HelloOK
	log   *slog.Logger

	// Calls in flight, and why the connection ended. mu guards the three.
	mu      sync.Mutex
	pending map[string]chan protocol.Response
	err     error

	nextID atomic.Int64
	life   context.Context // ends with the connection
	end    context.CancelFunc

	onEvent     func(protocol.Event)
	events      chan protocol.Event
	queuedBytes atomic.Int64

	done     chan struct{}
	doneOnce sync.Once
	wg       sync.WaitGroup
}

// Dial connects and shakes hands; ctx bounds only that. A refusal by the
// gateway is a *protocol.Error.
func Dial(ctx context.Context, o Options) (*Client, error) {
	addr, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var raw net.Conn
	dctx, cancel := awake.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(dctx, addr, &websocket.DialOptions{HTTPClient: direct(&o, &raw)})
	if err != nil {
		return nil, dialError(ctx, addr, resp, err)
	}
	conn.SetReadLimit(protocol.MaxPayload + 1)
	hello, err := handshake(dctx, conn, &o)
	if err != nil {
		_ = conn.CloseNow()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	c := &Client{
		conn: conn, raw: raw, hello: hello, log: log,
		pending: map[string]chan protocol.Response{},
		onEvent: o.OnEvent,
		events:  make(chan protocol.Event, maxQueuedEvents),
		done:    make(chan struct{}),
	}
	// The connection outlives the call that made it; Close ends it.
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.wg.Go(c.read)
	c.wg.Go(c.deliver)
	return c, nil
}

// direct goes straight to the address: no proxy sees the token, and no redirect
// carries it elsewhere. The connection it makes is left in raw.
func direct(o *Options, raw *net.Conn) *http.Client {
	dial := o.DialNet
	switch {
	case dial != nil:
	case o.TLS != nil:
		dial = outward().DialContext
	default:
		dial = new(net.Dialer).DialContext
	}
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   o.TLS,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := dial(ctx, network, addr)
				*raw = c
				return c, err
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func dialError(ctx context.Context, addr string, resp *http.Response, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case resp != nil:
		return fmt.Errorf("%s answered HTTP %s instead of a connection; is another program using that port?", addr, strconv.Itoa(resp.StatusCode))
	}
	return fmt.Errorf("%w at %s: %w", ErrUnreachable, addr, err)
}

// Hello is what the gateway said at the start.
func (c *Client) Hello() protocol.HelloOK { return c.hello }

// Done is closed when the connection has ended and every event that came
// before was delivered; after ErrSlow and Close it does not wait for events.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the connection ended, nil while it lives.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and waits until nothing of it runs any more.
func (c *Client) Close() error {
	if c.fail(ErrClosed) {
		// A gateway that hangs does not get to hold its client up.
		t := time.AfterFunc(goodbyeTimeout, func() { _ = c.raw.Close() })
		_ = c.conn.Close(websocket.StatusNormalClosure, "")
		t.Stop()
		c.end()
	}
	c.wg.Wait()
	return nil
}

// fail records the first reason why the connection ended and lets the calls in
// flight fail with it. It reports whether this was the first.
func (c *Client) fail(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	c.err = err
	for id, ch := range c.pending {
		close(ch)
		delete(c.pending, id)
	}
	if !errors.Is(err, ErrLost) {
		c.finish() // nobody needs the events that are still queued
	}
	return true
}

func (c *Client) finish() { c.doneOnce.Do(func() { close(c.done) }) }

// decode reads a payload into v; nil v ignores it.
func decode(method string, payload json.RawMessage, v any) error {
	if v == nil || len(payload) == 0 {
		return nil
	}
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("the gateway's answer to %s is not understood, its version may differ from this program's: %w", method, err)
	}
	return nil
}
