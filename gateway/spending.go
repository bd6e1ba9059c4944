package gateway

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	return g.spend.Put(tx, calls)
}

// standing is how the allowance stands.
func (g *Gateway) standing() (s spend.Standing, err error) {
	err = g.store.View(func(tx *store.Tx) error {
		s, err = g.spend.Standing(tx)
		return err
	})
	return s, err
}

// usedUp ends a run that would cost what may not be spent any more.
type usedUp struct{ spend.Standing }

func (e *usedUp) Error() string {
	return fmt.Sprintf("The allowance %s is used up: %s of %s. Nothing more that costs is asked until %s. Raise it with `hearth usage allow`, or let one answer through with `hearth usage allow --once`, and send the message again.",
		e.Period, spend.Money(e.Spent, e.Currency), spend.Money(e.Limit, e.Currency), e.Ends.Format("2 January 15:04"))
}

// explain words failures of runs.
func (g *Gateway) explain(err error, ref model.Ref) (message, kind string) {
	var used *usedUp
	if errors.As(err, &used) {
		return used.Error(), provider.KindUnknown
	}
	return provider.Explain(err, ref)
}

// begin finds the model of a turn within the allowance: near its end the cheap
// model, beyond it only what costs nothing.
func (g *Gateway) begin(ctx context.Context, sel failover.Selection, s failover.Session) (session.Model, error) {
	g.awaitSecrets(ctx)
	pass, st := false, spend.Standing{}
	if g.allowance().Any() {
		var err error
		if st, err = g.standing(); err != nil {
			return session.Model{}, err
		}
		if pass = st.Level == spend.Used && g.spend.TakePass(); !pass && st.Level >= spend.Sparing {
			sel = g.spare(ctx, sel, s, st)
		}
	}
	t, err := g.failover.Begin(ctx, sel, s)
	if err != nil || pass {
		return t, err
	}
	t.Provider = guarded{g, t.Ref, t.Provider}
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

// guarded looks at the allowance before each call of a run.
type guarded struct {
	g     *Gateway
	ref   model.Ref
	inner model.Provider
}

// Stream keeps the promises of model.Provider.
func (p guarded) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	if p.g.allowance().Any() && !p.g.free(p.ref) {
		st, err := p.g.standing()
		if err == nil && st.Level == spend.Used {
			err = &usedUp{st}
		}
		if err != nil {
			return func(yield func(model.Event, error) bool) { yield(model.Event{}, err) }
		}
	}
	return p.inner.Stream(ctx, req)
}
