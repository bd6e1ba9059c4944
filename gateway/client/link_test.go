package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// The acknowledgement is lost twice, once before and once after the gateway
// took the message; every attempt carries one key, so there is one run.
func TestFault_F_WS_08_SendsOnceOverLostConnections(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	f := newFake(t, func(p *peer) {
		r, ok := p.next()
		if !ok {
			return
		}
		var cs protocol.ChatSendParams
		_ = json.Unmarshal(r.Params, &cs)
		mu.Lock()
		keys = append(keys, cs.IdempotencyKey)
		mu.Unlock()
		if p.n < 2 {
			_ = p.conn.CloseNow()
			return
		}
		p.answer(r, protocol.ChatSendResult{RunID: cs.IdempotencyKey, Status: protocol.SendInFlight})
		echo(p)
	})
	lost := 0
	l := &Link{
		Dial:   func(ctx context.Context) (*Client, error) { return Dial(ctx, options(f)) },
		OnLost: func(error) { lost++ },
	}
	defer l.Close()
	r, err := l.Send(t.Context(), protocol.ChatSendParams{SessionKey: "main", Message: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != protocol.SendInFlight || lost != 2 {
		t.Errorf("result %+v after %d losses", r, lost)
	}
	if d := cmp.Diff([]string{r.RunID, r.RunID, r.RunID}, keys); d != "" || r.RunID == "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
}

func TestLinkPatience(t *testing.T) {
	f := newFake(t, func(p *peer) { _ = p.conn.CloseNow() })
	dials, pauses := 0, time.Duration(0)
	l := &Link{
		Dial: func(ctx context.Context) (*Client, error) {
			if dials++; dials > 1 {
				return nil, &NotRunningError{}
			}
			return Dial(ctx, options(f))
		},
		Patience: 10 * time.Second,
		Wait:     func(_ context.Context, d time.Duration) error { pauses += d; return nil },
	}
	defer l.Close()
	err := l.Call(t.Context(), "health", nil, nil)
	if !errors.Is(err, statedir.ErrNotRunning) || pauses < 10*time.Second || pauses > 13*time.Second {
		t.Errorf("call = %v after pauses of %v, want ErrNotRunning after about 10s", err, pauses)
	}
}

func TestLinkDoesNotRetryRefusals(t *testing.T) {
	f := newFake(t, func(p *peer) { _ = p.conn.CloseNow() })
	l := &Link{Dial: func(ctx context.Context) (*Client, error) { return Dial(ctx, options(f)) },
		Wait: func(context.Context, time.Duration) error { t.Error("waited to try again"); return nil }}
	defer l.Close()
	if _, err := l.Client(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.refuse = protocol.Invalid("unauthorized: gateway token mismatch")
	var pe *protocol.Error
	if err := l.Call(t.Context(), "health", nil, nil); !errors.As(err, &pe) {
		t.Errorf("call = %v, want the refusal", err)
	}
	first := &Link{Dial: func(context.Context) (*Client, error) { return nil, &NotRunningError{} },
		Wait: func(context.Context, time.Duration) error { t.Error("waited for the first connection"); return nil }}
	if _, err := first.Client(t.Context()); !errors.Is(err, statedir.ErrNotRunning) {
		t.Errorf("first dial = %v, want ErrNotRunning at once", err)
	}
}
