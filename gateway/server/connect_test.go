package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestClientConnectsAndCalls(t *testing.T) {
	g := start(t, nil)
	c := g.dial(t, nil)
	h := c.hello(asCLI(protocol.ScopeRead))
	if h.Type != "hello-ok" || h.Protocol != 4 || h.Auth.Method != "token" || len(h.Snapshot.Presence) != 2 {
		t.Errorf("hello: %+v", h)
	}
	if h.Policy != (protocol.HelloPolicy{MaxPayload: 26214400, MaxBufferedBytes: 52428800, TickIntervalMs: 30000}) {
		t.Errorf("policy: %+v", h.Policy)
	}
	if h.Server.ControlUIBuildSource != "configured" || h.Server.ConnID == "" || len(h.Features.Methods) != len(protocol.Methods()) {
		t.Errorf("server: %+v", h.Server)
	}
	if f := c.call("health", nil); !f.OK || string(f.Payload) != `{"method":"health"}` {
		t.Errorf("health: %+v", f)
	}
	if f := c.event(protocol.EventPresence); f.Seq != 1 {
		t.Errorf("presence: %+v", f)
	}
}

// The cases that the real gateway was probed with.
func TestHandshakeTable(t *testing.T) {
	g := start(t, nil)
	key := newKey(t)
	first := g.dial(t, nil).hello(asCLI(protocol.ScopeRead).device(key))
	token := first.Auth.DeviceToken
	if token == "" || first.Auth.IssuedAtMs == 0 {
		t.Fatalf("no device token: %+v", first.Auth)
	}
	mode := func(id, mode string) func(*connecting) {
		return func(p *connecting) { p.Client.ID, p.Client.Mode = id, mode }
	}
	node := func(p *connecting) {
		p.Client.ID, p.Client.Mode, p.Role, p.Scopes = "node-host", "node", protocol.RoleNode, nil
	}
	versions := func(low, high int) func(*connecting) {
		return func(p *connecting) { p.MinProtocol, p.MaxProtocol = low, high }
	}
	spoil := func(f func(*protocol.ConnectParams)) *connecting {
		p := asCLI(protocol.ScopeRead).device(newKey(t))
		p.spoil = f
		return p
	}
	tests := []struct {
		name   string
		p      *connecting
		want   string // details.code, message, or "ok"
		scopes string // when ok
		close  websocket.StatusCode
	}{
		{"same device, same scopes", asCLI(protocol.ScopeRead).device(key), "ok", "operator.read", 0},
		{"device token", asCLI(protocol.ScopeRead).device(key).auth(&protocol.Auth{DeviceToken: token}), "ok", "operator.read", 0},
		{"device token as token", asCLI(protocol.ScopeRead).device(key).auth(&protocol.Auth{Token: token}), "ok", "operator.read", 0},
		{"device token, wider", asCLI(protocol.ScopeRead, protocol.ScopePairing).device(key).auth(&protocol.Auth{DeviceToken: token}),
			"AUTH_SCOPE_MISMATCH", "", 1008},
		{"device token, other role", asCLI().with(node).device(key).auth(&protocol.Auth{DeviceToken: token}), "AUTH_DEVICE_TOKEN_MISMATCH", "",
			1008},
		{"device token, other device", asCLI(protocol.ScopeRead).device(newKey(t)).auth(&protocol.Auth{DeviceToken: token}),
			"AUTH_DEVICE_TOKEN_MISMATCH", "", 1008},
		{"device token without device", asCLI(protocol.ScopeRead).auth(&protocol.Auth{DeviceToken: token}), "DEVICE_IDENTITY_REQUIRED", "", 1008},
		{"bad device token", asCLI(protocol.ScopeRead).device(key).auth(&protocol.Auth{DeviceToken: "nope"}), "AUTH_DEVICE_TOKEN_MISMATCH", "",
			1008},
		{"new device, no credentials", asCLI(protocol.ScopeRead).device(newKey(t)).auth(nil), "AUTH_TOKEN_MISSING", "", 1008},
		{"no device, token, cli", asCLI(protocol.ScopeRead), "ok", "operator.read", 0},
		{"no device, token, backend", asBackend(allScopes()...), "ok",
			"operator.admin,operator.read,operator.write,operator.approvals,operator.pairing", 0},
		{"no device, token, probe", asCLI(protocol.ScopeRead).with(mode("cli", "probe")), "ok", "operator.read", 0},
		{"no device, no credentials", asCLI(protocol.ScopeRead).auth(nil), "DEVICE_IDENTITY_REQUIRED", "", 1008},
		{"no device, tui", asCLI(protocol.ScopeRead).with(mode("openclaw-tui", "ui")), "CONTROL_UI_DEVICE_IDENTITY_REQUIRED", "", 1008},
		{"no device, control ui", asCLI(protocol.ScopeRead).with(mode("openclaw-control-ui", "webchat")), "CONTROL_UI_DEVICE_IDENTITY_REQUIRED",
			"", 1008},
		{"no device, ios", asCLI(protocol.ScopeRead).with(mode("openclaw-ios", "ui")), "ok", "", 0},
		{"no device, node", asCLI().with(node), "DEVICE_IDENTITY_REQUIRED", "", 1008},
		{"node with device", asCLI().with(node).device(newKey(t)), "ok", "", 0},
		{"wrong token", asCLI(protocol.ScopeRead).device(newKey(t)).auth(&protocol.Auth{Token: "bad"}), "AUTH_TOKEN_MISMATCH", "", 1008},
		{"wrong token, no device", asCLI(protocol.ScopeRead).auth(&protocol.Auth{Token: "bad"}), "AUTH_TOKEN_MISMATCH", "", 1008},
		{"password only", asCLI(protocol.ScopeRead).device(newKey(t)).auth(&protocol.Auth{Password: "x"}), "AUTH_TOKEN_MISSING", "", 1008},
		{"token also as password", asCLI(protocol.ScopeRead).device(newKey(t)).auth(&protocol.Auth{Token: testToken, Password: testToken}), "ok",
			"operator.read", 0},
		{"bad launch code", asCLI(protocol.ScopeRead).device(newKey(t)).auth(&protocol.Auth{BootstrapToken: "x"}), "AUTH_BOOTSTRAP_TOKEN_INVALID",
			"", 1008},
		{"spoiled signature", spoil(func(p *protocol.ConnectParams) { p.Device.Signature = "AAAA" + p.Device.Signature[4:] }),
			"DEVICE_AUTH_SIGNATURE_INVALID", "", 1008},
		{"wrong nonce", spoil(func(p *protocol.ConnectParams) { p.Device.Nonce = "zzz" }), "DEVICE_AUTH_NONCE_MISMATCH", "", 1008},
		{"no nonce", spoil(func(p *protocol.ConnectParams) { p.Device.Nonce = "" }), "DEVICE_AUTH_NONCE_REQUIRED", "", 1008},
		{"stale", spoil(func(p *protocol.ConnectParams) { p.Device.SignedAt -= 300_000 }), "DEVICE_AUTH_SIGNATURE_EXPIRED", "", 1008},
		{"other id", spoil(func(p *protocol.ConnectParams) { p.Device.ID = strings.Repeat("a", 64) }), "DEVICE_AUTH_DEVICE_ID_MISMATCH", "",
			1008},
		{"bad key", spoil(func(p *protocol.ConnectParams) { p.Device.PublicKey = "!!!" }), "DEVICE_AUTH_DEVICE_ID_MISMATCH", "", 1008},
		{"scopes after signing", spoil(func(p *protocol.ConnectParams) { p.Scopes = []protocol.Scope{protocol.ScopeAdmin} }),
			"DEVICE_AUTH_SIGNATURE_INVALID", "", 1008},
		{"platform after signing", spoil(func(p *protocol.ConnectParams) { p.Client.Platform = "macos" }), "DEVICE_AUTH_SIGNATURE_INVALID", "",
			1008},
		{"protocol 3 only", asCLI().with(versions(3, 3)), "PROTOCOL_MISMATCH", "", 1002},
		{"protocol 5 only", asCLI().with(versions(5, 5)), "PROTOCOL_MISMATCH", "", 1002},
		{"protocol 3 to 5", asCLI().with(versions(3, 5)), "ok", "", 0},
		{"protocol 3, probe", asCLI().with(mode("openclaw-probe", "probe")).with(versions(3, 3)), "ok", "", 0},
		{"protocol 3, node", asCLI().with(node).with(versions(3, 3)).device(newKey(t)), "ok", "", 0},
		{"protocol 2, probe", asCLI().with(mode("openclaw-probe", "probe")).with(versions(2, 2)), "PROTOCOL_MISMATCH", "", 1002},
		{"no protocol", asCLI().with(versions(0, 0)), "PROTOCOL_MISMATCH", "", 1002},
		{"unknown client", asCLI(protocol.ScopeAdmin).with(mode("my-client", "cli")), "ok", "", 0},
		{"unknown role", asCLI().with(func(p *connecting) { p.Role = "king" }), "invalid role", "", 1008},
		{"unknown scope", asCLI("operator.nope").device(newKey(t)), "ok", "operator.nope", 0},
		{"no client", asCLI().with(func(p *connecting) { p.Client = protocol.ClientInfo{} }), "invalid connect params: must have required " +
			"property 'client'", "", 1008},
		{"huge client name", asCLI().with(func(p *connecting) { p.Client.DisplayName = strings.Repeat("x", 300) }),
			"invalid connect params: client has a text longer than 256 bytes", "", 1008},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := g.dial(t, nil)
			f := c.connect(tt.p)
			if got := code(f); got != tt.want {
				t.Fatalf("got %s, want %s (%+v)", got, tt.want, f.Error)
			}
			if f.OK {
				var h protocol.HelloOK
				if err := json.Unmarshal(f.Payload, &h); err != nil {
					t.Fatal(err)
				}
				if got := scopeText(h.Auth.Scopes); got != tt.scopes {
					t.Errorf("scopes %q, want %q", got, tt.scopes)
				}
				return
			}
			ce := c.closed()
			if ce.Code != tt.close || !strings.HasPrefix(f.Error.Message, strings.TrimRight(ce.Reason, " ")) {
				t.Errorf("closed with %d %q after %q", ce.Code, ce.Reason, f.Error.Message)
			}
		})
	}
}

