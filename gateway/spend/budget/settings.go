package budget

import (
	"context"
	"log/slog"

	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Parts are what a Budget of the settings stands on; all of them.
type Parts struct {
	DB       *store.DB
	Settings *config.File // hearth.allowance, and what models cost
	Models   *provider.Registry
	Clock    *clock.Clock
	Idle     func(ctx context.Context) (resume func()) // as in Options
	Logger   *slog.Logger
}

// Open returns the budget of the settings, which it follows.
func Open(p Parts) *Budget {
	prices := tariff{p.Settings, p.Models, spend.NewTable()}
	b := New(Options{
		DB: p.DB, Allowance: prices.allowance, Price: prices.price, Cheap: prices.cheap, Idle: p.Idle, Now: p.Clock.Now, Logger: p.Logger,
		Ledger: spend.New(spend.Options{Price: prices.price, Allowance: prices.allowance, Zone: p.Clock.Zone, Now: p.Clock.Now}),
		Resolve: func(ctx context.Context, ref model.Ref) (model.Ref, error) {
			c, err := p.Models.Resolve(ctx, ref)
			return c.Ref, err
		},
	})
	p.Settings.Subscribe(nil, func(_, _ config.Config) { b.Look() })
	return b
}

// tariff is what the settings say of money.
type tariff struct {
	settings *config.File
	models   *provider.Registry
	list     spend.Table
}

func (t tariff) allowance() spend.Allowance {
	a := Section.Of(t.settings.Snapshot().Config)
	return spend.Allowance{Daily: spend.FromUnits(a.Daily), Monthly: spend.FromUnits(a.Monthly), Currency: a.Currency}
}

// price is what a person wrote, else the list, else nothing for a model on this
// computer.
func (t tariff) price(ref model.Ref) (spend.Price, bool) {
	c := t.settings.Snapshot().Config
	for _, m := range provider.Section.Of(c).Services[ref.Provider].Models {
		if m.ID == ref.Model && m.Cost != nil {
			return listed(*m.Cost), true
		}
	}
	if p, ok := PricingSection.Of(c)[ref.String()]; ok {
		return listed(p), true
	}
	if ref == guide.Ref() || profile.Origin(t.models.Address(ref.Provider)) == profile.ThisComputer {
		return spend.Price{}, true
	}
	return t.list.Price(ref.Provider, ref.Model)
}

func listed(p provider.Price) spend.Price {
	price := spend.List{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}.Price()
	price.Minute = spend.PerMinute(p.PerMinute)
	return price
}

// cheap is the configured one, or one on this computer.
func (t tariff) cheap() (model.Ref, bool) {
	if name := Section.Of(t.settings.Snapshot().Config).CheapModel; name != "" {
		return t.models.Named(name), true
	}
	for _, e := range t.models.Models() {
		if e.Available && e.Source == provider.SourceLocal {
			return e.Ref, true
		}
	}
	return model.Ref{}, false
}

// Rows is what was spent, by day and by what was asked for.
func (b *Budget) Rows(q spend.Query) (rows []spend.Row, err error) {
	err = b.DB.View(func(tx *store.Tx) error {
		rows, err = b.Ledger.Rows(tx, q)
		return err
	})
	return rows, err
}
