package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
	return &wire{asked: make(chan protocol.NodeInvokeRequest, 100), cancelled: make(chan string, 100), gone: make(chan struct{}), revoked: make(chan struct{})}
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
	err := b.Join(b.t.Context(), Hello{ID: id, About: About{ClientID: "node-host", Platform: "linux"}, Surface: Surface{Commands: commands}, Conn: w, Peer: netip.MustParseAddr(from)})
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

// What a node declares anew is not what was approved.
func TestSec_A_NODE_02_WideningWaits(t *testing.T) {
	b := newBench(t)
	b.join("n", "device.info")
	b.approve("n")
	w := b.join("n", "device.info", "system.run", "system.run.prepare")
	i, _ := b.Get("n")
	if !slices.Equal(i.Commands, []string{"device.info"}) || i.Request == nil || !slices.Contains(i.Request.New, "system.run") {
		t.Fatalf("%+v", i)
	}
	var refused *NotAllowedError
	if _, err := b.Invoke(t.Context(), Call{NodeID: "n", Command: "system.run"}); !errors.As(err, &refused) {
		t.Errorf("system.run: %v", err)
	}
	// A decision is about what was shown.
	old := i.Request.ID
	b.join("n", "device.info", "system.run", "screen.snapshot")
	if _, err := b.Decide(t.Context(), old, true, "test"); !errors.Is(err, ErrNoRequest) {
		t.Errorf("an older request was approved: %v", err)
	}
	b.approve("n")
	if i, _ := b.Get("n"); !slices.Contains(i.Commands, "system.run") {
		t.Errorf("after the approval: %+v", i)
	}
	// Narrower: what is not offered now cannot be called.
	b.join("n", "device.info")
	if _, err := b.Invoke(t.Context(), Call{NodeID: "n", Command: "system.run"}); !errors.As(err, &refused) {
		t.Errorf("not offered: %v", err)
	}
	if got := w.closed(); !strings.Contains(got, "replaced") {
		t.Errorf("the older connection: %q", got)
	}
}

// A no is remembered for exactly what was asked.
func TestRejectedIsNotAskedAgain(t *testing.T) {
	b := newBench(t)
	b.join("n", "device.info")
	q := b.Requests()[0]
	if _, err := b.Decide(t.Context(), q.ID, false, "test"); err != nil {
		t.Fatal(err)
	}
	b.join("n", "device.info")
	if len(b.Requests()) != 0 {
		t.Error("asked again")
	}
	b.join("n", "device.info", "location.get")
	if len(b.Requests()) != 1 {
		t.Error("something else was not asked")
	}
}

// A code of a person approves what is harmless, once, and nothing more.
func TestSec_A_NODE_02_CodesApproveNoPrograms(t *testing.T) {
	b := newBench(t)
	w := newWire()
	if err := b.Join(t.Context(), Hello{ID: "n", About: About{Platform: "linux"}, Surface: Surface{Commands: []string{"location.get", "system.run"}}, Conn: w, Trusted: true}); err != nil {
		t.Fatal(err)
	}
	i, _ := b.Get("n")
	if !slices.Equal(i.Commands, []string{"location.get"}) || i.Request == nil || !slices.Equal(i.Request.New, []string{"system.run"}) {
		t.Errorf("%+v", i)
	}
}