func scopeText(scopes []protocol.Scope) string {
	var out []string
	for _, s := range scopes {
		out = append(out, string(s))
	}
	return strings.Join(out, ",")
}

// A device that asks for more with the shared token, on this machine, is
// widened silently, and the token that was given for less is worthless then.
func TestWideningReplacesTheDeviceToken(t *testing.T) {
	g := start(t, nil)
	key := newKey(t)
	narrow := g.dial(t, nil).hello(asCLI(protocol.ScopeRead).device(key))
	again := g.dial(t, nil).hello(asCLI(protocol.ScopeRead).device(key))
	if narrow.Auth.DeviceToken != again.Auth.DeviceToken {
		t.Error("the token changed without a reason")
	}
	wide := g.dial(t, nil).hello(asCLI(protocol.ScopeAdmin).device(key))
	if wide.Auth.DeviceToken == narrow.Auth.DeviceToken {
		t.Error("the token survived the widening")
	}
	if f := g.dial(t, nil).connect(asCLI(protocol.ScopeRead).device(key).auth(&protocol.Auth{DeviceToken: narrow.Auth.DeviceToken})); code(
		f) != "AUTH_DEVICE_TOKEN_MISMATCH" {
		t.Errorf("the old token: %s", code(f))
	}
	if h := g.dial(t, nil).hello(asCLI(protocol.ScopeRead).device(key).auth(&protocol.Auth{DeviceToken: wide.Auth.DeviceToken})); scopeText(
		h.Auth.Scopes) != "operator.read" {
		t.Errorf("more than asked: %v", h.Auth.Scopes)
	}
}

