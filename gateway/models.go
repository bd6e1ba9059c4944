package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/catalog"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/configured"
	"github.com/hearth-assistant/hearth/gateway/provider/download"
	"github.com/hearth-assistant/hearth/gateway/provider/guarded"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/provider/vectors"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// openModels opens what answers: models, the accounts at their services, what
// stands in front of them, and what is known of them.
func (g *Gateway) openModels(ctx context.Context) (err error) {
	if g.setup, err = setup.Load(ctx, g.store, func() (bool, error) { return session.Any(g.store) }); err != nil {
		return &StartError{What: "The first steps could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	if !g.config.Snapshot().Config.FeatureOn("onboarding") {
		g.setup.LetThrough()
	}
	if g.pause, err = pause.Open(g.store, g.opts.Now); err != nil {
		return err
	}
	g.accounts, err = accounts.Open(ctx, accounts.Options{
		DB: g.store, Dir: g.opts.Dir, Settings: g.config, Secrets: g.secrets, Setup: g.setup, Env: g.opts.Env, Work: g.work, Now: g.opts.Now,
		Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The accounts of model services could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	g.models, g.detector = configured.Open(configured.Options{
		Settings: g.config, Secrets: g.secrets, Accounts: g.accounts, Setup: g.setup, StateDir: string(g.opts.Dir), Env: g.opts.Env,
		Now: g.opts.Now, Logger: g.log,
	})
	g.choice = choice.New(choice.Options{Settings: g.config, Models: g.models, Accounts: g.accounts.Book(), Agents: g.agents, Now: g.opts.Now})
	g.budget = budget.Open(budget.Parts{DB: g.store, Settings: g.config, Models: g.models, Clock: g.clock, Idle: session.Waiting,
		Logger: g.log})
	g.catalog = &catalog.Catalog{Settings: g.config, Models: g.models, Choice: g.choice, Accounts: g.accounts.Book(), Budget: g.budget,
		Now: g.opts.Now}
	guard := &guarded.Guard{Pause: g.pause, Budget: g.budget, Models: g.models, Hide: &g.redactor}
	g.turns = turn.New(turn.Options{
		Settings: g.config, Models: g.models, Choice: g.choice, Agents: g.agents, Accounts: g.accounts, Guard: guard, Secrets: g.secrets,
		Env: g.opts.Env, Now: g.opts.Now, Logger: g.log,
	})
	g.adding = &accounts.Adding{Accounts: g.accounts, Models: g.models, Detector: g.detector}
	g.vectors = vectors.New(vectors.Options{
		Settings: g.config, Secrets: g.secrets, Models: g.models, Accounts: g.accounts, Guard: guard, Now: g.opts.Now, Logger: g.log,
	})
	if g.trials, err = turn.OpenTrials(ctx, g.store, g.turns); err != nil {
		return &StartError{What: "What is known of your models could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	g.downloads = download.New(download.Options{Models: g.models, Detector: g.detector, Now: g.opts.Now,
		Tell: func(p protocol.ModelsPullProgress) {
			g.server.Broadcast(server.Broadcast{Event: protocol.EventModelsPull, Payload: p})
		}})
	return nil
}

// touched is told of every change of a session: another model may be chosen.
func (g *Gateway) touched(key string) {
	g.search.Touch(key)
	g.budget.Ledger.Wake()
	g.setup.Wake()
}
