package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func TestHandshakeAndCall(t *testing.T) {
	f := newFake(t, echo)
	f.hello.Server.Version = "9.9"
	c := dial(t, options(f))
	if got := c.Hello().Server.Version; got != "9.9" {
		t.Errorf("hello version = %q", got)
	}
	want := protocol.ConnectParams{MinProtocol: 4, MaxProtocol: 4, Role: protocol.RoleOperator,
		Client: options(f).Client, Scopes: options(f).Scopes, Auth: &protocol.Auth{Token: "secret-token"}}
	if d := cmp.Diff(want, f.connectParams(0)); d != "" {
		t.Errorf("connect (-want +got):\n%s", d)
	}
	var wg sync.WaitGroup
	for i := range 50 { // answers find their own call
		wg.Go(func() {
			var got map[string]int
			if err := c.Call(t.Context(), "echo", map[string]int{"n": i}, &got); err != nil || got["n"] != i {
				t.Errorf("call %d = %v, %v", i, got, err)
			}
		})
	}
	wg.Wait()
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("call after Close = %v, want ErrClosed", err)
	}
	<-c.Done()
}

func TestRefusals(t *testing.T) {
	f := newFake(t, func(p *peer) {
		for {
			r, ok := p.next()
			if !ok {
				return
			}
			p.send(protocol.Response{Type: protocol.TypeResponse, ID: r.ID, Error: protocol.MissingScope(protocol.ScopeAdmin)})
		}
	})
	c := dial(t, options(f))
	var pe *protocol.Error
	if err := c.Call(t.Context(), "config.set", nil, nil); !errors.As(err, &pe) || pe.Code != protocol.CodeForbidden {
		t.Errorf("call = %v, want FORBIDDEN", err)
	}
	if c.Err() != nil {
		t.Errorf("a refused call must not end the connection: %v", c.Err())
	}

	f.refuse = protocol.Invalid("unauthorized: gateway token mismatch").With("code", "AUTH_TOKEN_MISMATCH")
	_, err := Dial(t.Context(), options(f))
	if !errors.As(err, &pe) || pe.Details["code"] != "AUTH_TOKEN_MISMATCH" {
		t.Errorf("Dial = %v, want the gateway's refusal", err)
	}
	if strings.Contains(fmt.Sprint(err), "secret-token") {
		t.Errorf("the token leaked into %v", err)
	}
}

func TestCallTwice(t *testing.T) {
	f := newFake(t, func(p *peer) {
		r, _ := p.next()
		p.answer(r, protocol.AgentAccepted{RunID: "r1", Status: "accepted"})
		p.answer(r, protocol.AgentResult{RunID: "r1", Status: "ok", Summary: "done"})
		r, _ = p.next()
		p.answer(r, protocol.AgentResult{RunID: "r2", Status: "ok", Summary: "cached"})
		echo(p)
	})
	c := dial(t, options(f))
	for _, want := range []string{"done", "cached"} {
		var first protocol.AgentAccepted
		var final protocol.AgentResult
		if err := c.CallTwice(t.Context(), protocol.MethodAgent, nil, &first, &final); err != nil {
			t.Fatal(err)
		}
		if final.Summary != want || first.RunID != final.RunID {
			t.Errorf("first %+v, final %+v, want summary %q", first, final, want)
		}
	}
}

func TestEventsArriveInOrderAndBeforeDone(t *testing.T) {
	const n = 1000
	f := newFake(t, func(p *peer) {
		for i := range n {
			p.event(protocol.EventTick, i)
		}
		_ = p.conn.Close(websocket.StatusServiceRestart, "service restart")
	})
	var got []string
	o := options(f)
	o.OnEvent = func(e protocol.Event) { got = append(got, string(e.Payload)) }
	c := dial(t, o)
	<-c.Done()
	if err := c.Err(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "service restart") {
		t.Errorf("Err = %v, want ErrLost with the gateway's reason", err)
	}
	if len(got) != n {
		t.Fatalf("%d events, want %d", len(got), n)
	}
	for i, s := range got {
		if s != fmt.Sprint(i) {
			t.Fatalf("event %d is %s", i, s)
		}
	}
}

// A reader that hangs must not keep calls from their answers, and events that
// pile up end the connection with a reason instead of eating the memory.
func TestFault_F_WS_01_SlowReader(t *testing.T) {
	flood := make(chan struct{})
	f := newFake(t, func(p *peer) {
		p.event(protocol.EventTick, 0)
		r, _ := p.next()
		p.answer(r, "pong")
		<-flood
		for i := 0; p.event(protocol.EventTick, i); i++ {
		}
	})
	hang, entered := make(chan struct{}), make(chan struct{}, 1)
	o := options(f)
	o.OnEvent = func(protocol.Event) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-hang
	}
	c := dial(t, o)
	<-entered
	var got string
	if err := c.Call(t.Context(), "ping", nil, &got); err != nil || got != "pong" {
		t.Errorf("call while OnEvent hangs = %q, %v", got, err)
	}
	close(flood)
	<-c.Done() // although OnEvent still hangs
	if err := c.Err(); !errors.Is(err, ErrSlow) {
		t.Errorf("Err = %v, want ErrSlow", err)
	}
	close(hang)
}