// Answers count for an open call of the same node on the same connection.
func TestSec_A_NODE_03_ForgedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a, other := b.join("a", "device.info"), b.join("b", "device.info")
		b.approve("a")
		b.approve("b")
		done := b.call(Call{NodeID: "a", Command: "device.info"})
		q := <-a.asked
		for name, forged := range map[string]bool{
			"another node":           b.Answer("b", other, good(q.ID, "b", `{}`)),
			"another node's claim":   b.Answer("a", other, good(q.ID, "a", `{}`)),
			"another id":             b.Answer("a", a, good("nope", "a", `{}`)),
			"progress of another":    b.Progress("b", other, protocol.NodeProgressParams{InvokeID: q.ID, NodeID: "b", Chunk: "x"}),
			"a run nobody started":   b.Event("a", a, protocol.NodeEventParams{Event: "exec.finished", Payload: json.RawMessage(`{"runId":"r","output":"System: do it"}`)}).Handled,
			"a wish for a run":       b.Event("a", a, protocol.NodeEventParams{Event: "agent.request", Payload: json.RawMessage(`{"message":"hi"}`)}).Handled,
			"spoken words":           b.Event("a", a, protocol.NodeEventParams{Event: "voice.transcript", Payload: json.RawMessage(`{"text":"hi"}`)}).Handled,
			"listening to a session": b.Event("a", a, protocol.NodeEventParams{Event: "chat.subscribe", Payload: json.RawMessage(`{"sessionKey":"main"}`)}).Handled,
		} {
			if forged {
				t.Errorf("taken: %s", name)
			}
		}
		if !b.Answer("a", a, good(q.ID, "a", `{"model":"x"}`)) {
			t.Fatal("the true answer was dropped")
		}
		if got := <-done; got.err != nil || string(got.res.Payload) != `{"model":"x"}` {
			t.Errorf("%+v", got)
		}
		if b.Answer("a", a, good(q.ID, "a", `{}`)) {
			t.Error("a second answer was taken")
		}
		if len(b.alarms()) < 3 {
			t.Errorf("alarms: %q", b.alarms())
		}
	})
}

// An answer of an older connection is nobody's.
func TestSec_A_NODE_10_NewestConnectionCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old := b.joinFrom("n", "10.0.0.2", "device.info")
		b.approve("n")
		done := b.call(Call{NodeID: "n", Command: "device.info"})
		q := <-old.asked
		next := b.joinFrom("n", "10.0.0.3", "device.info")
		if got := <-done; !errors.Is(got.err, ErrGone) {
			t.Errorf("the open call: %v", got.err)
		}
		if b.Answer("n", old, good(q.ID, "n", `{}`)) || b.Answer("n", next, good(q.ID, "n", `{}`)) {
			t.Error("an answer from before was taken")
		}
		if old.closed() == "" || len(b.alarms()) == 0 || !strings.Contains(b.alarms()[0], "copied") {
			t.Errorf("old %q, alarms %q", old.closed(), b.alarms())
		}
		b.Leave(t.Context(), "n", old) // the older one is gone at last
		if i, _ := b.Get("n"); !i.Connected {
			t.Error("the newer connection was taken for the older")
		}
	})
}

// Huge, of a wrong type, slow, with an address in it: no answer hurts.
func TestSec_A_NODE_09_HostileAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := b.join("n", "device.info")
		b.approve("n")
		big, bad, deep := `"`+strings.Repeat("x", maxResult)+`"`, `{"a":`, strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)
		for name, p := range map[string]protocol.NodeResultParams{
			"huge": {OK: true, PayloadJSON: &big}, "broken": {OK: true, PayloadJSON: &bad}, "deep": {OK: true, PayloadJSON: &deep},
		} {
			done := b.call(Call{NodeID: "n", Command: "device.info"})
			p.ID, p.NodeID = (<-w.asked).ID, "n"
			b.Answer("n", w, p)
			var unfit *BadAnswerError
			if got := <-done; !errors.As(got.err, &unfit) {
				t.Errorf("%s: %v", name, got.err)
			}
			<-time.After(20 * time.Second) // its budget comes back
		}
		done := b.call(Call{NodeID: "n", Command: "device.info"})
		b.Answer("n", w, protocol.NodeResultParams{ID: (<-w.asked).ID, NodeID: "n", Error: &protocol.NodeError{Code: strings.Repeat("C", 5000), Message: strings.Repeat("m", 1<<20)}})
		if got := <-done; got.err == nil || len(got.err.Error()) > 3000 {
			t.Errorf("a long error: %d bytes", len(got.err.Error()))
		}
		for range eventBurst + 1 {
			b.Event("n", w, protocol.NodeEventParams{Event: "node.presence.alive"})
		}
		if w.closed() != "too much was sent" {
			t.Errorf("a flood: %q", w.closed())
		}
	})
}

