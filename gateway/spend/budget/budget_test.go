package budget

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

var (
	dear  = model.Ref{Provider: "shop", Model: "dear"}
	cheap = model.Ref{Provider: "shop", Model: "cheap"}
	mine  = model.Ref{Provider: "here", Model: "mine"} // costs nothing
)

// bench is a budget with ten units for a day, of which a call of dear takes one
// for each token.
type bench struct {
	*Budget
	t         *testing.T
	allowance spend.Allowance
	cheap     model.Ref
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "hearth.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	b := &bench{t: t, allowance: spend.Allowance{Daily: spend.FromUnits(10), Currency: "USD"}}
	price := func(ref model.Ref) (spend.Price, bool) {
		if ref == mine {
			return spend.Price{}, true
		}
		return spend.List{Input: 1e6}.Price(), true
	}
	allowance := func() spend.Allowance { return b.allowance }
	b.Budget = New(Options{
		DB: db, Allowance: allowance, Price: price, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Ledger:  spend.New(spend.Options{Price: price, Allowance: allowance, Zone: func() *time.Location { return time.UTC }, Now: time.Now}),
		Resolve: func(_ context.Context, ref model.Ref) (model.Ref, error) { return ref, nil },
		Cheap:   func() (model.Ref, bool) { return b.cheap, b.cheap != model.Ref{} },
		Idle:    func(context.Context) func() { return func() {} },
	})
	return b
}

// spends books a call of dear.
func (b *bench) spends(tokens int) {
	b.t.Helper()
	c := spend.Call{At: time.Now(), Model: dear, Session: "s", Usage: model.Usage{Input: tokens}}
	if err := b.Spent(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
}

// run is a session's side of a run.
type run struct {
	failover.Session
	id      string
	changed bool
	said    []string
}

func (r *run) RunID() string                         { return r.id }
func (r *run) SessionKey() string                    { return "s" }
func (r *run) Rechosen() bool                        { return r.changed }
func (r *run) Notice(_ context.Context, text string) { r.said = append(r.said, text) }

func TestChoose(t *testing.T) {
	for name, c := range map[string]struct {
		spent      int
		asks       model.Ref
		cheap      model.Ref
		pass       bool
		want       model.Ref
		source     failover.Source
		notices    int
		noAllowing bool
	}{
		"far from the end":                        {spent: 7, asks: dear, cheap: mine, want: dear},
		"near the end":                            {spent: 8, asks: dear, cheap: cheap, want: cheap, source: failover.SourceUser, notices: 1},
		"near the end, nothing cheap":             {spent: 8, asks: dear, want: dear},
		"near the end, free is asked":             {spent: 8, asks: mine, cheap: cheap, want: mine, source: failover.SourceUser},
		"used up, the cheap one costs":            {spent: 10, asks: dear, cheap: cheap, want: dear},
		"used up, the cheap one is free":          {spent: 10, asks: dear, cheap: mine, want: mine, source: failover.SourceUser, notices: 1},
		"used up, but this run was let through":   {spent: 10, asks: dear, cheap: mine, pass: true, want: dear},
		"used up would be, but there is no limit": {spent: 10, asks: dear, cheap: mine, noAllowing: true, want: dear},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.cheap = c.cheap
			b.spends(c.spent)
			if c.noAllowing {
				b.allowance = spend.Allowance{}
			}
			if c.pass {
				b.Ledger.Pass()
				b.Ledger.TakePass("r")
			}
			r := &run{id: "r"}
			for range 2 { // a notice comes once
				sel, err := b.Choose(t.Context(), failover.Selection{Ref: c.asks, Session: "s"}, r)
				if err != nil || sel.Ref != c.want || sel.Source != c.source {
					t.Errorf("%+v, %v", sel, err)
				}
			}
			if len(r.said) != c.notices {
				t.Errorf("told: %q", r.said)
			}
		})
	}
}

// asked is a model that says for whom it was asked.
type asked struct {
	model.Provider
	by *payer
}

func (a asked) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Event, error] {
	*a.by, _ = ctx.Value(payerKey{}).(payer)
	return func(func(model.Event, error) bool) {}
}

func TestAffordWithoutARun(t *testing.T) {
	b := newBench(t)
	b.spends(10)
	var used *UsedUpError
	if err := b.Afford(t.Context(), dear); !errors.As(err, &used) || !strings.Contains(used.Error(), "10.00 USD of 10.00 USD") {
		t.Errorf("%v", err)
	}
	if err := b.Afford(t.Context(), mine); err != nil {
		t.Errorf("what costs nothing: %v", err)
	}
	if !b.Poor() || b.Problem() != "" {
		t.Error("poor, and nothing waits")
	}
}

// A run waits until it may go on, for each of the reasons to.
func TestAffordWaits(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*bench, *run)
		want    error
	}{
		"more is allowed":         {func(b *bench, _ *run) { b.allowance.Daily *= 2; b.Look() }, nil},
		"one answer is allowed":   {func(b *bench, _ *run) { b.Ledger.Pass() }, nil},
		"another model is chosen": {func(b *bench, r *run) { r.changed = true; b.Ledger.Wake() }, failover.ErrReselect},
		"a new day begins":        {func(*bench, *run) { <-time.After(25 * time.Hour) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, r := newBench(t), &run{id: "r"}
				b.spends(10)
				var by payer
				for range PaidBy(r, asked{by: &by}).Stream(t.Context(), model.Request{}) {
				}
				done := make(chan error, 1)
				go func() { done <- b.Afford(context.WithValue(t.Context(), payerKey{}, by), dear) }()
				synctest.Wait()
				if words := b.Problem(); !strings.Contains(words, "A message waits.") || len(r.said) != 1 {
					t.Errorf("%q, told %q", words, r.said)
				}
				b.Ledger.Wake() // nothing changed
				synctest.Wait()
				select {
				case err := <-done:
					t.Fatalf("it did not wait: %v", err)
				default:
				}
				c.happens(b, r)
				if err := <-done; !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				if b.Problem() != "" || len(r.said) != 1 {
					t.Errorf("afterwards: %q, told %q", b.Problem(), r.said)
				}
			})
		})
	}
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, free := newBench(t), false
		b.spends(10)
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.Hold(t.Context(), Message{Run: "r", Session: "s", Free: func() bool { return free }, Tell: func(context.Context, string) {}})
		}()
		synctest.Wait()
		if b.Problem() == "" {
			t.Error("it does not wait")
		}
		free = true
		b.Ledger.Wake()
		<-done
	})
}
