package spend

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/seed"
)

type world struct {
	*testing.T
	*Ledger
	db    *store.DB
	at    time.Time
	limit Allowance
}

var claude = model.Ref{Provider: "anthropic", Model: "claude-sonnet-4-5"}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	w := &world{T: t, db: db, at: time.Date(2026, 3, 31, 20, 0, 0, 0, time.UTC)}
	table := NewTable()
	w.Ledger = New(Options{
		Price:     func(ref model.Ref) (Price, bool) { return table.Price(ref.Provider, ref.Model) },
		Allowance: func() Allowance { return w.limit },
		Zone:      func() *time.Location { return time.UTC }, Now: func() time.Time { return w.at },
	})
	return w
}

func (w *world) book(calls ...Call) {
	w.Helper()
	for i := range calls {
		if calls[i].At.IsZero() {
			calls[i].At = w.at
		}
	}
	if err := w.db.Update(w.Context(), store.Write{Do: func(tx *store.Tx) error { return w.Put(tx, calls) }}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) rows(q Query) (out []Row) {
	w.Helper()
	if err := w.db.View(func(tx *store.Tx) (err error) { out, err = w.Rows(tx, q); return err }); err != nil {
		w.Fatal(err)
	}
	return out
}

func (w *world) standing() (s Standing) {
	w.Helper()
	if err := w.db.View(func(tx *store.Tx) (err error) { s, err = w.Standing(tx); return err }); err != nil {
		w.Fatal(err)
	}
	return s
}

func TestCost(t *testing.T) {
	w := newWorld(t)
	w.book(Call{Model: claude, Session: "s", Account: "anthropic:me", Usage: model.Usage{Input: 1000, Output: 200, CacheRead: 10_000,
		CacheWrite: 400}})
	got := w.rows(Query{})[0]
	if got.InputCost != 3_000_000 || got.OutputCost != 3_000_000 || got.CacheReadCost != 3_000_000 || got.CacheWriteCost != 1_500_000 ||
		got.Unpriced != 0 {
		t.Errorf("%+v", got.Sum)
	}
	if s := Money(got.Cost(), "USD"); s != "0.01 USD" {
		t.Error(s)
	}
}

func TestUnknownPriceIsUnknown(t *testing.T) {
	w := newWorld(t)
	other := model.Ref{Provider: "nobody", Model: "x"}
	w.book(Call{Model: other, Session: "s", Usage: model.Usage{Input: 10}}, Call{Model: other, Session: "s", Failed: true})
	if got := w.rows(Query{})[0]; got.Unpriced != 1 || got.Calls != 2 || got.Failed != 1 || got.Input != 10 || got.Cost() != 0 {
		t.Errorf("%+v", got.Sum)
	}
}

func TestTable(t *testing.T) {
	table := NewTable()
	for id, want := range map[string]float64{
		"openai/gpt-5": 1.25, "openai/gpt-5-mini": 0.25, "openai/gpt-5-2025-08-07": 1.25, "openai/gpt-5-mini-2025-08-07": 0.25,
		"openai/gpt-5-codex":                   0,
		"anthropic/claude-sonnet-4-5-20250929": 3, "anthropic/claude-opus-4-5": 5, "anthropic/claude-opus-4-1": 15,
		"mistral/mistral-medium-latest": 0.4, "openai/gpt-55": 0,
	} {
		ref, _ := model.ParseRef(id)
		p, ok := table.Price(ref.Provider, ref.Model)
		if p.Input != PerMillion(want) || ok != (want > 0) {
			t.Errorf("%s costs %v (%v), want %v", id, p.Input, ok, want)
		}
	}
}

func TestFault_F_PROV_15_AbsurdUsage(t *testing.T) {
	w := newWorld(t)
	w.book(Call{Model: claude, Session: "s", Usage: model.Usage{Input: 1e18, Output: -5}})
	if got := w.rows(Query{})[0]; got.Input != maxTokens || got.Output != 0 || got.Cost() < 0 {
		t.Errorf("%+v", got.Sum)
	}
}

// Sums are those of the calls, however they are asked for.
func TestSumsAreExact(t *testing.T) {
	w := newWorld(t)
	rnd := seed.Fixed(t, 1)
	want := Sum{}
	byModel := map[string]Sum{}
	for range 40 {
		var calls []Call
		for range 50 {
			c := Call{
				At:      w.at.Add(-time.Duration(rnd.IntN(40*24)) * time.Hour),
				Model:   model.Ref{Provider: "openai", Model: []string{"gpt-5", "gpt-5-mini", "unknown"}[rnd.IntN(3)]},
				Session: fmt.Sprint("s", rnd.IntN(5)),
				Account: fmt.Sprint("openai:", rnd.IntN(2)), Failed: rnd.IntN(4) == 0,
				Usage: model.Usage{Input: rnd.IntN(9000), Output: rnd.IntN(900), CacheRead: rnd.IntN(9000)},
			}
			want = want.Add(w.cost(c))
			byModel[c.Model.String()] = byModel[c.Model.String()].Add(w.cost(c))
			calls = append(calls, c)
		}
		w.book(calls...)
	}
	rows := w.rows(Query{})
	if diff := cmp.Diff(want, Total(rows)); diff != "" {
		t.Error(diff)
	}
	for _, g := range By(rows, func(r Row) string { return r.Model.String() }) {
		if diff := cmp.Diff(byModel[g.Name], g.Sum); diff != "" {
			t.Error(g.Name, diff)
		}
	}
	split := Total(w.rows(Query{To: "2026-03-10"})).Add(Total(w.rows(Query{From: "2026-03-11"})))
	if diff := cmp.Diff(want, split); diff != "" {
		t.Error(diff)
	}
	bySession := Sum{}
	for i := range 5 {
		bySession = bySession.Add(Total(w.rows(Query{Session: fmt.Sprint("s", i)})))
	}
	if diff := cmp.Diff(want, bySession); diff != "" {
		t.Error(diff)
	}
}

func TestAllowance(t *testing.T) {
	w := newWorld(t)
	million := Call{Model: claude, Session: "s", Usage: model.Usage{Input: 1_000_000}} // 3 USD
	old := million
	old.At = w.at.AddDate(0, 0, -2)
	w.book(old)
	if s := w.standing(); s.Level != Free || s.Limit != 0 || s.Month != FromUnits(3) || s.Day != 0 {
		t.Errorf("without a limit: %+v", s)
	}
	w.limit = Allowance{Daily: FromUnits(10), Monthly: FromUnits(100), Currency: "USD"}
	for _, want := range []Level{Free, Free, Sparing, Used} { // 3, 6, 9, 12 of 10
		w.book(million)
		if s := w.standing(); s.Level != want || s.Period != "today" {
			t.Errorf("after %s: %+v", Money(s.Day, "USD"), s)
		}
	}
	w.at = w.at.Add(5 * time.Hour) // the next day, and month
	if s := w.standing(); s.Level != Free || s.Month != 0 {
		t.Errorf("on the next day: %+v", s)
	}
	w.at = w.at.Add(-5 * time.Hour)
	w.limit = Allowance{Daily: FromUnits(100), Monthly: FromUnits(15)}
	if s := w.standing(); s.Level != Used || s.Period != "this month" || s.Spent != FromUnits(15) {
		t.Errorf("the month counts too: %+v", s)
	}
}

func TestTellOnceAndPassOnce(t *testing.T) {
	w := newWorld(t)
	if !w.Tell("s", Sparing) || w.Tell("s", Sparing) || !w.Tell("s", Used) || !w.Tell("other", Sparing) {
		t.Error("told too often or too rarely")
	}
	w.at = w.at.Add(24 * time.Hour)
	if !w.Tell("s", Used) {
		t.Error("not told on the next day")
	}
	if w.TakePass("run") {
		t.Error("a pass that nobody gave")
	}
	changed := w.Changed()
	w.Pass()
	select {
	case <-changed:
	default:
		t.Error("nobody who waits hears of a pass")
	}
	if !w.TakePass("run") || w.TakePass("other") || !w.TakePass("run") || !w.HasPass("run") || w.HasPass("other") {
		t.Error("one pass is one run")
	}
}

func BenchmarkPut(b *testing.B) {
	db, err := store.Open(filepath.Join(b.TempDir(), "x.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close(b.Context())
	table := NewTable()
	l := New(Options{Price: func(ref model.Ref) (Price, bool) { return table.Price(ref.Provider, ref.Model) }, Zone: func() *time.Location {
		return time.UTC
	}, Now: time.Now})
	calls := make([]Call, b.N)
	for i := range calls {
		calls[i] = Call{At: time.Unix(1772442000, 0), Model: claude, Session: "s", Usage: model.Usage{Input: 5}}
	}
	b.ResetTimer()
	if err := db.Update(b.Context(), store.Write{Do: func(tx *store.Tx) error { return l.Put(tx, calls) }}); err != nil {
		b.Fatal(err)
	}
}
