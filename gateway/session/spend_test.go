package session

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// meter is a scripted service: it answers, calls tools and fails by chance, and
// counts every token that it reports.
type meter struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	told  map[string]model.Usage // by model and account
	calls int
	fails int
}

type metered struct {
	m       *meter
	ref     model.Ref
	account string
}

// plan is what one call does.
type plan struct {
	usage []model.Usage // reported one after the other; the last counts
	text  string
	tool  bool
	err   error
}

func (p metered) plan(req model.Request) plan {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	r := p.m.rnd
	u := model.Usage{Input: 1 + r.IntN(5000), Output: 1 + r.IntN(500), CacheRead: r.IntN(3000), CacheWrite: r.IntN(100)}
	pl := plan{usage: []model.Usage{{Input: u.Input, CacheRead: u.CacheRead}, u}, text: "words"}
	classes := []model.Class{model.ClassRateLimit, model.ClassServer, model.ClassOverloaded, model.ClassAuth, model.ClassInterrupted,
		model.ClassTimeout, model.ClassBilling, model.ClassInvalid, model.ClassEmpty, model.ClassRefusal}
	last := req.Messages[len(req.Messages)-1]
	switch n := r.IntN(100); {
	case n < 10: // refused before anything was counted
		pl = plan{err: &model.Error{Class: classes[r.IntN(len(classes))]}}
	case n < 16: // broke off before a word, after the input was counted
		pl.text, pl.usage, pl.err = "", pl.usage[:1], &model.Error{Class: classes[r.IntN(len(classes))]}
	case n < 22: // broke off after words
		pl.err = &model.Error{Class: model.ClassInterrupted}
	case n < 40 && len(req.Tools) > 0 && last.Role == model.RoleUser:
		pl.tool = true
	}
	p.m.calls++
	if pl.err != nil {
		p.m.fails++
	}
	if len(pl.usage) > 0 {
		key := p.ref.String() + " " + p.account
		p.m.told[key] = p.m.told[key].Add(pl.usage[len(pl.usage)-1])
	}
	return pl
}

func (p metered) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	pl := p.plan(req)
	return func(yield func(model.Event, error) bool) {
		for _, u := range pl.usage {
			if !yield(model.Event{Kind: model.EventUsage, Usage: u}, nil) {
				return
			}
		}
		if pl.text != "" && !yield(model.Event{Kind: model.EventText, Text: pl.text}, nil) {
			return
		}
		switch {
		case pl.err != nil:
			yield(model.Event{}, pl.err)
		case pl.tool:
			call := &model.ToolCall{ID: fmt.Sprint("c", len(req.Messages)), Name: "block",
				Arguments: []byte(fmt.Sprintf(`{"n":%d}`, len(req.Messages)))}
			if yield(model.Event{Kind: model.EventToolCall, Call: call}, nil) {
				yield(model.Event{Kind: model.EventStop, Stop: model.StopTool}, nil)
			}
		default:
			yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd}, nil)
		}
	}
}

// spending is a manager with two services, two accounts each, and a real ledger
// in a real store.
func spending(t *testing.T, m *meter) (*Manager, *store.DB, *spend.Ledger) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewSet(blockingTool{func(context.Context) {}})
	if err != nil {
		t.Fatal(err)
	}
	ledger := spend.New(spend.Options{
		Price: func(model.Ref) (spend.Price, bool) {
			return spend.List{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}.Price(), true
		},
		Zone: func() *time.Location { return time.UTC }, Now: time.Now,
	})
	accounts := &fixedAccounts{list: map[string][]failover.AccountState{"a": {{ID: "a:x"}, {ID: "a:y"}}, "b": {{ID: "b:x"}}}}
	one, two := model.Ref{Provider: "a", Model: "one"}, model.Ref{Provider: "b", Model: "two"}
	engine := failover.New(failover.Options{
		Resolve: func(_ context.Context, ref model.Ref, account string) (failover.Target, error) {
			if ref == (model.Ref{}) {
				ref = one
			}
			return failover.Target{Ref: ref, Provider: metered{m: m, ref: ref, account: account}, Tools: true}, nil
		},
		Accounts: accounts, Now: time.Now,
		Settings: func(string) failover.Settings {
			return failover.Settings{Primary: one, Fallbacks: []model.Ref{two}, OverloadedRotations: 1, RateLimitedRotations: 1,
				MaxWait: time.Second}
		},
	})
	ids := 0
	mgr := NewManager(t.Context(), Options{
		DB: db, Publish: silent{}, Outbox: discard{}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Models: asked{begin: engine.Begin, book: func(tx *store.Tx, key string, attempts []failover.Attempt) error {
			var calls []spend.Call
			for _, a := range attempts {
				if !a.Skipped {
					calls = append(calls, spend.Call{At: a.At, Model: a.Ref, Account: a.Account, Session: key, Usage: a.Usage, Failed: a.Reason != ""})
				}
			}
			return ledger.Put(tx, calls)
		}},
		Engine:   Engine{Tools: always{tools}, Prompt: prompted(func(Asked) (string, int) { return "", 0 })},
		Settings: fixed{func() QueuePolicy { return QueuePolicy{Mode: Followup} }, 1000 * time.Hour}, Now: time.Now, Epoch: "boot",
		NewID: func() string { ids++; return fmt.Sprintf("00000000-0000-4000-8000-%012x", ids) },
	})
	return mgr, db, ledger
}

type discard struct{}

func (discard) Put(*store.Tx, protocol.ChatEvent, Run) error { return nil }
func (discard) Wake()                                        {}

// The ledger's sums are the service's own, to the token, over 10,000 turns in
// which every fifth call fails, with fallbacks, several accounts, tools and
// repeats (issue "Models", Done when 4).
func TestLedgerEqualsTheService(t *testing.T) {
	turns := seed.Rounds(1500, 10_000)
	sessions := turns / 20
	synctest.Test(t, func(t *testing.T) {
		m := &meter{rnd: seed.Fixed(t, 4), told: map[string]model.Usage{}}
		mgr, db, ledger := spending(t, m)
		for i := range turns {
			id := fmt.Sprint("r", i)
			if _, err := mgr.Submit(t.Context(), Turn{RunID: id, SessionKey: fmt.Sprintf("agent:main:chat:%d", i%sessions),
				Text: "go"}); err != nil {
				t.Fatal(err)
			}
			if _, err := mgr.Wait(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		var rows []spend.Row
		if err := db.View(func(tx *store.Tx) (err error) { rows, err = ledger.Rows(tx, spend.Query{}); return err }); err != nil {
			t.Fatal(err)
		}
		booked := map[string]model.Usage{}
		for _, g := range spend.By(rows, func(r spend.Row) string { return r.Model.String() + " " + r.Account }) {
			booked[g.Name] = g.Usage
		}
		if diff := cmp.Diff(m.told, booked); diff != "" {
			t.Errorf("the service told (-) and the ledger holds (+): %s", diff)
		}
		total := spend.Total(rows)
		if total.Calls != m.calls || total.Calls < turns || m.fails < turns/10 {
			t.Errorf("%d calls are booked, %d were made, %d failed", total.Calls, m.calls, m.fails)
		}
		u := total.Usage
		if want := spend.Nano(1000*u.Input + 2000*u.Output + 3000*u.CacheRead + 4000*u.CacheWrite); total.Cost() != want {
			t.Errorf("it cost %d, want %d", total.Cost(), want)
		}
		if err := mgr.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := db.Close(t.Context()); err != nil {
			t.Error(err)
		}
		t.Logf("%d calls, %d failed, %d tokens", m.calls, m.fails, u.Total())
	})
}
