package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/attachment/fetch"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/owner"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/search"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/sections"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/toolset"
)

// open brings the rooms up in order. The store comes first: its lock keeps a
// second gateway from everything else.
func (g *Gateway) open(ctx context.Context) error {
	if err := g.opts.Dir.Ensure(); err != nil {
		return &StartError{What: "Hearth cannot use its folder", Err: err, Fix: "Give it a folder that you may write, with HEARTH_HOME"}
	}
	if err := g.checkFolder(); err != nil {
		return err
	}
	if err := g.openStore(); err != nil {
		return err
	}
	g.incidents = incident.New(ctx, g.store, g.opts.Now)
	if err := g.openLog(); err != nil {
		return err
	}
	if err := g.openConfig(); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{g.listen, g.openAudit, g.openPairing, g.openClients, g.openModels} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	g.openChannels()
	g.openDelivery()
	if err := g.recall(ctx); err != nil {
		return err
	}
	if err := g.openSessions(ctx); err != nil {
		return err
	}
	g.openGate()
	if err := g.openFeatures(ctx); err != nil {
		return err
	}
	rep, err := g.session.Recover(ctx)
	if err != nil {
		return &StartError{What: "The messages of the last run could not be taken up", Err: err, Fix: "Nothing was lost. Keep a copy of " +
			g.opts.Dir.Store() + " and report this"}
	}
	if rep != (session.Recovery{}) {
		g.log.Info("took up what was left of the last run", "requeued", rep.Requeued, "interrupted", rep.Interrupted, "failed", rep.Failed)
	}
	return nil
}

func (g *Gateway) openLog() (err error) {
	g.logs, err = logfile.Open(g.opts.Dir.Log(), logfile.Options{Level: &g.level, Redact: g.redactor.Text, Now: g.opts.Now})
	if err != nil {
		return &StartError{What: "The log file cannot be written", Err: err, Fix: "Check the folder's permissions and free space"}
	}
	g.log = slog.New(slog.NewMultiHandler(g.logs.Handler(), redact.Handler(g.opts.Logger.Handler(), &g.redactor)))
	return nil
}

func (g *Gateway) openStore() error {
	db, err := store.Open(g.opts.Dir.Store(), store.Options{OnDamage: func(err error) { g.damaged <- err }})
	switch {
	case errors.Is(err, store.ErrLocked):
		owner := ""
		if r, rerr := g.opts.Dir.ReadRuntime(); rerr == nil {
			owner = fmt.Sprintf(" (process %d at %s)", r.PID, r.URL)
		}
		return &StartError{What: "Hearth is already running on " + string(g.opts.Dir) + owner, Err: err, Fix: "Use it with `hearth open`, " +
			"stop it first, or give this one another HEARTH_HOME"}
	case errors.Is(err, store.ErrDamaged):
		return err // New says it
	case err != nil:
		return &StartError{What: "Hearth's store cannot be opened", Err: err, Fix: "Nothing was changed. Restore " + g.opts.Dir.Store() +
			" from a backup, or move it away to start empty"}
	}
	g.store = db
	// Whoever wrote it is dead, and its number and port may be somebody else's.
	g.opts.Dir.ForgetRuntime()
	g.opts.Dir.Sweep(g.opts.Now())
	return nil
}

func (g *Gateway) openConfig() error {
	f, err := config.Open(cmp.Or(g.opts.ConfigPath, g.opts.Dir.Config(g.opts.Env)), config.Options{
		Logger: g.log, Now: g.opts.Now, Sections: sections.All(), Networks: Networks(),
		Env: func(name string) (string, bool) { v := g.opts.Env(name); return v, v != "" },
	})
	if err != nil {
		return &StartError{What: "The settings cannot be used", Err: err, Fix: "Mend the file as said, then start again"}
	}
	g.config = f
	g.features = host.New(host.Options{Enabled: f.Snapshot().Config.FeatureOn, Logger: g.log})
	g.problems.Follow(g.features.Problems)
	g.problems.Follow(f.Problems)
	g.clock = clock.New(f, g.opts.Env, g.opts.Now)
	g.agents = agents.NewDirectory(f, statedir.Home(g.opts.Env))
	g.secrets = lookup.Open(lookup.Options{
		Settings: f, Dir: string(g.opts.Dir), Env: g.opts.Env, Names: provider.KeyNames(), Redactor: &g.redactor, Work: g.work, Now: g.opts.Now,
		Logger: g.log,
	})
	g.level.Set(f.Snapshot().Config.Logging.SlogLevel())
	f.Subscribe(nil, func(_, next config.Config) { g.level.Set(next.Logging.SlogLevel()) })
	return nil
}