func TestFirstFrames(t *testing.T) {
	g := start(t, nil)
	tests := []struct {
		name, send string
		code       websocket.StatusCode
		reason     string
	}{
		{"not JSON", "hello", 1000, ""},
		{"cut JSON", `{"type":"req"`, 1000, ""},
		{"wrong type", `{"type":"event","event":"x"}`, 1008, "invalid request frame"},
		{"array", `[]`, 1008, "invalid request frame"},
		{"another method", `{"type":"req","id":"1","method":"health"}`, 1008, "invalid handshake: first request must be connect"},
		{"connect of wrong shape", `{"type":"req","id":"1","method":"connect","params":{"client":7}}`, 1008, "invalid connect params: client " +
			"must be an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := g.dial(t, nil)
			c.send(tt.send)
			if ce := c.closed(); ce.Code != tt.code || ce.Reason != tt.reason {
				t.Errorf("closed with %d %q", ce.Code, ce.Reason)
			}
		})
	}
}

func TestFramesAfterHello(t *testing.T) {
	g := start(t, nil)
	c := g.connected(t, asBackend(protocol.ScopeRead))
	tests := []struct{ name, send, id, want string }{
		{"no id", `{"type":"req","method":"health"}`, "invalid", "invalid request frame: id must be a string of 1 to 256 characters"},
		{"bad method", `{"type":"req","id":"a","method":3}`, "a", "invalid request frame: method must be a string of 1 to 128 characters"},
		{"extra field", `{"type":"req","id":"b","method":"health","zzz":1}`, "b", "ok"},
		{"unknown method", `{"type":"req","id":"c","method":"no.such"}`, "c", "unknown method: no.such"},
		{"missing scope", `{"type":"req","id":"d","method":"config.set"}`, "d", "MISSING_SCOPE"},
		{"second connect", `{"type":"req","id":"e","method":"connect"}`, "e", "connect is only valid as the first request"},
		{"surrogate", `{"type":"req","id":"f","method":"health","params":{"a":"\ud800"}}`, "invalid", "invalid request frame: half of a " +
			"surrogate pair in a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.send(tt.send)
			if f := c.answer(tt.id); code(f) != tt.want {
				t.Errorf("got %s, want %s", code(f), tt.want)
			}
		})
	}
	c.send("garbage") // ignored
	if err := c.trySend(websocket.MessageBinary, `{"type":"req","id":"bin","method":"health"}`); err != nil {
		t.Fatal(err)
	}
	if f := c.answer("bin"); !f.OK {
		t.Errorf("JSON in a binary message: %+v", f)
	}
	if f := c.call("config.set", nil); f.Error.Code != protocol.CodeForbidden || f.Error.Message != "missing scope: operator.admin" {
		t.Errorf("%+v", f.Error)
	}
}

