package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/attachment/fetch"
	"github.com/hearth-assistant/hearth/gateway/channel"
	all "github.com/hearth-assistant/hearth/gateway/channel/networks"
	"github.com/hearth-assistant/hearth/gateway/channel/program/child"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/speech"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/internal/random"
)

// Networks are the messaging networks there are.
func Networks() channel.Kinds { return all.List() }

// networks are the ways of answers out, to clients and to messaging networks, and of
// messages in from those.
type networks struct {
	sendfiles *sendfile.Files // that leave by them
	deliverer *outbound.Deliverer
	answers   *answers.Networks
	outbox    *outbound.Outbox // to clients
	gate      *inbound.Gate
}

func openNetworks(ctx context.Context, b *base, a *access, e *engine, t *talk, r *runs) *networks {
	n := new(networks)
	n.sendfiles = &sendfile.Files{Finder: r.finder, Agents: b.agents, Limits: t.hub, Secrets: &b.redactor}
	t.hub.Open(ctx, n.sendfiles.Open, child.Launcher(r.execution, Networks().Own))
	n.deliverer = outbound.NewDeliverer(b.store, outbound.DelivererOptions{
		Channels: t.hub.Find, Limits: t.hub.Limits, Now: b.Now, Rand: random.Float, Logger: b.Logger,
	})
	n.deliverer.Follow(t.owner.Desk().Delivered)
	n.answers = answers.NewNetworks(answers.Options{
		Store: b.store, Sessions: t.sessions, Settings: b.config, Agents: b.agents, Channels: t.hub, Deliverer: n.deliverer,
		Files: n.sendfiles, Redactor: &b.redactor, Work: b.work, Now: b.Now, Logger: b.Logger,
	})
	clients := answers.NewClients(a.server, b.store, func(key string) { // another model may be chosen
		t.search.Touch(key)
		e.budget.Ledger.Wake()
		e.setup.Wake()
	}, b.Logger)
	n.outbox = clients.Outbox()
	for _, s := range []session.Subscriber{clients.Subscriber(), {Outbox: subagent.Ends{Book: t.spawns}}, n.answers.Subscriber()} {
		t.sessions.Subscribe(s)
	}
	files := fetch.New(fetch.Options{
		Dir: b.Dir, Store: b.store, Networks: t.hub, Agents: b.agents, Pictures: b.pictures, Reader: b.reader(),
		Speech: speech.New(speech.Options{Settings: b.config, Models: e.models, Accounts: e.accounts, Guard: e.guard, Execution: r.execution,
			Apart: isolate.Beside(b.Guardian, ReaderArg), Now: b.Now, Logger: b.Logger}),
		Notices: n.answers, Deliverer: n.deliverer, Work: b.work,
	})
	n.gate = inbound.New(inbound.Options{
		DB: b.store, Contacts: a.contacts, Sessions: dispatch.Inbox{Dispatcher: t.dispatch, Files: files}, Policy: t.hub.Policy,
		Questions: t.owner.Desk(), Sent: n.deliverer,
		Settings: func() inbound.Settings {
			return rules.Inbound(b.config.Snapshot().Config, Networks(), b.agents.Answerer)
		},
		IsCommand: t.dispatch.IsCommand, Tell: t.hub.Tell, Broken: b.incidents.Broke, Logger: b.Logger, Now: b.Now,
		Local: b.Now().Location(), NewID: uuid.New,
	})
	return n
}
