// Package spend is the ledger of model calls: how many tokens each model,
// account, session and day used, and what that cost at the prices of then. It
// also knows the allowance, and how much of it is left.
//
// It asks no model and stops no run: it is told of calls, in the transaction
// that makes them durable, and says how things stand.
package spend

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Call is one model call, answered or not.
type Call struct {
	At      time.Time
	Model   model.Ref
	Account string
	Session string
	Agent   string
	Usage   model.Usage
	// Sound is how long a sound was that was written down, where a service counts
	// minutes and no tokens.
	Sound  time.Duration
	Failed bool
}

// Nano is a billionth of the currency's unit, so that sums are exact.
type Nano int64

const nanos = 1_000_000_000

// Units is the amount as people write it.
func (n Nano) Units() float64 { return float64(n) / nanos }

// FromUnits is an amount that somebody wrote.
func FromUnits(f float64) Nano { return Nano(math.Round(f * nanos)) }

// Sum is what calls used and cost together.
type Sum struct {
	Calls  int `json:"calls"`
	Failed int `json:"failed,omitempty"`
	model.Usage
	InputCost      Nano `json:"inputCost,omitempty"`
	OutputCost     Nano `json:"outputCost,omitempty"`
	CacheReadCost  Nano `json:"cacheReadCost,omitempty"`
	CacheWriteCost Nano `json:"cacheWriteCost,omitempty"`
	// Unpriced is how many of the calls used tokens whose price nobody knows.
	Unpriced int `json:"unpriced,omitempty"`
}

// Cost is what is known of it.
func (s Sum) Cost() Nano { return s.InputCost + s.OutputCost + s.CacheReadCost + s.CacheWriteCost }

// Add returns both together.
func (s Sum) Add(o Sum) Sum {
	return Sum{
		Calls: s.Calls + o.Calls, Failed: s.Failed + o.Failed, Usage: s.Usage.Add(o.Usage), Unpriced: s.Unpriced + o.Unpriced,
		InputCost: s.InputCost + o.InputCost, OutputCost: s.OutputCost + o.OutputCost,
		CacheReadCost: s.CacheReadCost + o.CacheReadCost, CacheWriteCost: s.CacheWriteCost + o.CacheWriteCost,
	}
}

