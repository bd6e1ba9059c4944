package turn

import (
	"context"

	"github.com/hearth-assistant/hearth/internal/random"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/modelcheck"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// trialSession is what tests of models are booked under.
const trialSession = "agent:" + session.DefaultAgent + ":model-test"

// Trials ask a model a few questions, outside of any session.
type Trials struct {
	models *Models
	*modelcheck.Checks
}

// OpenTrials reads what is known of models.
func OpenTrials(ctx context.Context, db *store.DB, m *Models) (*Trials, error) {
	t, err := modelcheck.Open(ctx, modelcheck.Options{
		DB: db, Models: m.o.Models, Begin: m.failover.Begin, May: m.o.Guard.May, Words: m.Words, Free: m.budget().Free, Book: m.budget().Spent,
		Session: trialSession, Agent: session.DefaultAgent, Draw: random.Below, Now: m.o.Now, Logger: m.o.Logger,
	})
	return &Trials{m, t}, err
}

// Try waits for the keys of the settings first.
func (t *Trials) Try(ctx context.Context, ask modelcheck.Ask) modelcheck.Result {
	t.models.o.Secrets.Await(ctx)
	return t.Checks.Try(ctx, ask)
}

// Named is the model that a person names for a trial: by its alias or its name,
// else the first one of a service, else the default.
func (t *Trials) Named(name, service string) model.Ref {
	models := t.models.o.Models
	if name != "" {
		if full, ok := t.models.o.Choice.ByAlias(name); ok {
			return models.Named(full)
		}
		return models.Named(name)
	}
	if ref, ok := models.First(service); ok && service != "" {
		return ref
	}
	ref, _ := models.Default()
	return ref
}