func TestNodeRoleCallsNothing(t *testing.T) {
	g := start(t, nil)
	p := asCLI().device(newKey(t))
	p.Client.ID, p.Client.Mode, p.Role = "node-host", "node", protocol.RoleNode
	c := g.connected(t, p)
	for i := range maxBadRole + 1 {
		if f := c.call([]string{"health", "config.set", "node.invoke"}[i%3], nil); code(f) != "unauthorized role: node" {
			t.Fatal(code(f))
		}
	}
	if ce := c.closed(); ce.Code != 1008 || ce.Reason != "repeated unauthorized calls" {
		t.Errorf("%v", ce)
	}
}

// Frames that an eager client sends behind its connect are served after hello.
func TestEagerClientIsServed(t *testing.T) {
	g := start(t, nil)
	c := g.dial(t, nil)
	c.send(requestText("hello", protocol.MethodConnect, asCLI(protocol.ScopeRead).ConnectParams))
	missing := make(map[string]bool)
	for i := range 15 {
		id := fmt.Sprint("early-", i)
		missing[id] = true
		c.send(requestText(id, "health", nil))
	}
	if f := c.read(); f.ID != "hello" || !f.OK {
		t.Fatalf("first answer: %+v", f)
	}
	for len(missing) > 0 {
		if f := c.read(); f.Type == protocol.TypeResponse {
			if !f.OK || !missing[f.ID] {
				t.Fatalf("%+v", f)
			}
			delete(missing, f.ID)
		}
	}
}
