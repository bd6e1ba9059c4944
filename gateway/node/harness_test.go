package node

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/node/policy"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// memory is a Store that forgets with the test.
type memory struct {
	mu   sync.Mutex
	rows map[string]Row
}

func (m *memory) Load(context.Context) (out []Row, err error) {
	for _, r := range m.rows {
		out = append(out, r)
	}
	return out, nil
}

func (m *memory) Save(_ context.Context, r Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[r.ID] = r
	return nil
}

func (m *memory) Forget(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, id)
	return nil
}

// wire is a connection that the test holds the other end of.
type wire struct {
	asked         chan protocol.NodeInvokeRequest
	cancelled     chan string
	gone, revoked chan struct{}
	once          sync.Once

	mu     sync.Mutex
	reason string
}

func newWire() *wire {
	return &wire{asked: make(chan protocol.NodeInvokeRequest, 100), cancelled: make(chan string, 100), gone: make(chan struct{}),
		revoked: make(chan struct{})}
}

func (w *wire) Send(_ string, payload any) bool {
	switch p := payload.(type) {
	case protocol.NodeInvokeRequest:
		w.asked <- p
	case protocol.NodeInvokeCancel:
		w.cancelled <- p.InvokeID
	}
	return true
}

func (w *wire) Close(reason string) {
	w.once.Do(func() {
		w.mu.Lock()
		w.reason = reason
		w.mu.Unlock()
		close(w.gone)
	})
}

func (w *wire) closed() string { w.mu.Lock(); defer w.mu.Unlock(); return w.reason }

func (w *wire) Gone() <-chan struct{}    { return w.gone }
func (w *wire) Revoked() <-chan struct{} { return w.revoked }

// bench is a registry whose news are kept.
type bench struct {
	*Registry
	t     *testing.T
	rules policy.Settings

	mu   sync.Mutex
	news []Change
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t}
	n := 0
	var mu sync.Mutex
	r, err := Open(t.Context(), Options{
		Store: &memory{rows: map[string]Row{}}, Now: time.Now, Policy: func() policy.Settings { return b.rules },
		NewID: func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprint("id", n) },
		Changed: func(c Change) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.news = append(b.news, c)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Registry = r
	return b
}

func (b *bench) alarms() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.news {
		if c.Kind == Alarm {
			out = append(out, c.Detail)
		}
	}
	return out
}

func (b *bench) join(id string, commands ...string) *wire {
	return b.joinFrom(id, "10.0.0.2", commands...)
}

func (b *bench) joinFrom(id, from string, commands ...string) *wire {
	b.t.Helper()
	w := newWire()
	err := b.Join(b.t.Context(), Hello{ID: id, About: About{ClientID: "node-host", Platform: "linux"}, Surface: Surface{Commands: commands},
		Conn: w, Peer: netip.MustParseAddr(from)})
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func (b *bench) approve(id string) {
	b.t.Helper()
	for _, q := range b.Requests() {
		if q.NodeID == id {
			if _, err := b.Decide(b.t.Context(), q.ID, true, "test"); err != nil {
				b.t.Fatal(err)
			}
			return
		}
	}
	b.t.Fatal("nothing to approve")
}

type outcome struct {
	res Result
	err error
}

func (b *bench) call(c Call) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		res, err := b.Invoke(b.t.Context(), c)
		out <- outcome{res, err}
	}()
	return out
}

func good(id, node, payload string) protocol.NodeResultParams {
	return protocol.NodeResultParams{ID: id, NodeID: node, OK: true, PayloadJSON: &payload}
}
