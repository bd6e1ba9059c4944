package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// rig is a gateway in this process with the scripted model behind it.
type rig struct {
	t      testing.TB
	dir    statedir.Dir
	model  *scripted.Handler
	url    string           // of the model server
	now    func() time.Time // nil: the real time
	env    func(string) string
	stop   context.CancelFunc
	served chan error
	gw     *gateway.Gateway
}

// newRig starts a gateway on a free port with the scripted models of all three
// dialects configured. primary is the default model.
func newRig(t testing.TB, primary any) *rig {
	t.Helper()
	r := &rig{t: t, dir: statedir.Dir(t.TempDir()), model: scripted.New()}
	srv := httptest.NewServer(r.model)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	writeConfig(t, r.dir, srv.URL, primary)
	r.start()
	return r
}

func writeConfig(t testing.TB, dir statedir.Dir, model string, primary any) {
	t.Helper()
	cfg := map[string]any{
		"models": map[string]any{"providers": map[string]any{
			"chat":   map[string]any{"baseUrl": model + "/v1", "api": "openai-completions", "apiKey": "sk-test"},
			"claude": map[string]any{"baseUrl": model, "api": "anthropic-messages", "apiKey": "sk-test"},
			"llama":  map[string]any{"baseUrl": model, "api": "ollama"},
		}},
		"agents": map[string]any{"defaults": map[string]any{"model": primary}},
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) start() {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(r.t.Context()))
	if r.env == nil {
		r.env = noEnv
	}
	gw, err := gateway.New(ctx, gateway.Options{Dir: r.dir, Env: r.env, Port: freePort(r.t), Version: "test", Now: r.now})
	if err != nil {
		stop()
		r.t.Fatal(err)
	}
	r.gw, r.stop, r.served = gw, stop, make(chan error, 1)
	go func() { r.served <- gw.Serve(ctx) }()
	r.t.Cleanup(r.shutdown)
}

// noEnv is an environment with nothing but a home, where workspaces are made.
func noEnv(name string) string {
	if name == "HOME" {
		return filepath.Join(os.TempDir(), "hearth-test-home")
	}
	return ""
}

func (r *rig) shutdown() {
	if r.stop == nil {
		return
	}
	r.stop()
	if err := <-r.served; err != nil {
		r.t.Errorf("serve: %v", err)
	}
	r.stop = nil
}

func (r *rig) restart() {
	r.t.Helper()
	r.shutdown()
	r.start()
}

// freePort asks the system for a port nobody has.
func freePort(t testing.TB) int {
	t.Helper()
	s := httptest.NewServer(nil)
	defer s.Close()
	var port int
	if _, err := fmt.Sscanf(s.URL, "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	return port
}

// peer is a connected client that remembers every event.
type peer struct {
	*client.Client
	t testing.TB

	mu     sync.Mutex
	events []protocol.Event
	grown  chan struct{} // closed and replaced with every event
}

func (r *rig) connect(caps ...string) *peer {
	r.t.Helper()
	return r.dial(caps, protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite)
}

// connectAs is connect with these rights only.
func (r *rig) connectAs(scopes ...protocol.Scope) *peer {
	r.t.Helper()
	return r.dial(nil, scopes...)
}

func (r *rig) dial(caps []string, scopes ...protocol.Scope) *peer {
	r.t.Helper()
	p := &peer{t: r.t, grown: make(chan struct{})}
	url, token, err := client.Find(r.dir)
	for range 100 {
		if err == nil {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-r.t.Context().Done():
		}
		url, token, err = client.Find(r.dir)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	p.Client, err = client.Dial(r.t.Context(), client.Options{
		URL: url, Token: token, Caps: caps,
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"},
		Scopes: scopes,
		OnEvent: func(ev protocol.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.events = append(p.events, ev)
			close(p.grown)
			p.grown = make(chan struct{})
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = p.Close() })
	return p
}

// until waits for an event that match accepts and returns it.
func (p *peer) until(what string, match func(protocol.Event) bool) protocol.Event {
	p.t.Helper()
	deadline := time.After(20 * time.Second)
	for seen := 0; ; {
		p.mu.Lock()
		for ; seen < len(p.events); seen++ {
			if match(p.events[seen]) {
				ev := p.events[seen]
				p.mu.Unlock()
				return ev
			}
		}
		grown := p.grown
		p.mu.Unlock()
		select {
		case <-grown:
		case <-deadline:
			p.t.Fatalf("no %s came; events: %s", what, p.names())
		}
	}
}

func (p *peer) names() (s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ev := range p.events {
		s += ev.Event + " "
	}
	return s
}

// chatEvents returns the chat events of a run so far.
func (p *peer) chatEvents(runID string) (out []protocol.ChatEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ev := range p.events {
		if c, ok := chatOf(ev); ok && c.RunID == runID {
			out = append(out, c)
		}
	}
	return out
}

func chatOf(ev protocol.Event) (c protocol.ChatEvent, ok bool) {
	if ev.Event != protocol.EventChat {
		return c, false
	}
	return c, json.Unmarshal(ev.Payload, &c) == nil
}

// ended waits for a run's terminal event.
func (p *peer) ended(runID string) (c protocol.ChatEvent) {
	p.t.Helper()
	p.until("end of run "+runID, func(ev protocol.Event) bool {
		got, ok := chatOf(ev)
		c = got
		return ok && got.RunID == runID && got.State != protocol.ChatDelta && got.State != protocol.ChatStatus
	})
	return c
}

func (p *peer) call(method string, params, result any) {
	p.t.Helper()
	if err := p.Call(p.t.Context(), method, params, result); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *peer) send(key, runID, text string) protocol.ChatSendResult {
	p.t.Helper()
	var res protocol.ChatSendResult
	p.call(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: runID}, &res)
	return res
}

func (p *peer) history(key string) (h protocol.ChatHistory) {
	p.t.Helper()
	p.call(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: key, Limit: 1000}, &h)
	return h
}
