package pairing

import (
	"context"
	"crypto/ed25519"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/protocol/devicetest"
)

const (
	testToken = "the-shared-token-of-this-test"
	testNonce = "nonce"
)

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.UnixMilli(1795215472398)} }

type memoryStore struct {
	mu      sync.Mutex
	devices map[string]Device
	fail    error
}

func (m *memoryStore) Load(context.Context) ([]Device, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Device
	for _, d := range m.devices {
		out = append(out, *d.clone())
	}
	return out, m.fail
}

func (m *memoryStore) Save(_ context.Context, d Device) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if m.devices == nil {
		m.devices = make(map[string]Device)
	}
	m.devices[d.ID] = *d.clone()
	return nil
}

func (m *memoryStore) breakWith(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

func newRegistry(t testing.TB, c *clock, store Store) *Registry {
	t.Helper()
	r, err := New(t.Context(), Options{SharedToken: testToken, ServerKey: make([]byte, 32), Store: store, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func idOf(key ed25519.PrivateKey) string {
	return protocol.DeviceID(key.Public().(ed25519.PublicKey))
}

// try is one connect in the words of a test.
type try struct {
	key    ed25519.PrivateKey // nil: no device
	auth   protocol.Auth
	scopes []protocol.Scope
	role   protocol.Role
	client string // "cli" when empty
	from   string // "127.0.0.1" when empty
	origin string
	remote bool
}

func (r *Registry) attempt(t testing.TB, x try) (*Grant, *protocol.Error) {
	t.Helper()
	if x.from == "" {
		x.from = "127.0.0.1"
	}
	if x.client == "" {
		x.client = "cli"
	}
	p := &protocol.ConnectParams{Client: protocol.ClientInfo{ID: x.client, Mode: "cli", Platform: "linux"},
		Role: x.role, Scopes: x.scopes, Auth: &x.auth}
	if x.role == protocol.RoleNode {
		p.Client.Mode = "node"
	}
	if x.key != nil {
		devicetest.Sign(x.key, p, testNonce, r.now().UnixMilli())
	}
	return r.Authenticate(t.Context(), Attempt{Source: netip.MustParseAddr(x.from), Origin: x.origin,
		Local: !x.remote, Nonce: testNonce, Params: p})
}

// grant insists on success.
func (r *Registry) grant(t testing.TB, x try) *Grant {
	t.Helper()
	g, err := r.attempt(t, x)
	if err != nil {
		t.Fatalf("refused: %v %v", err, err.Details)
	}
	return g
}

// code is details.code of a refusal, "ok" without one.
func code(err *protocol.Error) string {
	if err == nil {
		return "ok"
	}
	s, _ := err.Details["code"].(string)
	return s
}

func scopes(s ...protocol.Scope) []protocol.Scope { return s }

func shared() protocol.Auth { return protocol.Auth{Token: testToken} }

func wrong() protocol.Auth { return protocol.Auth{Token: "wrong"} }
