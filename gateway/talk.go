package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/owner"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/search"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// talk is the conversations, who takes part in them, and where messages come in.
type talk struct {
	sessions *session.Manager
	spawns   *subagent.Book // of sub-agents
	scopes   *scope.Scopes  // on whose behalf runs act
	direct   *gate.Direct   // the same, without a run
	search   *search.Index
	hub      *hub.Hub    // accounts on messaging networks
	owner    *owner.Line // to the owner, there
	dispatch *dispatch.Dispatcher
}

func openTalk(ctx context.Context, b *base, a *access, e *engine) *talk {
	t := new(talk)
	t.sessions = session.NewManager(ctx, session.Options{
		DB: b.store, Logger: b.Logger, Models: e.turns, Redact: b.redactor.Text, Picture: b.pictures.Image,
		Settings: rules.Sessions{Settings: b.config}, MaxRuns: rules.RunsSection.Of(b.config.Snapshot().Config).MaxConcurrent, Now: b.Now,
		NewID: uuid.New, Epoch: b.bootID,
	})
	t.spawns = subagent.New(subagent.Options{
		DB: b.store, Now: b.Now, Logger: b.Logger, Limits: func() subagent.Limits { return subagent.LimitsOf(b.config.Snapshot().Config) },
	})
	t.scopes = scope.New(b.agents, t.sessions)
	t.direct = gate.NewDirect(t.scopes, b.agents, t.sessions, e.models)
	t.search = search.New(search.Options{DB: b.store, Source: t.sessions.Searchable(), Logger: b.Logger})
	t.hub = hub.New(hub.Options{Kinds: Networks(), Settings: b.config, Secrets: b.secrets, Store: b.store, Asleep: b.asleep.Sleeps(),
		Now: b.Now, Logger: b.Logger})
	t.owner = owner.New(t.sessions, t.hub, b.store, b.work, b.Now, b.Logger)
	t.dispatch = dispatch.New(dispatch.Options{
		Settings: b.config, Agents: b.agents, Sessions: t.sessions, Models: e.choice, Registry: e.models, Contacts: a.contacts,
		Media: b.pictures, Dir: b.Dir, Reader: b.reader(),
		Incidents: b.incidents, Secrets: &b.redactor, Scopes: t.scopes, Groups: t.hub, Logger: b.Logger, Now: b.Now,
	})
	return t
}
