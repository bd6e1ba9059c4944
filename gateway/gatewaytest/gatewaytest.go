// Package gatewaytest is what tests of a whole gateway share: one in this process
// with a scripted model, one in a process of its own that can be killed, clients,
// a device, a program and a messenger that talk to it. Tests of a feature stand in
// its folder, in an external test package; what they ask of the gateway as a whole
// goes through here. Nothing else imports it.
package gatewaytest

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

// MainKey is the session of the default agent.
const MainKey = "agent:main:main"

// Rig is a gateway in this process with the scripted model behind it.
type Rig struct {
	T        testing.TB
	Dir      statedir.Dir
	Model    *scripted.Handler
	ModelURL string                       // of the model server
	Now      func() time.Time             // nil: the real time
	Booted   func() (time.Duration, bool) // nil: as the system says
	Env      func(string) string
	Stop     context.CancelFunc
	Served   chan error
	Gateway  *gateway.Gateway
}

// New starts a gateway on a free port with the scripted models of all three
// dialects configured. primary is the default model.
func New(t testing.TB, primary any) *Rig {
	t.Helper()
	r := prepared(t, primary)
	r.Start()
	return r
}

// NewForScripts is New of a gateway that runs scripts: see CompileScripts.
func NewForScripts(t testing.TB, primary any) *Rig {
	t.Helper()
	r := prepared(t, primary)
	CompileScripts(t, r.Dir)
	r.Start()
	return r
}

func prepared(t testing.TB, primary any) *Rig {
	t.Helper()
	r := &Rig{T: t, Dir: statedir.Dir(t.TempDir()), Model: scripted.New()}
	srv := httptest.NewServer(r.Model)
	t.Cleanup(srv.Close)
	r.ModelURL = srv.URL
	WriteConfig(t, r.Dir, srv.URL, primary)
	return r
}

// WriteConfig writes the settings of a gateway whose models are scripted.
func WriteConfig(t testing.TB, dir statedir.Dir, model string, primary any) {
	t.Helper()
	cfg := map[string]any{
		"models": map[string]any{"providers": map[string]any{
			"chat":   map[string]any{"baseUrl": model + "/v1", "api": "openai-completions", "apiKey": "sk-test"},
			"claude": map[string]any{"baseUrl": model, "api": "anthropic-messages", "apiKey": "sk-test"},
			"llama":  map[string]any{"baseUrl": model, "api": "ollama"},
		}},
		"agents":   map[string]any{"defaults": map[string]any{"model": primary}},
		"features": untitled(),
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// untitled switches off what asks a model by itself, which tests that count calls do
// not expect.
func untitled() map[string]any { return map[string]any{"titles": false} }

// Start starts the gateway on the state folder that it has.
func (r *Rig) Start() {
	r.T.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(r.T.Context()))
	if r.Env == nil {
		r.Env = Env(r.T)
	}
	gw, err := gateway.New(ctx, gateway.Options{Dir: r.Dir, Env: r.Env, Port: FreePort(r.T), Version: "test", Now: r.Now, Booted: r.Booted})
	if err != nil {
		stop()
		r.T.Fatal(err)
	}
	r.Gateway, r.Stop, r.Served = gw, stop, make(chan error, 1)
	go func() { r.Served <- gw.Serve(ctx) }()
	r.T.Cleanup(r.Shutdown)
}

// Env is an environment with nothing but a home, where workspaces are made.
func Env(t testing.TB) func(name string) string {
	home := filepath.Join(t.TempDir(), "home")
	return func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}
}

// Shutdown ends the gateway, if it runs.
func (r *Rig) Shutdown() {
	if r.Stop == nil {
		return
	}
	r.Stop()
	if err := <-r.Served; err != nil {
		r.T.Errorf("serve: %v", err)
	}
	r.Stop = nil
}

// Restart ends the gateway and starts it on the same folder.
func (r *Rig) Restart() {
	r.T.Helper()
	r.Shutdown()
	r.Start()
}

// FreePort is a port nobody has.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Connect connects as the owner.
func (r *Rig) Connect(caps ...string) *Peer {
	r.T.Helper()
	return r.dial(caps, protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite)
}

// ConnectAs is Connect with these rights only.
func (r *Rig) ConnectAs(scopes ...protocol.Scope) *Peer {
	r.T.Helper()
	return r.dial(nil, scopes...)
}

// find is client.Find of a gateway that may still be on its way.
func (r *Rig) find() (url, token string, err error) {
	for range 3000 {
		if url, token, err = client.Find(r.Dir); err == nil {
			return url, token, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-r.T.Context().Done():
			return "", "", err
		}
	}
	return "", "", err
}

func (r *Rig) dial(caps []string, scopes ...protocol.Scope) *Peer {
	r.T.Helper()
	p := &Peer{T: r.T, grown: make(chan struct{})}
	url, token, err := r.find()
	if err != nil {
		r.T.Fatal(err)
	}
	p.Client, err = client.Dial(r.T.Context(), client.Options{
		URL: url, Token: token, Caps: caps,
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"},
		Scopes: scopes,
		OnEvent: func(ev protocol.Event) {
			p.Mu.Lock()
			defer p.Mu.Unlock()
			p.Events = append(p.Events, ev)
			close(p.grown)
			p.grown = make(chan struct{})
		},
	})
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { _ = p.Close() })
	return p
}
