package push

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// world is everything around the feature, and a push service.
type world struct {
	*service
	p       *Push
	dir     string
	db      *store.DB
	secrets *kept
	hear    func(server.Broadcast)
	devices []pairing.Device
	views   []string
	route   string // by which the run that is asked for came
}

// set changes what the feature reads while its queue is at work.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) Devices() []pairing.Device {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.devices)
	for i := range out {
		out[i].Roles = slices.Clone(out[i].Roles)
	}
	return out
}

func (w *world) Why(string, string) (session.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return session.Run{Route: w.route}, nil
}

func (w *world) Overhear(hear func(server.Broadcast)) { w.hear = hear }
func (w *world) Text(s string) string                 { return strings.ReplaceAll(s, "sk-secret", "[hidden]") }
func (w *world) Presence() (out []protocol.PresenceEntry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.views {
		out = append(out, protocol.PresenceEntry{HearthView: v})
	}
	return out
}

func (w *world) Get(key string) (protocol.SessionRow, bool, error) {
	return protocol.SessionRow{Label: "Trip to Rome"}, key == chat, nil
}

// kept is a place for secrets.
type kept struct {
	secret.Store
	mu   sync.Mutex
	has  map[string]secret.Secret
	fail error
}

func (k *kept) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func (k *kept) Get(_ context.Context, name string) (secret.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return secret.Secret{}, k.fail
	}
	if v, ok := k.has[name]; ok {
		return v, nil
	}
	return secret.Secret{}, secret.ErrNotFound
}

func (k *kept) Set(_ context.Context, name string, v secret.Secret) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.has[name] = v
	return nil
}

const (
	chat  = "agent:main:chat:one"
	phone = "phone-1"
)

func device(id string, scopes ...protocol.Scope) pairing.Device {
	return pairing.Device{ID: id, Roles: []pairing.RoleGrant{{Role: protocol.RoleOperator, Scopes: scopes}}}
}

// newWorld begins with one phone that may all that phones may.
func newWorld(t *testing.T) *world {
	w := &world{service: newService(t, time.Now), dir: t.TempDir(), secrets: &kept{has: map[string]secret.Secret{}}}
	w.devices = []pairing.Device{device(phone, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals)}
	w.start(t)
	return w
}

func (w *world) start(t *testing.T) {
	t.Helper()
	var err error
	if w.db, err = store.Open(filepath.Join(w.dir, "store.db"), store.Options{NoSync: true, ReserveBytes: -1}); err != nil {
		t.Fatal(err)
	}
	if w.p, err = Open(t.Context(), Options{
		Store: w.db, Secrets: w.secrets, Redactor: w, Devices: w, Clients: w, Sessions: w, Web: w, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}); err != nil {
		t.Fatal(err)
	}
}

// at runs a test whose time passes at once, with the queue at work.
func at(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.p.queue.run(ctx) }()
		test(t, w)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := w.db.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// pass lets time pass, in a test of at.
func pass(d time.Duration) { <-time.After(d) }

func caller(id string) *server.Caller { return &server.Caller{DeviceID: id} }

// on has a device subscribe.
func (w *world) on(t *testing.T, id string) *browser {
	t.Helper()
	k, err := w.p.key(t.Context(), struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.subscribe(k.VapidPublicKey)
	if _, err := w.p.subscribe(t.Context(), caller(id), b.params()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *world) choose(t *testing.T, b *browser, d protocol.PushDevicePreferences) {
	t.Helper()
	d.Enabled = true
	if _, err := w.p.preferencesSet(t.Context(), caller(phone),
		protocol.PushPreferencesSetParams{Endpoint: b.endpoint, Scope: "device", Preferences: d}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) answers(text string) {
	w.hear(server.Broadcast{Event: protocol.EventChat, Payload: protocol.ChatEvent{
		RunID: "run-1", SessionKey: chat, AgentID: "main", State: protocol.ChatFinal,
		Message: &protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(text)},
	}})
}

func (w *world) asks(id string, life time.Duration) {
	w.hear(server.Broadcast{Event: protocol.EventExecApprovalRequested, Payload: protocol.Approval{
		ID: id, ExpiresAtMs: time.Now().Add(life).UnixMilli(),
		Request: protocol.ApprovalRequest{SessionKey: chat, AgentID: "main", HearthTitle: "Run rm -rf build"},
	}})
}

func (w *world) last(t *testing.T, b *browser) (p payload) {
	t.Helper()
	synctest.Wait()
	if len(b.got) == 0 {
		t.Fatal("nothing arrived")
	}
	if err := json.Unmarshal([]byte(b.got[len(b.got)-1].body), &p); err != nil {
		t.Fatal(err)
	}
	return p
}
