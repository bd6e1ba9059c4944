package approval_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// house is a broker with its store, as package gateway puts it together.
type house struct {
	*approval.Broker
	db        *store.DB
	path      string
	boot      int
	opts      approval.Options
	reachable atomic.Bool

	mu       sync.Mutex
	asked    []approval.Record
	resolved []approval.Record
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{path: filepath.Join(t.TempDir(), "hearth.db")}
	h.reachable.Store(true)
	var n atomic.Int64
	h.opts = approval.Options{
		Now: time.Now, NewID: func() string { return fmt.Sprintf("id-%d", n.Add(1)) },
		Reachable: func(approval.Ask) bool { return h.reachable.Load() },
		Requested: func(r approval.Record) { h.mu.Lock(); h.asked = append(h.asked, r); h.mu.Unlock() },
		Resolved:  func(r approval.Record) { h.mu.Lock(); h.resolved = append(h.resolved, r); h.mu.Unlock() },
	}
	h.start(t)
	t.Cleanup(func() { h.stop(t) })
	return h
}

func (h *house) start(t testing.TB) {
	t.Helper()
	db, err := store.Open(h.path, store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	h.boot++
	h.db, h.opts.DB, h.opts.Epoch = db, db, fmt.Sprintf("boot-%d", h.boot)
	if h.Broker, err = approval.New(t.Context(), h.opts); err != nil {
		t.Fatal(err)
	}
}

func (h *house) stop(t testing.TB) {
	t.Helper()
	h.Close()
	if err := h.db.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func (h *house) prompts() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

// ask is a command of a run.
func ask(run, command string) approval.Ask {
	return approval.Ask{
		Kind: approval.KindExec, RunID: run, SessionKey: "agent:main:main", SessionID: "s1", AgentID: "main", CallID: "c1", Owner: true,
		Title: "Run " + command, Command: command, Dir: "/work/site", Known: true, Lasting: true,
		Program: "/usr/bin/git", ProgramHash: [32]byte{1}, Digest: [32]byte{byte(len(command)), 7},
	}
}

type outcome struct {
	grant approval.Grant
	err   error
}

func (h *house) permit(ctx context.Context, a approval.Ask) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		g, err := h.Permit(ctx, a)
		out <- outcome{g, err}
	}()
	return out
}

var owner = approval.Decider{Name: "the test", ID: "device-1"}

// inBubble runs a test with a clock of its own.
func inBubble(t *testing.T, fn func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(t, newHouse(t)) })
}

func (h *house) only(t *testing.T) approval.Record {
	t.Helper()
	synctest.Wait()
	p := h.Pending()
	if len(p) != 1 {
		t.Fatalf("%d requests wait, want 1", len(p))
	}
	return p[0]
}

func TestPermitOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		out := h.permit(t.Context(), ask("r1", "git push"))
		rec := h.only(t)
		if _, err := h.Resolve(t.Context(), rec.ID, approval.ScopeOnce, owner); err != nil {
			t.Fatal(err)
		}
		if got := <-out; got.err != nil || got.grant.Scope != approval.ScopeOnce || got.grant.By != owner.Name || got.grant.Rule {
			t.Fatalf("got %+v", got)
		}
		again := h.permit(t.Context(), ask("r1", "git push"))
		rec = h.only(t) // the same again is asked again
		if _, err := h.Resolve(t.Context(), rec.ID, approval.ScopeDeny, owner); err != nil {
			t.Fatal(err)
		}
		var denied *approval.DeniedError
		if got := <-again; !errors.As(got.err, &denied) {
			t.Fatalf("got %+v, want a denial", got)
		}
	})
}

// pass lets time of the bubble go by.
func pass(d time.Duration) { <-time.After(d) }