// Row is what one session used on one day of one model with one account.
type Row struct {
	Day     string    `json:"day"` // 2026-03-02
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Model   model.Ref `json:"model"`
	Account string    `json:"account,omitempty"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Sum
}

// Options of a Ledger.
type Options struct {
	Price     func(ref model.Ref) (Price, bool) // ok is false when nobody knows it
	Allowance func() Allowance
	Zone      func() *time.Location // whose days are counted
	Now       func() time.Time
}

// Ledger is safe for concurrent use.
type Ledger struct {
	o    Options
	rows store.Bucket[Row]
	days store.Bucket[Sum] // the same by day alone, for the allowance

	mu     sync.Mutex
	told   map[string]string // session → the day on which it was told of the allowance
	passes int               // runs that may go on beyond the allowance
	passed map[string]bool   // runs that do; as many as a person allowed
	change chan struct{}     // closed and replaced when somebody should look again
}

// New returns a ledger.
func New(o Options) *Ledger {
	return &Ledger{o: o, rows: store.NewBucket[Row]("spend"), days: store.NewBucket[Sum]("spend-days"), told: map[string]string{},
		passed: map[string]bool{}, change: make(chan struct{})}
}

// dayOf is the day of a moment where the person lives.
func (l *Ledger) dayOf(t time.Time) string { return t.In(l.o.Zone()).Format(time.DateOnly) }

// Put books calls. It may run more than once for one transaction.
func (l *Ledger) Put(tx *store.Tx, calls []Call) error {
	for _, c := range calls {
		if err := l.put(tx, c); err != nil {
			return err
		}
	}
	return nil
}

// sep cannot stand in a name.
const sep = "\x00"

func (l *Ledger) put(tx *store.Tx, c Call) error {
	day := l.dayOf(c.At)
	key := []byte(strings.Join([]string{day, c.Session, c.Model.String(), c.Account}, sep))
	row, ok, err := l.rows.Get(tx, key)
	if err != nil {
		return fmt.Errorf("book a model call: %w", err)
	}
	if !ok {
		row = Row{Day: day, Agent: c.Agent, Session: c.Session, Model: c.Model, Account: c.Account, First: c.At}
	}
	s := l.cost(c)
	row.Sum, row.Last = row.Sum.Add(s), c.At
	if err := l.rows.Put(tx, key, row); err != nil {
		return fmt.Errorf("book a model call: %w", err)
	}
	sum, _, err := l.days.Get(tx, []byte(day))
	if err != nil {
		return fmt.Errorf("book a model call: %w", err)
	}
	return l.days.Put(tx, []byte(day), sum.Add(s))
}

// Cost is what a call costs, as far as its price is known. It books nothing.
func (l *Ledger) Cost(c Call) Nano { return l.cost(c).Cost() }

// cost prices one call. What services report is not trusted to make sense.
func (l *Ledger) cost(c Call) Sum {
	u := model.Usage{Input: sane(c.Usage.Input), Output: sane(c.Usage.Output), CacheRead: sane(c.Usage.CacheRead),
		CacheWrite: sane(c.Usage.CacheWrite)}
	s := Sum{Calls: 1, Usage: u}
	if c.Failed {
		s.Failed = 1
	}
	sound := max(0, min(c.Sound, maxSound))
	if u != (model.Usage{}) {
		sound = 0 // it is in the tokens
	}
	if u == (model.Usage{}) && sound == 0 {
		return s
	}
	p, ok := l.o.Price(c.Model)
	if sound > 0 && ok && !p.Free() && p.Minute == 0 {
		ok = false // a price of tokens says nothing about minutes
	}
	if !ok {
		s.Unpriced = 1
		return s
	}
	s.InputCost, s.OutputCost = p.Input.of(u.Input), p.Output.of(u.Output)
	s.InputCost += Nano(math.Round(float64(p.Minute) * sound.Minutes()))
	s.CacheReadCost, s.CacheWriteCost = p.CacheRead.of(u.CacheRead), p.CacheWrite.of(u.CacheWrite)
	return s
}

// maxTokens of one call: more is a mistake of the service (F-PROV-15).
const maxTokens = 100_000_000

// maxSound of one call, for the same reason.
const maxSound = 24 * time.Hour

func sane(n int) int { return max(0, min(n, maxTokens)) }

// Query chooses rows; empty fields choose all.
type Query struct {
	From, To string // days, both included
	Session  string
	Agent    string
}

// Rows lists what fits, the oldest day first.
func (l *Ledger) Rows(tx *store.Tx, q Query) (out []Row, err error) {
	r := store.Range{}
	if q.From != "" {
		r.After = []byte(q.From)
	}
	if q.To != "" {
		r.Before = []byte(q.To + "\x01")
	}
	for row, err := range l.rows.Scan(tx, r) {
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		v := row.Value
		if q.Session != "" && v.Session != q.Session || q.Agent != "" && v.Agent != q.Agent {
			continue
		}
		out = append(out, v)
	}
	return out, nil
}

// Group is rows that have something in common.
type Group struct {
	Name        string
	First, Last time.Time
	Sum
}

// By adds rows up, each group at the place of its first row.
func By(rows []Row, name func(Row) string) []Group {
	at := map[string]int{}
	var out []Group
	for _, r := range rows {
		n := name(r)
		i, ok := at[n]
		if !ok {
			i = len(out)
			at[n] = i
			out = append(out, Group{Name: n, First: r.First})
		}
		out[i].Sum = out[i].Sum.Add(r.Sum)
		if r.Last.After(out[i].Last) {
			out[i].Last = r.Last
		}
	}
	return out
}

// Dearest sorts groups by what they cost, then by what they used.
func Dearest(groups []Group) []Group {
	slices.SortStableFunc(groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(y.Cost(), x.Cost()), cmp.Compare(y.Total(), x.Total()), strings.Compare(x.Name, y.Name))
	})
	return groups
}

// Total adds all rows up.
func Total(rows []Row) (s Sum) {
	for _, r := range rows {
		s = s.Add(r.Sum)
	}
	return s
}
