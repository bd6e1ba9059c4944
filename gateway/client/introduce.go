package client

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/pairing/compare"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Introduction is this machine asking a gateway that it does not know to let it
// in. Nothing of value was sent: the gateway is trusted when a person has seen
// that both screens show the same digits.
type Introduction struct {
	Code      string // the digits to show
	Pin       string // of the key that answered
	URL       string
	GatewayID string

	ws   *websocket.Conn
	once sync.Once
}

// Introduce asks. o needs URL, Client and Device.
func Introduce(ctx context.Context, o Options) (*Introduction, error) {
	if !strings.HasPrefix(o.URL, "wss://") {
		return nil, fmt.Errorf("%q: %w", o.URL, ErrPlaintext)
	}
	if o.Device == nil {
		return nil, errors.New("to ask to be let in, this machine needs a key")
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	addr := strings.TrimSuffix(o.URL, "/") + protocol.PairPath
	var state tls.ConnectionState
	ws, resp, err := websocket.Dial(ctx, addr, &websocket.DialOptions{HTTPClient: stranger(&o, &state)})
	if err != nil {
		return nil, dialError(ctx, o.URL, resp, err)
	}
	ws.SetReadLimit(compare.MaxMessage)
	in, err := greet(ctx, ws, &state, &o)
	if err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	return in, nil
}

// stranger connects to whoever answers: who that is, the digits will tell. What
// the connection is like is left in state.
func stranger(o *Options, state *tls.ConnectionState) *http.Client {
	dial := o.DialNet
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				raw, err := dial(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				c := tls.Client(raw, &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
					InsecureSkipVerify: true, SessionTicketsDisabled: true}) // the digits cover the key
				if err := c.HandshakeContext(ctx); err != nil {
					_ = raw.Close()
					return nil, err
				}
				*state = c.ConnectionState()
				return c, nil
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// greet is the exchange up to the digits.
func greet(ctx context.Context, ws *websocket.Conn, state *tls.ConnectionState, o *Options) (*Introduction, error) {
	pin, err := compare.GatewayPin(state)
	if err != nil {
		return nil, err
	}
	ch, err := compare.ChannelOf(state, pin)
	if err != nil {
		return nil, err
	}
	a, err := compare.NewAsker(rand.Reader, ch, o.Device.Key)
	if err != nil {
		return nil, err
	}
	c := o.Client
	if c.Platform == "" {
		c.Platform = runtime.GOOS
	}
	role := o.Role
	if role == "" {
		role = protocol.RoleOperator
	}
	if err := say(ctx, ws, a.Ask(c, role, o.Scopes)); err != nil {
		return nil, err
	}
	_, raw, err := ws.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("the gateway ended the conversation: %w", err)
	}
	var early compare.Result
	if json.Unmarshal(raw, &early) == nil && early.Type == "refused" {
		return nil, &RefusedError{early.Message}
	}
	reveal, code, err := a.Reveal(raw)
	if err != nil {
		return nil, err
	}
	if err := say(ctx, ws, reveal); err != nil {
		return nil, err
	}
	res, err := hear(ctx, ws)
	if err != nil {
		return nil, err
	}
	if res.Type != "compare" {
		return nil, &RefusedError{res.Message}
	}
	return &Introduction{Code: code, Pin: pin, URL: o.URL, GatewayID: res.GatewayID, ws: ws}, nil
}

// RefusedError: the gateway does not want to talk about pairing now.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// Wait waits for the decision on the gateway's side. Type is approved, rejected
// or how else it ended. An approval counts for nothing until the person here has
// said that the digits are the same.
func (i *Introduction) Wait(ctx context.Context) (compare.Result, error) { return hear(ctx, i.ws) }

// Close gives up, or ends what is over.
func (i *Introduction) Close() {
	i.once.Do(func() { _ = i.ws.Close(websocket.StatusNormalClosure, "") })
}

func say(ctx context.Context, ws *websocket.Conn, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, b)
}

func hear(ctx context.Context, ws *websocket.Conn) (r compare.Result, err error) {
	_, raw, err := ws.Read(ctx)
	if err != nil {
		return r, fmt.Errorf("the gateway ended the conversation: %w", err)
	}
	if json.Unmarshal(raw, &r) != nil {
		return r, compare.ErrBroken
	}
	return r, nil
}
