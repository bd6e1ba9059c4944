package gateway

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/spend/purse"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func (g *Gateway) openSpend() {
	g.prices = spend.NewTable()
	g.spend = spend.New(spend.Options{Price: g.priceOf, Allowance: g.allowance, Zone: g.clock.Zone, Now: g.opts.Now})
	g.purse = purse.New(purse.Options{
		DB: g.store, Ledger: g.spend, Allowance: g.allowance, Price: g.priceOf, Cheap: g.cheapModel, Idle: session.Waiting, Now: g.opts.Now, Logger: g.log,
		Resolve: func(ctx context.Context, ref model.Ref) (model.Ref, error) {
			c, err := g.models.Resolve(ctx, ref)
			return c.Ref, err
		},
	})
}

// zone is where the person lives.

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
	return g.purse.Book(tx, calls...)
}

// begin finds the model of a turn within the allowance.
func (g *Gateway) begin(ctx context.Context, sel failover.Selection, s failover.Session) (session.Model, error) {
	g.secrets.Await(ctx)
	sel, err := g.purse.Choose(ctx, g.choice.OfAgent(sel), s)
	if err != nil {
		return session.Model{}, err
	}
	t, err := g.failover.Begin(ctx, sel, s)
	if err != nil {
		return t, err
	}
	t.Provider = purse.PaidBy(s, t.Provider)
	return t, nil
}

// explain words failures of runs.
func (g *Gateway) explain(err error, ref model.Ref) (message, kind string) {
	var used *purse.UsedUpError
	if errors.As(err, &used) {
		return used.Error(), provider.KindUnknown
	}
	return provider.Explain(err, ref)
}

// hold is the session's hook: it waits while a message may not be answered.
func (g *Gateway) hold(ctx context.Context, rec session.Run, tell func(ctx context.Context, text string)) {
	if g.dispatch.Pasted(rec.ID) {
		tell(ctx, pastedWords)
	}
	if rec.AwaitModel && g.setup.Await(ctx, func() bool { return g.hasModel(rec) }) != nil {
		return
	}
	if g.pause.Wait(ctx, pause.CallModel) != nil {
		return
	}
	g.purse.Hold(ctx, purse.Message{Run: rec.ID, Session: rec.SessionKey, Tell: tell, Free: func() bool { return g.costsNothing(ctx, rec) }})
}

// costsNothing reports whether a run would be answered by a model that is free.
func (g *Gateway) costsNothing(ctx context.Context, rec session.Run) bool {
	g.secrets.Await(ctx)
	if cheap, ok := g.cheapModel(); ok && g.purse.Free(cheap) {
		return true
	}
	sel, err := g.session.Selection(rec)
	if err != nil {
		return true
	}
	c, err := g.models.Resolve(ctx, sel.Ref)
	return err != nil || g.purse.Free(c.Ref)
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

// touched is told of every change of a session: another model may be chosen.
func (g *Gateway) touched(key string) {
	g.search.Touch(key)
	g.spend.Wake()
	g.setup.Wake()
}

// spendProblems says that messages wait.
func (g *Gateway) spendProblems() []protocol.Problem {
	if words := g.purse.Problem(); words != "" {
		return []protocol.Problem{{Code: "ALLOWANCE", Message: words}}
	}
	return nil
}
