package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/protocol/devicetest"
)

const testToken = "the-shared-token-of-this-test"

// memoryStore keeps devices for one test.
type memoryStore struct {
	mu      sync.Mutex
	devices map[string]pairing.Device
	fail    error
}

func (m *memoryStore) Load(context.Context) ([]pairing.Device, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []pairing.Device
	for _, d := range m.devices {
		out = append(out, d)
	}
	return out, nil
}

func (m *memoryStore) Save(_ context.Context, d pairing.Device) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if m.devices == nil {
		m.devices = make(map[string]pairing.Device)
	}
	m.devices[d.ID] = d
	return nil
}

// gateway is a running server with its registry.
type gateway struct {
	*Server
	registry *pairing.Registry
	addr     string // host:port
	http     *http.Client
	stop     func() error
}

func (g *gateway) url() string { return "ws://" + g.addr + "/" }

func testPages() fstest.MapFS {
	return fstest.MapFS{
		"index.html":             {Data: []byte("<!doctype html><title>Hearth</title><script src=/assets/app-12345678.js></script>")},
		"assets/app-12345678.js": {Data: []byte("console.log('" + fmt.Sprintf("%0500d", 7) + "')")},
		"favicon.svg":            {Data: []byte("<svg/>")},
		"sw.js":                  {Data: []byte("// worker")},
		"secret.key":             {Data: []byte("no kind that is served")},
	}
}

// stubHandlers answers every method; over replaces some.
func stubHandlers(over map[string]Handler) map[string]Handler {
	all := make(map[string]Handler)
	for _, m := range protocol.Methods() {
		all[m.Name] = func(context.Context, *Caller, json.RawMessage) (any, error) {
			return map[string]any{"method": m.Name}, nil
		}
	}
	watch := func(on bool) Handler {
		return func(_ context.Context, c *Caller, raw json.RawMessage) (any, error) {
			p, err := protocol.DecodeParams[protocol.SessionKeyParams]("watch", raw)
			if err != nil {
				return nil, err
			}
			c.WatchMessages(p.Key, on)
			return protocol.SubscribeResult{Subscribed: on, Key: p.Key}, nil
		}
	}
	all[protocol.MethodSessionsMessagesSubscribe] = watch(true)
	all[protocol.MethodSessionsMessagesUnsubscribe] = watch(false)
	all[protocol.MethodSessionsSubscribe] = func(_ context.Context, c *Caller, _ json.RawMessage) (any, error) {
		c.WatchSessions(true)
		return protocol.SubscribeResult{Subscribed: true}, nil
	}
	for name, h := range over {
		all[name] = h
	}
	return all
}

func newRegistry(t testing.TB, o pairing.Options) *pairing.Registry {
	t.Helper()
	o.SharedToken, o.ServerKey = testToken, make([]byte, 32)
	if o.Store == nil {
		o.Store = &memoryStore{}
	}
	r, err := pairing.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start runs a gateway until the test ends. change may set anything.
func start(t testing.TB, change func(*Options)) *gateway {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, ln, change)
}

func startOn(t testing.TB, ln net.Listener, change func(*Options)) *gateway {
	t.Helper()
	registry := newRegistry(t, pairing.Options{})
	o := Options{
		Handlers: stubHandlers(nil), Auth: registry, Pages: testPages(), Version: "1.2.3", BootID: "boot",
		Snapshot: func(context.Context) protocol.Snapshot { return protocol.Snapshot{} },
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	var once sync.Once
	var served error
	g := &gateway{Server: s, registry: registry, addr: ln.Addr().String()}
	if r, ok := o.Auth.(*pairing.Registry); ok {
		g.registry = r
	}
	g.stop = func() error {
		once.Do(func() { cancel(); served = <-done })
		return served
	}
	t.Cleanup(func() {
		if err := g.stop(); err != nil {
			t.Error("serve:", err)
		}
	})
	return g
}

// frame is any frame from the gateway.
type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Error   *protocol.Error `json:"error"`
	Seq     uint64          `json:"seq"`
}

// client is an independent client of the protocol.
type client struct {
	t     testing.TB
	ws    *websocket.Conn
	nonce string
	ts    int64
	calls int
	held  []frame // events read while waiting for an answer

	patience time.Duration // of one read; 20 s when zero
}

// dial opens a socket and takes the challenge.
func (g *gateway) dial(t testing.TB, header http.Header) *client {
	t.Helper()
	c, err := g.tryDial(t, header)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (g *gateway) tryDial(t testing.TB, header http.Header) (*client, error) {
	return g.tryDialAt(t, "", header)
}

func (g *gateway) tryDialAt(t testing.TB, query string, header http.Header) (*client, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, g.url()+query, &websocket.DialOptions{HTTPHeader: header, HTTPClient: g.http})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(64 << 20)
	c := &client{t: t, ws: ws}
	t.Cleanup(func() { _ = ws.CloseNow() })
	f, err := c.tryRead()
	if err != nil {
		return nil, err
	}
	var ch protocol.Challenge
	if err := json.Unmarshal(f.Payload, &ch); err != nil || f.Event != protocol.EventConnectChallenge || f.Seq != 0 {
		return nil, fmt.Errorf("no challenge: %+v", f)
	}
	c.nonce, c.ts = ch.Nonce, ch.TS
	return c, nil
}