func (g *Gateway) openPairing(ctx context.Context) error {
	shared, now, err := token.Open(ctx, g.opts.Dir.Token(), g.config, g.secrets, g.log)
	if err != nil {
		return &StartError{What: "The gateway's access token cannot be used", Err: err, Fix: "Remove the file to get a new one"}
	}
	key, err := statedir.Random(g.opts.Dir.DeviceKey(), 32)
	if err != nil {
		return &StartError{What: "The key of paired devices cannot be used", Err: err, Fix: "Remove the file; paired browsers then need a new " +
			"link from `hearth open`"}
	}
	raw, err := hex.DecodeString(key)
	if err != nil {
		return &StartError{What: "The key of paired devices is damaged", Err: err, Fix: "Remove " + g.opts.Dir.DeviceKey() + "; paired " +
			"browsers then need a new link from `hearth open`"}
	}
	if err := g.openRemoved(); err != nil {
		return err
	}
	deviceID := func(d pairing.Device) string { return d.ID }
	g.pairing, err = pairing.New(ctx, pairing.Options{
		SharedToken: now, ServerKey: raw, Store: store.NewShelf(g.store, "devices", deviceID),
		Removed: store.NewBesideShelf(g.removed, "devices", deviceID), Now: g.opts.Now, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The paired devices could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	shared.Follow(g.pairing.SetSharedToken, g.log)
	return nil
}

func (g *Gateway) openSessions(ctx context.Context) error {
	if err := g.openGuard(ctx); err != nil {
		return err
	}
	err := g.openTools()
	if err != nil {
		return err
	}
	g.sendfiles = &sendfile.Files{Finder: g.finder(), Agents: g.agents, Limits: g.channels, Secrets: &g.redactor}
	g.channels.Open(ctx, g.sendfiles.Open)
	g.server, err = server.New(server.Options{
		Auth: admission.Audited{Registry: g.pairing, Log: g.audit}, Pages: g.opts.Pages, Version: g.opts.Version,
		BootID: g.bootID, Logger: g.log, Now: g.opts.Now, Ready: g.ready,
		Broken:  g.incidents.Broke,
		Leaving: g.leaving,
		Origins: func() []string { return g.config.Snapshot().Config.Gateway.ControlUI.AllowedOrigins },
	})
	if err != nil {
		return err
	}
	g.spawns = spawn.New(spawn.Options{
		DB: g.store, Now: g.opts.Now, Logger: g.log, Limits: func() spawn.Limits { return rules.Subagents(g.config.Snapshot().Config) },
	})
	g.session = session.NewManager(ctx, session.Options{
		DB: g.store, Logger: g.log, Models: g.turns, Redact: g.redactor.Text, Picture: g.pictures().Image,
		Settings: rules.Sessions{Settings: g.config},
		Now:      g.opts.Now, NewID: newUUID, Epoch: g.bootID, MaxRuns: g.config.Snapshot().Config.Agents.Defaults.MaxConcurrent,
	})
	g.answers = answers.NewNetworks(answers.Options{
		Store: g.store, Sessions: g.session, Settings: g.config, Agents: g.agents, Channels: g.channels, Deliverer: g.deliverer,
		Files:    g.sendfiles,
		Redactor: &g.redactor, Work: g.work, Now: g.opts.Now, Logger: g.log,
	})
	g.arrivals = fetch.New(fetch.Options{
		Dir: g.opts.Dir, Store: g.store, Networks: g.channels, Agents: g.agents, Pictures: g.pictures(), Notices: g.answers,
		Deliverer: g.deliverer, Work: g.work,
	})
	clients := answers.NewClients(g.server, g.store, g.touched, g.log)
	g.outbox = clients.Outbox()
	for _, s := range []session.Subscriber{clients.Subscriber(), {Outbox: spawn.Ends{Book: g.spawns}}, g.answers.Subscriber()} {
		g.session.Subscribe(s)
	}
	g.owner = owner.New(g.session, g.channels, g.work, g.log)
	g.taint = taint.New(taint.Options{Sessions: g.session, Owner: g.owner, Audit: g.audit, Work: g.work, Logger: g.log})
	g.scopes = scope.New(g.agents, g.session)
	g.direct = gate.NewDirect(g.scopes, g.agents, g.session, g.models)
	g.toolset = toolset.New(toolset.Options{
		Catalog: g.tools, Scopes: g.scopes, Gate: g.toolGate, Agents: g.agents, Programs: g.hook, Taint: g.taint, Incidents: g.incidents,
		Work: g.work, Logger: g.log,
	})
	program, _ := os.Executable() // without it there is no manual to point to
	g.prompts = systemprompt.New(systemprompt.Options{
		Settings: g.config, Agents: g.agents, Sessions: g.session, Scopes: g.scopes, Direct: g.direct, Files: g.files, Workspaces: &g.workspaces,
		Clock: g.clock, Skills: g.skills, Programs: g.hook, Tools: g.toolset, Execution: g.execution, Catalog: g.tools, Gate: g.toolGate,
		Silence: answers.SilenceAdvice,
		Program: program, Version: g.opts.Version, Logger: g.log,
	})
	g.dispatch = dispatch.New(dispatch.Options{
		Settings: g.config, Agents: g.agents, Sessions: g.session, Models: g.choice, Registry: g.models, Contacts: g.contacts,
		Media:     g.pictures(),
		Incidents: g.incidents, Secrets: &g.redactor, Scopes: g.scopes, Logger: g.log, Now: g.opts.Now,
	})
	g.search = search.New(search.Options{DB: g.store, Source: g.session.Searchable(), Logger: g.log})
	return nil
}