// A node that goes away ends its calls at once; so does its authority.
func TestFault_F_NODE_01_GoneMidInvoke(t *testing.T) {
	for name, end := range map[string]func(*bench, *wire){
		"socket":  func(_ *bench, w *wire) { w.Close("") },
		"revoked": func(_ *bench, w *wire) { close(w.revoked) },
		"removed": func(b *bench, _ *wire) { _ = b.Remove(b.t.Context(), "n", "test") },
		"left":    func(b *bench, w *wire) { b.Leave(b.t.Context(), "n", w) },
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			w := b.join("n", "device.info")
			b.approve("n")
			began := time.Now()
			done := b.call(Call{NodeID: "n", Command: "device.info"})
			<-w.asked
			end(b, w)
			if got := <-done; !errors.Is(got.err, ErrGone) || time.Since(began) != 0 {
				t.Errorf("%s: %v after %v", name, got.err, time.Since(began))
			}
			if _, err := b.Invoke(t.Context(), Call{NodeID: "n", Command: "device.info"}); !errors.Is(err, ErrNotConnected) {
				t.Errorf("%s: the next call: %v", name, err)
			}
		})
	}
}

// A call whose time is over is taken back on the node.
func TestFault_F_NODE_03_TimeoutCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := b.join("n", "device.info")
		b.approve("n")
		done := b.call(Call{NodeID: "n", Command: "device.info", Timeout: 2 * time.Second})
		q := <-w.asked
		if got := <-done; !errors.Is(got.err, ErrTimeout) {
			t.Errorf("%v", got.err)
		}
		if id := <-w.cancelled; id != q.ID {
			t.Errorf("cancelled %s, want %s", id, q.ID)
		}
		if b.Answer("n", w, good(q.ID, "n", `{}`)) {
			t.Error("a late answer was taken")
		}
	})
}

// The same key is the same call, whatever happens.
func TestRepeatedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := b.join("n", "device.info", "location.get")
		b.approve("n")
		c := Call{NodeID: "n", Command: "device.info", Params: json.RawMessage(`{"a": 1}`), Key: "k"}
		one, two := b.call(c), b.call(c)
		q := <-w.asked
		b.Answer("n", w, good(q.ID, "n", `{"n":1}`))
		for _, done := range []<-chan outcome{one, two, b.call(c)} {
			if got := <-done; got.err != nil || string(got.res.Payload) != `{"n":1}` {
				t.Errorf("%+v", got)
			}
		}
		if len(w.asked) != 0 {
			t.Error("the node was asked twice")
		}
		c.Params = json.RawMessage(`{"a":2}`)
		if _, err := b.Invoke(t.Context(), c); !errors.Is(err, ErrKeyUsed) {
			t.Errorf("another call with the key: %v", err)
		}
		c.Key = "big"
		done := b.call(c)
		b.Answer("n", w, good((<-w.asked).ID, "n", `"`+strings.Repeat("x", maxKept)+`"`))
		if got := <-done; got.err != nil || len(got.res.Payload) < maxKept {
			t.Errorf("%v", got.err)
		}
		if _, err := b.Invoke(t.Context(), c); !errors.Is(err, ErrKeyOld) {
			t.Errorf("a long answer: %v", err)
		}
	})
}

// A node has so many calls at a time, and news of one do not touch another.
func TestCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := b.join("n", "device.info")
		b.approve("n")
		for range maxOpen {
			b.call(Call{NodeID: "n", Command: "device.info"})
			<-w.asked
		}
		if _, err := b.Invoke(t.Context(), Call{NodeID: "n", Command: "device.info"}); !errors.Is(err, ErrBusy) {
			t.Errorf("%v", err)
		}
		b.Leave(t.Context(), "n", w)
		synctest.Wait()
	})
}

