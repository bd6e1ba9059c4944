package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func (g *Gateway) openSpend() {
	g.prices = spend.NewTable()
	g.spend = spend.New(spend.Options{Price: g.priceOf, Allowance: g.allowance, Zone: g.zone, Now: g.opts.Now})
	if _, err := g.standing(); err != nil {
		g.log.Warn("the ledger of model calls could not be read", "err", err)
	}
}

// zone is where the person lives.
func (g *Gateway) zone() *time.Location {
	if name := g.config.Snapshot().Config.Agents.Defaults.UserTimezone; name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			return z
		}
	}
	return time.Local
}

func (g *Gateway) allowance() spend.Allowance {
	a := g.config.Snapshot().Config.Hearth.Allowance
	return spend.Allowance{Daily: spend.FromUnits(a.Daily), Monthly: spend.FromUnits(a.Monthly), Currency: a.Currency}
}

// priceOf is what a person wrote, else the list, else nothing for a model on
// this computer.
func (g *Gateway) priceOf(ref model.Ref) (spend.Price, bool) {
	c := g.config.Snapshot().Config
	for _, m := range c.Models.Providers[ref.Provider].Models {
		if m.ID == ref.Model && m.Cost != nil {
			return listed(*m.Cost), true
		}
	}
	if p, ok := c.Models.Pricing[ref.String()]; ok {
		return listed(p), true
	}
	if ref == guide.Ref() || profile.Origin(g.models.Address(ref.Provider)) == profile.ThisComputer {
		return spend.Price{}, true
	}
	return g.prices.Price(ref.Provider, ref.Model)
}

func listed(p config.Price) spend.Price {
	return spend.List{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}.Price()
}

// bookCalls is the session's hook: it books what was asked, answered or not.
func (g *Gateway) bookCalls(tx *store.Tx, key string, attempts []failover.Attempt) error {
	var calls []spend.Call
	for _, a := range attempts {
		if a.Skipped {
			continue
		}
		calls = append(calls, spend.Call{
			At: a.At, Model: a.Ref, Account: a.Account, Session: key, Agent: session.AgentOf(key), Usage: a.Usage, Failed: a.Reason != "",
		})
	}
	if err := g.spend.Put(tx, calls); err != nil || !g.allowance().Any() {
		return err
	}
	_, err := g.standingIn(tx)
	return err
}

// standing is how the allowance stands.
func (g *Gateway) standing() (s spend.Standing, err error) {
	err = g.store.View(func(tx *store.Tx) error {
		s, err = g.standingIn(tx)
		return err
	})
	return s, err
}

func (g *Gateway) standingIn(tx *store.Tx) (spend.Standing, error) {
	s, err := g.spend.Standing(tx)
	if err == nil {
		g.poor.Store(s.Level == spend.Used)
	}
	return s, err
}

// begin finds the model of a turn within the allowance: near its end the cheap
// model, beyond it only what costs nothing.
func (g *Gateway) begin(ctx context.Context, sel failover.Selection, s failover.Session) (session.Model, error) {
	g.awaitSecrets(ctx)
	pay := payerOf(s)
	sel = g.asAgent(sel)
	if g.allowance().Any() {
		st, err := g.standing()
		if err != nil {
			return session.Model{}, err
		}
		if st.Level >= spend.Sparing && !g.spend.HasPass(pay.run) {
			sel = g.spare(ctx, sel, s, st)
		}
	}
	t, err := g.failover.Begin(ctx, sel, s)
	if err != nil {
		return t, err
	}
	t.Provider = paid{t.Provider, pay}
	return t, nil
}

// spare chooses the cheap model in the place of one that costs, and tells the
// person once.
func (g *Gateway) spare(ctx context.Context, sel failover.Selection, s failover.Session, st spend.Standing) failover.Selection {
	c, err := g.models.Resolve(ctx, sel.Ref)
	if err != nil {
		return sel
	}
	if g.free(c.Ref) {
		sel.Ref, sel.Source = c.Ref, failover.SourceUser // strict: no fallback that costs
		return sel
	}
	cheap, ok := g.cheapModel()
	if !ok || st.Level == spend.Used && !g.free(cheap) {
		return sel
	}
	if n, ok := s.(interface{ Notice(context.Context, string) }); ok && cheap != c.Ref && g.spend.Tell(sel.Session, spend.Sparing) {
		n.Notice(ctx, fmt.Sprintf("💰 %s of the %s allowed for %s are spent, so %s answers instead of %s. Raise the allowance with `hearth usage allow`.",
			spend.Money(st.Spent, st.Currency), spend.Money(st.Limit, st.Currency), st.Period, cheap, c.Ref))
	}
	sel.Ref, sel.Source = cheap, failover.SourceUser
	return sel
}

func (g *Gateway) free(ref model.Ref) bool {
	p, ok := g.priceOf(ref)
	return ok && p.Free()
}

// cheapModel is the configured one, or one on this computer.
func (g *Gateway) cheapModel() (model.Ref, bool) {
	if name := g.config.Snapshot().Config.Hearth.Allowance.CheapModel; name != "" {
		return g.models.Named(name), true
	}
	for _, e := range g.models.Models() {
		if e.Available && e.Source == provider.SourceLocal {
			return e.Ref, true
		}
	}
	return model.Ref{}, false
}
