package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a gateway of a few lines: each test says how a connection goes on
// after the handshake.
type fake struct {
	*httptest.Server
	t      *testing.T
	hello  protocol.HelloOK
	refuse *protocol.Error
	serve  func(*peer)

	mu       sync.Mutex
	connects []protocol.ConnectParams
	conns    sync.WaitGroup
}

// peer is the gateway's end of one connection.
type peer struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
	n    int // how many connections there were before
}

func newFake(t *testing.T, serve func(*peer)) *fake {
	f := &fake{t: t, serve: serve, hello: protocol.HelloOK{Type: "hello-ok", Protocol: protocol.Version,
		Policy: protocol.HelloPolicy{TickIntervalMs: protocol.TickIntervalMs}}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.handle))
	t.Cleanup(func() { f.Close(); f.conns.Wait() })
	return f
}

func (f *fake) handle(w http.ResponseWriter, r *http.Request) {
	f.conns.Add(1)
	defer f.conns.Done()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	p := &peer{t: f.t, ctx: f.t.Context(), conn: conn} // ends before the cleanups
	p.event(protocol.EventConnectChallenge, protocol.Challenge{Nonce: "nonce-1", TS: 1795215472398})
	req, ok := p.next()
	if !ok {
		return
	}
	var cp protocol.ConnectParams
	if err := json.Unmarshal(req.Params, &cp); err != nil {
		f.t.Errorf("connect: %v", err)
	}
	f.mu.Lock()
	p.n = len(f.connects)
	f.connects = append(f.connects, cp)
	f.mu.Unlock()
	if f.refuse != nil {
		p.send(protocol.Response{Type: protocol.TypeResponse, ID: req.ID, Error: f.refuse})
		_ = conn.Close(websocket.StatusPolicyViolation, f.refuse.Message)
		return
	}
	p.answer(req, f.hello)
	f.serve(p)
}

func (f *fake) connectParams(i int) protocol.ConnectParams {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.connects[i]
}

func (p *peer) send(v any) bool {
	b, err := json.Marshal(v)
	if err != nil {
		p.t.Errorf("marshal: %v", err)
	}
	return p.conn.Write(p.ctx, websocket.MessageText, b) == nil
}

func (p *peer) event(name string, payload any) bool {
	b, _ := json.Marshal(payload)
	return p.send(protocol.Event{Type: protocol.TypeEvent, Event: name, Payload: b})
}

func (p *peer) answer(req protocol.Request, payload any) bool {
	b, _ := json.Marshal(payload)
	return p.send(protocol.Response{Type: protocol.TypeResponse, ID: req.ID, OK: true, Payload: b})
}

func (p *peer) next() (r protocol.Request, ok bool) {
	_, b, err := p.conn.Read(p.ctx)
	if err != nil {
		return r, false
	}
	return r, json.Unmarshal(b, &r) == nil
}

// echo answers every request with its own parameters.
func echo(p *peer) {
	for {
		r, ok := p.next()
		if !ok {
			return
		}
		p.answer(r, r.Params)
	}
}

func options(f *fake) Options {
	return Options{
		URL: strings.Replace(f.URL, "http", "ws", 1), Token: "secret-token",
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"},
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite},
	}
}

func dial(t *testing.T, o Options) *Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := Dial(ctx, o)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