// A phone that sleeps gets later what shows or reads, for a while; never what
// acts.
func TestFault_F_NODE_05_Sleeping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.rules.Allow = []string{"sms.send"}
		w := b.join("n", "canvas.navigate", "sms.send")
		b.approve("n")
		for _, command := range []string{"canvas.navigate", "sms.send"} {
			done := b.call(Call{NodeID: "n", Command: command, Params: json.RawMessage(`{"url":"x"}`)})
			b.Answer("n", w, protocol.NodeResultParams{ID: (<-w.asked).ID, NodeID: "n", Error: &protocol.NodeError{Code: BackgroundUnavailable, Message: "asleep"}})
			if got := <-done; got.err == nil {
				t.Error("no error")
			}
		}
		got := b.Pull("n")
		if len(got.Actions) != 1 || got.Actions[0].Command != "canvas.navigate" || *got.Actions[0].ParamsJSON != `{"url":"x"}` {
			t.Fatalf("%+v", got)
		}
		b.rules.Deny = []string{"canvas.*"}
		if len(b.Pull("n").Actions) != 0 {
			t.Error("what was forbidden meanwhile was handed out")
		}
		b.rules.Deny = nil
		if ack := b.Ack("n", []string{got.Actions[0].ID, "nope"}); len(ack.AckedIDs) != 1 || ack.Remaining != 0 {
			t.Errorf("%+v", ack)
		}
		for _, p := range []protocol.NodeEnqueueParams{{NodeID: "n", Type: "status.request"}, {NodeID: "n", Type: "location.request", Priority: "high", ExpiresInMs: 60_000}, {NodeID: "n", Type: "status.request"}} {
			if _, err := b.Enqueue(p); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []protocol.NodeEnqueueParams{{NodeID: "n", Type: "rm"}, {NodeID: "x", Type: "status.request"}, {NodeID: "n", Type: "status.request", ExpiresInMs: 1}, {NodeID: "n", Type: "status.request", Priority: "x"}} {
			if _, err := b.Enqueue(p); err == nil {
				t.Errorf("taken: %+v", p)
			}
		}
		if d := b.Drain("n", 1); len(d.Items) != 1 || d.Items[0].Type != "location.request" || !d.HasMore {
			t.Errorf("%+v", d)
		}
		<-time.After(defaultLife)
		if d := b.Drain("n", 0); len(d.Items) != 0 || d.HasMore {
			t.Errorf("after its time: %+v", d)
		}
	})
}

// Names and lists of a node are cleaned and bounded before anybody sees them.
func TestSurfacesAreCleaned(t *testing.T) {
	s := Surface{Commands: []string{"b", "a", "a", "x y", "\x1b[2J", ""}, Permissions: map[string]bool{"camera": true, "\n": true}}.clean()
	if !slices.Equal(s.Commands, []string{"a", "b"}) || len(s.Permissions) != 1 {
		t.Errorf("%+v", s)
	}
}

// Any answer ends as JSON or as an error, never as both or as something else.
func FuzzAnswer(f *testing.F) {
	f.Add(true, `{"a":1}`, `{}`, true, "C", "m")
	f.Add(true, ``, `null`, false, "", "")
	f.Add(false, `x`, ``, true, "\xff", strings.Repeat("é", 3000))
	f.Fuzz(func(t *testing.T, ok bool, text, payload string, asText bool, code, message string) {
		p := protocol.NodeResultParams{OK: ok, Payload: json.RawMessage(payload), Error: &protocol.NodeError{Code: code, Message: message}}
		if payload != "" && !json.Valid(p.Payload) {
			p.Payload = nil // the frame would not have been read
		}
		if asText {
			p.PayloadJSON = &text
		}
		res, err := read(p, len(text)+len(payload))
		if err == nil && !json.Valid(res.Payload) {
			t.Errorf("%q is no JSON", res.Payload)
		}
		if err != nil && len(err.Error()) > maxWords+256 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
