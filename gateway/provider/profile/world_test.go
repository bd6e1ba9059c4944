package profile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// memory is a vault and a state that tests look into.
type memory struct {
	mu      sync.Mutex
	secrets map[string]string
	rows    map[string]Record
	refuse  error // of the next writes to the vault
	saves   int
}

func newMemory() *memory { return &memory{secrets: map[string]string{}, rows: map[string]Record{}} }

func (m *memory) Get(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.secrets[name]; ok {
		return v, nil
	}
	return "", ErrNoCredential
}

func (m *memory) Set(_ context.Context, name, v string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return m.refuse
	}
	m.secrets[name] = v
	return nil
}

func (m *memory) Load(context.Context) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.rows)), nil
}

func (m *memory) Save(_ context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[r.ID] = r
	m.saves++
	return nil
}

func (m *memory) Touch(ctx context.Context, r Record) error { return m.Save(ctx, r) }

// forget is Delete of both: the names differ by "profile/".
func (m *memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.secrets, id)
	delete(m.rows, id)
	return nil
}

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

type world struct {
	*testing.T
	*Book
	mem *memory
	at  time.Time
	mu  sync.Mutex
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

var hosts = map[string]string{"anthropic": "api.anthropic.com", "openai": "api.openai.com"}

func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	w := &world{T: t, mem: newMemory(), at: monday}
	o.State, o.Vault, o.Now = w.mem, w.mem, w.clock
	if o.Hosts == nil {
		o.Hosts = hosts
	}
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w.Book = b
	return w
}

func (w *world) add(id string, typ Type) {
	w.Helper()
	p, _, _ := SplitID(id)
	c := Credential{Type: typ, Key: "key-of-" + id}
	if typ == OAuth {
		c = Credential{Type: OAuth, Access: "access-of-" + id, Refresh: "refresh-of-" + id}
	}
	if err := w.Add(w.Context(), Profile{ID: id, Provider: p, Type: typ}, c); err != nil {
		w.Fatal(err)
	}
}

func (w *world) ids(model string, pin Pin) []string {
	var out []string
	for _, c := range w.Candidates("anthropic", model, pin, w.clock()) {
		out = append(out, c.ID)
	}
	return out
}

func (w *world) want(what string, got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func reason(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}