func (c *client) tryRead() (frame, error) {
	patience := c.patience
	if patience == 0 {
		patience = 20 * time.Second
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		return frame{}, err
	}
	var f frame
	return f, json.Unmarshal(data, &f)
}

func (c *client) read() frame {
	c.t.Helper()
	f, err := c.tryRead()
	if err != nil {
		c.t.Fatal("read:", err)
	}
	return f
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.trySend(websocket.MessageText, text); err != nil {
		c.t.Fatal("send:", err)
	}
}

func (c *client) trySend(kind websocket.MessageType, text string) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	return c.ws.Write(ctx, kind, []byte(text))
}

func requestText(id, method string, params any) string {
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"req","id":%q,"method":%q,"params":%s}`, id, method, raw)
}

// call sends a request and waits for its answer; events are kept aside.
func (c *client) call(method string, params any) frame {
	c.t.Helper()
	c.calls++
	id := fmt.Sprint(c.calls)
	c.send(requestText(id, method, params))
	return c.answer(id)
}

func (c *client) answer(id string) frame {
	c.t.Helper()
	for {
		f := c.read()
		if f.Type == protocol.TypeResponse && f.ID == id {
			return f
		}
		c.held = append(c.held, f)
	}
}

// event returns the next event of a name.
func (c *client) event(name string) frame {
	c.t.Helper()
	for {
		if f := c.next(); f.Event == name {
			return f
		}
	}
}

// next is the next frame, those that were kept aside first.
func (c *client) next() frame {
	c.t.Helper()
	if len(c.held) == 0 {
		return c.read()
	}
	f := c.held[0]
	c.held = c.held[1:]
	return f
}

// closed reads until the close frame and returns it.
func (c *client) closed() websocket.CloseError {
	c.t.Helper()
	for {
		if _, err := c.tryRead(); err != nil {
			var ce websocket.CloseError
			if !errors.As(err, &ce) {
				c.t.Fatal("no close frame:", err)
			}
			return ce
		}
	}
}

// newKey makes a device.
func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keyID(key ed25519.PrivateKey) string {
	return protocol.DeviceID(key.Public().(ed25519.PublicKey))
}

// connecting builds connect parameters step by step.
type connecting struct {
	protocol.ConnectParams
	key   ed25519.PrivateKey
	spoil func(*protocol.ConnectParams)
}

func asCLI(scopes ...protocol.Scope) *connecting {
	return &connecting{ConnectParams: protocol.ConnectParams{MinProtocol: 4, MaxProtocol: 4,
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "1", Platform: "linux"},
		Role:   protocol.RoleOperator, Scopes: scopes, Auth: &protocol.Auth{Token: testToken}}}
}

func asBackend(scopes ...protocol.Scope) *connecting {
	p := asCLI(scopes...)
	p.Client.ID, p.Client.Mode = "gateway-client", "backend"
	return p
}

func (p *connecting) with(change func(*connecting)) *connecting { change(p); return p }

func (p *connecting) device(key ed25519.PrivateKey) *connecting { p.key = key; return p }

func (p *connecting) auth(a *protocol.Auth) *connecting { p.Auth = a; return p }

// connect does the handshake and returns the answer.
func (c *client) connect(p *connecting) frame {
	c.t.Helper()
	params := p.ConnectParams
	if p.key != nil {
		devicetest.Sign(p.key, &params, c.nonce, c.ts)
	}
	if p.spoil != nil {
		p.spoil(&params)
	}
	return c.call(protocol.MethodConnect, params)
}

// hello connects and insists on success.
func (c *client) hello(p *connecting) protocol.HelloOK {
	c.t.Helper()
	f := c.connect(p)
	var h protocol.HelloOK
	if !f.OK {
		c.t.Fatalf("connect refused: %+v", f.Error)
	}
	if err := json.Unmarshal(f.Payload, &h); err != nil {
		c.t.Fatal(err)
	}
	return h
}

func (g *gateway) connected(t testing.TB, p *connecting) *client {
	t.Helper()
	c := g.dial(t, nil)
	c.hello(p)
	return c
}

func allScopes() []protocol.Scope {
	return []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals, protocol.ScopePairing}
}

// code is details.code of a refusal, or its message.
func code(f frame) string {
	if f.Error == nil {
		return "ok"
	}
	if s, ok := f.Error.Details["code"].(string); ok {
		return s
	}
	return f.Error.Message
}

func pairingOptions() pairing.Options { return pairing.Options{} }
