package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/protocol/devicetest"
)

// No method runs before hello, and every method has its row.
func TestSec_A_NET_01_NothingBeforeHello(t *testing.T) {
	var entered atomic.Int32
	g := start(t, func(o *Options) {
		for name := range o.Handlers {
			o.Handlers[name] = func(context.Context, *Caller, json.RawMessage) (any, error) {
				entered.Add(1)
				return nil, nil
			}
		}
	})
	for _, m := range protocol.Methods() {
		c := g.dial(t, nil)
		c.send(requestText("1", m.Name, nil))
		if f := c.answer("1"); f.OK || f.Error.Message != "invalid handshake: first request must be connect" {
			t.Errorf("%s: %+v", m.Name, f)
		}
		if ce := c.closed(); ce.Code != 1008 {
			t.Errorf("%s: closed with %d", m.Name, ce.Code)
		}
	}
	if n := entered.Load(); n != 0 {
		t.Errorf("%d handlers were entered", n)
	}
}

func TestSec_A_NET_01_EveryHandlerHasARow(t *testing.T) {
	registry, snap := newRegistry(t, pairingOptions()), func(context.Context) protocol.Snapshot { return protocol.Snapshot{} }
	extra := stubHandlers(map[string]Handler{"no.row": func(context.Context, *Caller, json.RawMessage) (any, error) { return nil, nil }})
	missing := stubHandlers(nil)
	delete(missing, protocol.MethodHealth)
	for name, handlers := range map[string]map[string]Handler{"no.row": extra, "health": missing} {
		if _, err := New(Options{Handlers: handlers, Auth: registry, Snapshot: snap}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every method asks for its scope, and only for that.
func TestScopeMatrix(t *testing.T) {
	g := start(t, nil)
	for _, have := range []protocol.Scope{protocol.ScopeNone, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin,
		protocol.ScopePairing} {
		var scopes []protocol.Scope
		if have != protocol.ScopeNone {
			scopes = append(scopes, have)
		}
		c := g.connected(t, asCLI(scopes...))
		for _, m := range protocol.Methods() {
			f := c.call(m.Name, nil)
			if m.Role == protocol.RoleNode {
				if f.OK || !strings.Contains(f.Error.Message, "unauthorized role") {
					t.Errorf("%s, which is for nodes, with %q: %+v", m.Name, have, f)
				}
				continue
			}
			if want := protocol.Allows(scopes, m.Scope); f.OK != want || !want && code(f) != "MISSING_SCOPE" {
				t.Errorf("%s with %q: %+v", m.Name, have, f)
			}
		}
	}
}

func TestSec_A_NET_09_NobodyDeclaresTheirOwnScopes(t *testing.T) {
	g := start(t, nil)
	key := newKey(t)
	token := g.dial(t, nil).hello(asCLI(protocol.ScopeRead).device(key)).Auth.DeviceToken
	ask := func(scopes ...protocol.Scope) *connecting {
		return asCLI(scopes...).device(key).auth(&protocol.Auth{DeviceToken: token})
	}
	if f := g.dial(t, nil).connect(ask(protocol.ScopeRead, protocol.ScopeAdmin)); code(f) != "AUTH_SCOPE_MISMATCH" {
		t.Errorf("a read-only token got %s", code(f))
	}
	c := g.connected(t, ask(protocol.ScopeRead))
	if f := c.call(protocol.MethodConfigPatch, nil); f.Error == nil || f.Error.Code != protocol.CodeForbidden {
		t.Errorf("%+v", f)
	}
	// Not by the client's name, either.
	for _, id := range []string{"openclaw-macos", "hearth-window", "gateway"} {
		p := asCLI(protocol.ScopeAdmin)
		p.Client.ID = id
		if h := g.dial(t, nil).hello(p); len(h.Auth.Scopes) != 0 {
			t.Errorf("%s got %v", id, h.Auth.Scopes)
		}
	}
}

func TestSec_A_NET_11_ReplayedConnect(t *testing.T) {
	g := start(t, nil)
	key := newKey(t)
	p := asCLI(protocol.ScopeRead).device(key)
	first := g.dial(t, nil)
	params := p.ConnectParams
	devicetest.Sign(key, &params, first.nonce, first.ts)
	captured := requestText("1", protocol.MethodConnect, params)
	first.send(captured)
	if f := first.answer("1"); !f.OK {
		t.Fatalf("%+v", f)
	}
	for name, other := range map[string]*gateway{"the same gateway": g, "another gateway": start(t, nil)} {
		c := other.dial(t, nil)
		c.send(captured)
		if f := c.answer("1"); code(f) != "DEVICE_AUTH_NONCE_MISMATCH" {
			t.Errorf("%s: %s", name, code(f))
		}
	}
}

// A broken handler answers an error, and everything else goes on.
func TestFault_F_CRASH_21_PanicInAHandler(t *testing.T) {
	var logged lockedBuffer
	g := start(t, func(o *Options) {
		o.Logger = logged.logger()
		for name := range o.Handlers {
			if name != protocol.MethodHealth {
				o.Handlers[name] = func(context.Context, *Caller, json.RawMessage) (any, error) { panic("broken " + name) }
			}
		}
		o.Handlers[protocol.MethodAgent] = func(context.Context, *Caller, json.RawMessage) (any, error) {
			return Later{First: "accepted", Final: func(context.Context) (any, error) { panic("broken late") }}, nil
		}
	})
	other := g.connected(t, asCLI())
	c := g.connected(t, asCLI(protocol.ScopeAdmin))
	for _, m := range protocol.Methods() {
		if m.Name == protocol.MethodHealth || m.Role == protocol.RoleNode {
			continue
		}
		f := c.call(m.Name, map[string]string{"key": "s"})
		if m.Name == protocol.MethodAgent {
			if string(f.Payload) != `"accepted"` {
				t.Errorf("first answer: %+v", f)
			}
			f = c.answer(f.ID)
		}
		if f.OK || f.Error.Code != protocol.CodeUnavailable || strings.Contains(f.Error.Message, "broken") {
			t.Errorf("%s: %+v", m.Name, f)
		}
	}
	if f := other.call("health", nil); !f.OK {
		t.Errorf("another client: %+v", f)
	}
	if resp := g.ask(t, "GET", "/healthz", "own"); resp.StatusCode != 200 {
		t.Errorf("/healthz: %d", resp.StatusCode)
	}
	if !strings.Contains(logged.String(), "broken config.get") || !strings.Contains(logged.String(), "stack=") {
		t.Error("the panic is not in the log")
	}
}

func TestAnswers(t *testing.T) {
	secret := errors.New("open /home/me/secret: permission denied")
	g := start(t, func(o *Options) {
		reply := func(v any, err error) Handler {
			return func(context.Context, *Caller, json.RawMessage) (any, error) { return v, err }
		}
		o.Handlers[protocol.MethodStatus] = reply(nil, nil)
		o.Handlers[protocol.MethodConfigGet] = reply(json.RawMessage(`{"a":"<b>"}`), nil)
		o.Handlers[protocol.MethodLogsTail] = reply(nil, secret)
		o.Handlers[protocol.MethodAgentsList] = reply(nil, fmt.Errorf("outer: %w", protocol.Invalid("plain words")))
		o.Handlers[protocol.MethodModelsList] = reply(func() {}, nil)
	})
	c := g.connected(t, asCLI(protocol.ScopeRead))
	for method, want := range map[string]string{
		protocol.MethodStatus:     `{"type":"res","id":"x","ok":true}`,
		protocol.MethodConfigGet:  `{"type":"res","id":"x","ok":true,"payload":{"a":"<b>"}}`,
		protocol.MethodAgentsList: `{"type":"res","id":"x","ok":false,"error":{"code":"INVALID_REQUEST","message":"plain words"}}`,
	} {
		c.send(requestText("x", method, nil))
		for {
			_, data, err := c.ws.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), `"type":"res"`) {
				continue
			}
			if string(data) != want {
				t.Errorf("%s: %s", method, data)
			}
			break
		}
	}
	for _, method := range []string{protocol.MethodLogsTail, protocol.MethodModelsList} {
		if f := c.call(method, nil); f.OK || f.Error.Code != protocol.CodeUnavailable || strings.Contains(f.Error.Message, "secret") {
			t.Errorf("%s: %+v", method, f)
		}
	}
}

// Requests of one connection about one session run in the order they came,
// others at the same time.
func TestRequestsOfOneSessionKeepTheirOrder(t *testing.T) {
	var mu sync.Mutex
	order := make(map[string][]string)
	block := make(chan struct{})
	g := start(t, func(o *Options) {
		o.Handlers[protocol.MethodChatSend] = func(_ context.Context, _ *Caller, raw json.RawMessage) (any, error) {
			p, err := protocol.DecodeParams[protocol.ChatSendParams]("chat.send", raw)
			if err != nil {
				return nil, err
			}
			if p.SessionKey == "blocked" {
				<-block
			}
			mu.Lock()
			defer mu.Unlock()
			order[p.SessionKey] = append(order[p.SessionKey], p.Message)
			return nil, nil
		}
	})
	c := g.connected(t, asCLI(protocol.ScopeWrite))
	want := make(map[string][]string)
	waiting := make(map[string]bool)
	for i := range 20 {
		for _, key := range []string{"blocked", "free"} {
			id, message := fmt.Sprint(key, i), fmt.Sprint(i)
			c.send(requestText(id, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: message}))
			want[key] = append(want[key], message)
			waiting[id] = true
		}
	}
	for n := 0; n < 20; {
		if f := c.next(); f.Type == protocol.TypeResponse {
			if !strings.HasPrefix(f.ID, "free") {
				t.Fatalf("%s came through a blocked session", f.ID)
			}
			n++
		}
	}
	close(block)
	for n := 0; n < 20; {
		if f := c.next(); f.Type == protocol.TypeResponse {
			n++
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for key := range want {
		if got := strings.Join(order[key], " "); got != strings.Join(want[key], " ") {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// A request ends with its connection, and the server waits for it.
func TestHandlersEndWithTheConnection(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	g := start(t, func(o *Options) {
		o.Handlers[protocol.MethodAgentWait] = func(ctx context.Context, _ *Caller, _ json.RawMessage) (any, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		}
	})
	c := g.connected(t, asCLI(protocol.ScopeWrite))
	c.send(requestText("1", protocol.MethodAgentWait, nil))
	<-began
	_ = c.ws.CloseNow()
	<-ended
}
