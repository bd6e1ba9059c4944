package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
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
	"github.com/hearth-assistant/hearth/gateway/startup"
)

// engine is what answers: models, the accounts at their services, what stands in
// front of them, and what is known of them.
type engine struct {
	setup     *setup.Book // the first steps
	accounts  *accounts.Accounts
	adding    *accounts.Adding // of accounts
	models    *provider.Registry
	detector  *provider.Detector // looks for servers of models
	choice    *choice.Chooser    // which models may be chosen, and are meant
	catalog   *catalog.Catalog   // the list of them
	budget    *budget.Budget     // keeps calls within the allowance
	guard     *guarded.Guard     // stands in front of every call
	turns     *turn.Models       // what answers the turns of sessions
	vectors   *vectors.Maker
	trials    *turn.Trials // what was found out about models
	downloads *download.Downloads
}

func openEngine(ctx context.Context, b *base, a *access, g *guard) (e *engine, err error) {
	e = new(engine)
	if e.setup, err = setup.Load(ctx, b.store, func() (bool, error) { return session.Any(b.store) }); err != nil {
		return nil, startup.Cannot("The first steps could not be read", err, startup.RestoreStore)
	}
	if !b.config.Snapshot().Config.FeatureOn("onboarding") {
		e.setup.LetThrough()
	}
	e.accounts, err = accounts.Open(ctx, accounts.Options{DB: b.store, Dir: b.Dir, Settings: b.config, Secrets: b.secrets, Setup: e.setup,
		Env: b.Env, Work: b.work, Now: b.Now, Logger: b.Logger})
	if err != nil {
		return nil, startup.Cannot("The accounts of model services could not be read", err, startup.RestoreStore)
	}
	e.models, e.detector = configured.Open(configured.Options{Settings: b.config, Secrets: b.secrets, Accounts: e.accounts, Setup: e.setup,
		StateDir: string(b.Dir), Env: b.Env, Now: b.Now, Logger: b.Logger})
	e.adding = &accounts.Adding{Accounts: e.accounts, Models: e.models, Detector: e.detector}
	book := e.accounts.Book()
	e.choice = choice.New(choice.Options{Settings: b.config, Models: e.models, Accounts: book, Agents: b.agents, Now: b.Now})
	e.budget = budget.Open(budget.Parts{DB: b.store, Settings: b.config, Models: e.models, Clock: b.clock, Idle: session.Waiting,
		Logger: b.Logger})
	e.catalog = &catalog.Catalog{Settings: b.config, Models: e.models, Choice: e.choice, Accounts: book, Budget: e.budget, Now: b.Now}
	e.guard = &guarded.Guard{Pause: g.pause, Budget: e.budget, Models: e.models, Hide: &b.redactor}
	e.turns = turn.New(turn.Options{
		Settings: b.config, Models: e.models, Choice: e.choice, Agents: b.agents, Accounts: e.accounts, Guard: e.guard, Secrets: b.secrets,
		Env: b.Env, Now: b.Now, Logger: b.Logger,
	})
	e.vectors = vectors.New(vectors.Options{Settings: b.config, Secrets: b.secrets, Models: e.models, Accounts: e.accounts, Guard: e.guard,
		Now: b.Now, Logger: b.Logger})
	if e.trials, err = turn.OpenTrials(ctx, b.store, e.turns); err != nil {
		return nil, startup.Cannot("What is known of your models could not be read", err, startup.RestoreStore)
	}
	e.downloads = download.New(download.Options{
		Models: e.models, Detector: e.detector, Tasks: b.tasks, Work: b.work, Now: b.Now, Tell: func(p protocol.ModelsPullProgress) {
			a.server.Broadcast(server.Broadcast{Event: protocol.EventModelsPull, Payload: p})
		},
	})
	return e, nil
}