func TestWatchdog(t *testing.T) {
	f := newFake(t, func(p *peer) { <-p.ctx.Done() })
	f.hello.Policy.TickIntervalMs = 20
	c := dial(t, options(f))
	err := c.Call(t.Context(), "health", nil, nil)
	if !errors.Is(err, ErrSilent) || !errors.Is(err, ErrLost) {
		t.Errorf("call to a gateway that hangs = %v, want ErrSilent", err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	f := newFake(t, func(p *peer) {
		_, _ = p.next() // never answered
		echo(p)
	})
	c := dial(t, options(f))
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(nil) })
	if err := c.Call(ctx, "slow", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("call = %v, want Canceled", err)
	}
	var got int
	if err := c.Call(t.Context(), "echo", 7, &got); err != nil || got != 7 {
		t.Errorf("the connection must live on: %d, %v", got, err)
	}
}

func TestCloseOfHungGatewayIsQuick(t *testing.T) {
	f := newFake(t, func(p *peer) { <-p.ctx.Done() })
	c := dial(t, options(f))
	start := time.Now()
	_ = c.Close()
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("Close took %v", d)
	}
}

// Plaintext leaves this machine for nobody, and the refusal comes before any
// name is looked up: none of these addresses is ever dialled.
func TestSec_A_NET_17_NoPlaintextOffLoopback(t *testing.T) {
	o := Options{Token: "secret-token", DialNet: func(_ context.Context, _, addr string) (net.Conn, error) {
		t.Errorf("dialled %s", addr)
		return nil, errors.New("dialled")
	}}
	for _, url := range []string{
		"ws://192.168.1.7:18789", "http://10.0.0.2:18789", "ws://hearth.local:18789", "ws://box.tail1234.ts.net",
		"ws://0.0.0.0:18789", "ws://[fe80::1]:18789", "ws://localhost.evil.example", "ws://127.0.0.1.nip.io",
		"ws://127.1", "ws://0x7f000001", "ws://2130706433", "ws://[::ffff:10.0.0.1]:1", "WS://EXAMPLE.COM",
	} {
		o.URL = url
		if _, err := Dial(t.Context(), o); !errors.Is(err, ErrPlaintext) {
			t.Errorf("%s: %v, want ErrPlaintext", url, err)
		}
	}
	for _, url := range []string{"", "127.0.0.1:18789", "ftp://127.0.0.1", "ws://", "ws://user:pw@127.0.0.1:1", "ws://%zz"} {
		o.URL = url
		if _, err := Dial(t.Context(), o); err == nil {
			t.Errorf("%q was accepted", url)
		}
	}
}

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:18789":     "ws://127.0.0.1:18789",
		"ws://localhost:18789/":      "ws://127.0.0.1:18789/",
		"ws://LOCALHOST":             "ws://127.0.0.1",
		"http://[::1]:1":             "ws://[::1]:1",
		"ws://[::1]":                 "ws://[::1]",
		"ws://127.3.2.1:1/#launch=x": "ws://127.3.2.1:1/",
		"https://example.com":        "wss://example.com",
		" wss://10.0.0.1:1 ":         "wss://10.0.0.1:1",
	} {
		if got, err := address(in); err != nil || got != want {
			t.Errorf("address(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	f := newFake(t, echo)
	s := httptest.NewServer(http.RedirectHandler(f.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	o := options(f)
	o.URL = s.URL
	if _, err := Dial(t.Context(), o); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("Dial = %v, want a refusal of the redirect", err)
	}
}

func TestNotAGateway(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := Dial(t.Context(), Options{URL: s.URL}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("Dial = %v", err)
	}
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			_ = c.Write(r.Context(), websocket.MessageText, []byte("hello?"))
			_ = c.CloseNow()
		}
	}))
	defer garbage.Close()
	if _, err := Dial(t.Context(), Options{URL: garbage.URL}); err == nil {
		t.Error("Dial accepted a server that does not speak the protocol")
	}
}

func TestOpen(t *testing.T) {
	dir := statedir.Dir(t.TempDir())
	_, err := Open(t.Context(), dir, Options{})
	var nr *NotRunningError
	if !errors.As(err, &nr) || nr.Stale || !errors.Is(err, statedir.ErrNotRunning) {
		t.Errorf("no runtime file: %v", err)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	_ = l.Close()
	write := func(url string) {
		t.Helper()
		if err := dir.WriteRuntime(statedir.Runtime{URL: url, PID: 1}); err != nil {
			t.Fatal(err)
		}
	}
	write(url)
	if _, err = Open(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "token file") {
		t.Errorf("no token file: %v", err)
	}
	if err := os.WriteFile(dir.Token(), []byte("secret-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), dir, Options{}); !errors.As(err, &nr) || !nr.Stale || !strings.Contains(err.Error(), "hearth gateway") {
		t.Errorf("stale runtime file: %v", err)
	}

	f := newFake(t, echo)
	write(f.URL)
	c, err := Open(t.Context(), dir, options(f))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if got := f.connectParams(0).Auth.Token; got != "secret-token" {
		t.Errorf("token = %q", got)
	}
}

func TestIdentitySignsAsTheProtocolSays(t *testing.T) {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	id := &Identity{Key: ed25519.NewKeyFromSeed(seed)}
	p := &protocol.ConnectParams{
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Platform: " Linux "}, Role: protocol.RoleOperator,
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite}, Auth: &protocol.Auth{Token: "test-token"},
	}
	got := id.sign(p, protocol.Challenge{Nonce: "11111111-2222-4333-8444-555555555555", TS: 1795215472398})
	want := &protocol.DeviceAuth{
		ID:        "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c",
		PublicKey: "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
		Signature: "yr_4b_rnJMJ92ZhcwoRBAWZXAO9-VOIiqH8Vja8h62QR7Yb1CYeSE5sR9TorbfwO30qXDdptyWdu0Lqli9fCDw",
		SignedAt:  1795215472398, Nonce: "11111111-2222-4333-8444-555555555555",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("signature (-want +got):\n%s", d)
	}
}
