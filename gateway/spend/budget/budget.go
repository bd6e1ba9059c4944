// Package budget keeps calls of models within the allowance: near its end the
// cheap model answers, and beyond it what costs waits until a person allows
// more, a new day or month begins, or a model that costs nothing is chosen. It
// owns the choice, the waiting and the words about both. What was spent is in
// the ledger of package spend, and what may be spent in the settings.
package budget

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Options of a Budget.
type Options struct {
	DB        *store.DB
	Ledger    *spend.Ledger
	Allowance func() spend.Allowance
	Price     func(model.Ref) (spend.Price, bool) // ok is false when nobody knows it
	// Resolve finds the model that a name leads to.
	Resolve func(context.Context, model.Ref) (model.Ref, error)
	// Cheap is the model for the end of the allowance, if there is one.
	Cheap func() (model.Ref, bool)
	// Idle stops the clock of the run that ctx belongs to until resume is called:
	// a person's answer is not the run's work.
	Idle   func(ctx context.Context) (resume func())
	Now    func() time.Time
	Logger *slog.Logger
}

// Budget is safe for concurrent use.
type Budget struct {
	Options
	poor  atomic.Bool  // the allowance is used up, as far as was looked
	waits atomic.Int64 // messages that wait for the allowance
}

// New returns a budget that has looked at the ledger once.
func New(o Options) *Budget {
	b := &Budget{Options: o}
	if _, err := b.Standing(); err != nil {
		o.Logger.Warn("the ledger of model calls could not be read", "err", err)
	}
	return b
}

// Poor reports whether the allowance was used up when anybody last looked.
func (b *Budget) Poor() bool { return b.poor.Load() }

// Free reports whether a model is known to cost nothing.
func (b *Budget) Free(ref model.Ref) bool {
	price, ok := b.Price(ref)
	return ok && price.Free()
}

// Standing is how the allowance stands.
func (b *Budget) Standing() (s spend.Standing, err error) {
	err = b.DB.View(func(tx *store.Tx) error {
		s, err = b.standing(tx)
		return err
	})
	return s, err
}

func (b *Budget) standing(tx *store.Tx) (spend.Standing, error) {
	s, err := b.Ledger.Standing(tx)
	if err == nil {
		b.poor.Store(s.Level == spend.Used)
	}
	return s, err
}

// Look looks anew: what may be spent may be more, or less.
func (b *Budget) Look() {
	if _, err := b.Standing(); err != nil {
		b.Logger.Warn("the ledger of model calls could not be read", "err", err)
	}
	b.Ledger.Wake()
}

// Book writes calls into the ledger. It may run more than once for one
// transaction.
func (b *Budget) Book(tx *store.Tx, calls ...spend.Call) error {
	if err := b.Ledger.Put(tx, calls); err != nil || !b.Allowance().Any() {
		return err
	}
	_, err := b.standing(tx)
	return err
}

// Spent books a call that belongs to no run, also when whoever asked for it has
// gone meanwhile.
func (b *Budget) Spent(ctx context.Context, c spend.Call) error {
	return b.DB.Update(context.WithoutCancel(ctx), store.Write{Do: func(tx *store.Tx) error { return b.Book(tx, c) }})
}

// Choose is the model of a turn within the allowance: near its end the cheap
// model, beyond it only what costs nothing.
func (b *Budget) Choose(ctx context.Context, sel failover.Selection, s failover.Session) (failover.Selection, error) {
	if !b.Allowance().Any() {
		return sel, nil
	}
	st, err := b.Standing()
	if err != nil || st.Level < spend.Sparing || b.Ledger.HasPass(payerOf(s).run) {
		return sel, err
	}
	return b.spare(ctx, sel, s, st), nil
}

// spare chooses the cheap model in the place of one that costs, and tells the
// person once.
func (b *Budget) spare(ctx context.Context, sel failover.Selection, s failover.Session, st spend.Standing) failover.Selection {
	ref, err := b.Resolve(ctx, sel.Ref)
	if err != nil {
		return sel
	}
	if b.Free(ref) {
		sel.Ref, sel.Source = ref, failover.SourceUser // strict: no fallback that costs
		return sel
	}
	cheap, ok := b.Cheap()
	if !ok || st.Level == spend.Used && !b.Free(cheap) {
		return sel
	}
	if n, ok := s.(interface{ Notice(context.Context, string) }); ok && cheap != ref && b.Ledger.Tell(sel.Session, spend.Sparing) {
		n.Notice(ctx, fmt.Sprintf("💰 %s of the %s allowed for %s are spent, so %s answers instead of %s. Raise the allowance with `hearth "+
			"usage allow`.",
			spend.Money(st.Spent, st.Currency), spend.Money(st.Limit, st.Currency), st.Period, cheap, ref))
	}
	sel.Ref, sel.Source = cheap, failover.SourceUser
	return sel
}
