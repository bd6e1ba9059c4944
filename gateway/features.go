package gateway

import (
	"context"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/feature/accounts"
	"github.com/hearth-assistant/hearth/gateway/feature/agents"
	"github.com/hearth-assistant/hearth/gateway/feature/approvals"
	"github.com/hearth-assistant/hearth/gateway/feature/audit"
	"github.com/hearth-assistant/hearth/gateway/feature/backup"
	"github.com/hearth-assistant/hearth/gateway/feature/chat"
	"github.com/hearth-assistant/hearth/gateway/feature/codemode"
	"github.com/hearth-assistant/hearth/gateway/feature/control"
	"github.com/hearth-assistant/hearth/gateway/feature/cron"
	"github.com/hearth-assistant/hearth/gateway/feature/database"
	"github.com/hearth-assistant/hearth/gateway/feature/devices"
	"github.com/hearth-assistant/hearth/gateway/feature/doctor"
	"github.com/hearth-assistant/hearth/gateway/feature/files"
	"github.com/hearth-assistant/hearth/gateway/feature/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/feature/hooks"
	"github.com/hearth-assistant/hearth/gateway/feature/image"
	"github.com/hearth-assistant/hearth/gateway/feature/imports"
	"github.com/hearth-assistant/hearth/gateway/feature/incidents"
	"github.com/hearth-assistant/hearth/gateway/feature/lan"
	"github.com/hearth-assistant/hearth/gateway/feature/mcp"
	"github.com/hearth-assistant/hearth/gateway/feature/memory"
	"github.com/hearth-assistant/hearth/gateway/feature/messaging"
	"github.com/hearth-assistant/hearth/gateway/feature/metrics"
	"github.com/hearth-assistant/hearth/gateway/feature/models"
	"github.com/hearth-assistant/hearth/gateway/feature/move"
	"github.com/hearth-assistant/hearth/gateway/feature/nodes"
	"github.com/hearth-assistant/hearth/gateway/feature/onboarding"
	"github.com/hearth-assistant/hearth/gateway/feature/openaiapi"
	"github.com/hearth-assistant/hearth/gateway/feature/pause"
	"github.com/hearth-assistant/hearth/gateway/feature/prompts"
	"github.com/hearth-assistant/hearth/gateway/feature/push"
	"github.com/hearth-assistant/hearth/gateway/feature/search"
	"github.com/hearth-assistant/hearth/gateway/feature/secrets"
	"github.com/hearth-assistant/hearth/gateway/feature/sessions"
	"github.com/hearth-assistant/hearth/gateway/feature/settings"
	"github.com/hearth-assistant/hearth/gateway/feature/shell"
	"github.com/hearth-assistant/hearth/gateway/feature/skills"
	"github.com/hearth-assistant/hearth/gateway/feature/status"
	"github.com/hearth-assistant/hearth/gateway/feature/subagents"
	"github.com/hearth-assistant/hearth/gateway/feature/tasks"
	"github.com/hearth-assistant/hearth/gateway/feature/telemetry"
	"github.com/hearth-assistant/hearth/gateway/feature/titles"
	"github.com/hearth-assistant/hearth/gateway/feature/tools"
	"github.com/hearth-assistant/hearth/gateway/feature/undo"
	"github.com/hearth-assistant/hearth/gateway/feature/update"
	"github.com/hearth-assistant/hearth/gateway/feature/usage"
	"github.com/hearth-assistant/hearth/gateway/feature/web"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/toolset"
)

// list is the one list of features, in the order in which they start. What each
// needs stands in its Options.
func list(ctx context.Context, gw *Gateway) []host.Entry {
	return append(slices.Concat(
		talkFeatures(gw), modelFeatures(gw), toolFeatures(ctx, gw), memoryFeatures(gw), careFeatures(gw), reachFeatures(ctx, gw),
	), host.Of("tasks", tasks.New, tasks.Options{ // the last: it shows what the others do
		Book: gw.base.tasks, Agents: gw.base.agents, Sessions: gw.talk.sessions, Clients: gw.access.server, Now: gw.base.Now,
	}))
}

// memoryFeatures remember, and let programs ask for it.
func memoryFeatures(gw *Gateway) []host.Entry {
	b, a, g, e, t, r := gw.base, gw.access, gw.guard, gw.engine, gw.talk, gw.runs
	var remembered func(context.Context, protocol.MemorySearchParams) (protocol.MemoryFound, error) // nil: nothing is
	return []host.Entry{
		{Name: "memory", New: func() (host.Feature, error) {
			m := memory.New(memory.Options{
				DB: b.store, Finder: r.finder, Undo: r.undo, Settings: b.config, Agents: b.agents, Contacts: a.contacts, Vectors: e.vectors,
				Gate: g.gate, Scopes: t.scopes, Taint: r.taint, Secrets: &b.redactor, Now: b.Now, Log: b.Logger,
			})
			t.sessions.KeepNotes(m.Notes)
			t.dispatch.SetNotes(m)
			remembered = m.Search
			return m.Feature(), nil
		}},
		{Name: "mcp", New: func() (host.Feature, error) {
			m := mcp.Open(mcp.Options{
				Version: b.Version, Dir: b.Dir, DB: b.store, Settings: b.config, Secrets: b.secrets, Redactor: &b.redactor, Audit: b.audit,
				Gate: g.gate, Env: b.Env, Work: b.work, Now: b.Now, Logger: b.Logger, Execution: r.execution,
				Programs: mcp.Programs{
					Door: a.door, Dispatch: t.dispatch, Sessions: t.sessions, Agents: b.agents, Choice: e.choice, Memory: remembered, Errors: b.errors(),
				},
			})
			r.catalog.Follow(m.Tools)
			return m.Feature(), nil
		}},
	}
}

// careFeatures look after Hearth and what it may do.
func careFeatures(gw *Gateway) []host.Entry {
	b, a, g, t, r, n := gw.base, gw.access, gw.guard, gw.talk, gw.runs, gw.networks
	saved := backup.Options{
		Store: b.store, Dir: b.Dir, Settings: b.config, Agents: b.agents, Secrets: b.secrets, Version: b.Version,
		Home: statedir.Home(b.Env), Clock: b.clock, Now: b.Now, Log: b.Logger,
	}
	return []host.Entry{
		host.Of("database", database.New, database.Options{Store: b.store, Dir: b.Dir, Tasks: b.tasks, Work: b.work,
			Load: t.sessions.Load, Now: b.Now, Log: b.Logger}),
		host.Of("backup", backup.New, saved),
		host.Of("move", move.New, move.Options{
			Dir: b.Dir, Asleep: b.asleep, Pairing: a.pairing, Contents: saved.Whole, Audit: b.audit, Restart: gw.restart, Now: b.Now,
			Log: b.Logger,
		}),
		host.Of("update", update.New, update.Options{
			Store: b.store, Dir: b.Dir, Settings: b.config, Pause: g.pause, Release: b.Release, Version: b.Version,
			Env: b.Env, Audit: b.audit, Work: b.work, Restart: gw.restart, Now: b.Now, Log: b.Logger,
		}),
		host.Of("doctor", doctor.New, doctor.Options{All: b.features.Checks, Found: b.problems.Noted(), Sessions: t.sessions, Index: t.search,
			Store: b.store, Pictures: b.pictures, Deliveries: n.deliverer, Undo: r.undo, Agents: b.agents, Dir: b.Dir, Audit: b.audit, Now: b.Now}),
		host.Of("incidents", incidents.New, incidents.Options{Log: b.incidents, Messages: n.gate, Clock: b.clock, Now: b.Now}),
		{Name: "status", New: func() (host.Feature, error) { return gw.status.Feature(), nil }},
		host.Of("metrics", metrics.New, metrics.Options{Status: gw.status, Door: a.door, Settings: b.config, Budget: gw.engine.budget,
			Networks: t.hub, Clock: b.clock}),
		host.Of("telemetry", telemetry.New, telemetry.Options{Sessions: t.sessions, Deliveries: n.deliverer, Settings: b.config,
			Secrets: b.secrets, Pause: g.pause, Version: b.Version, Now: b.Now, Log: b.Logger}),
		host.Of("audit", audit.New, b.audit),
		host.Of("approvals", approvals.New, approvals.Options{Broker: g.approvals, Settings: b.config, Agents: b.agents, Audit: b.audit,
			Clients: a, Owner: t.owner}),
		host.Of("pause", pause.New, pause.Options{Switch: g.pause, Clock: b.clock}),
		host.Of("undo", undo.New, undo.Options{Log: r.undo, Agents: b.agents, Settings: b.config, Logger: b.Logger}),
		host.Of("secrets", secrets.New, secrets.Options{Secrets: b.secrets, Settings: b.config}),
	}
}

// reachFeatures lead to other machines and people.
func reachFeatures(ctx context.Context, gw *Gateway) []host.Entry {
	b, a, g, e, t, r, n := gw.base, gw.access, gw.guard, gw.engine, gw.talk, gw.runs, gw.networks
	var remote shell.Nodes // nil: there are none
	return []host.Entry{
		{Name: "lan", New: func() (host.Feature, error) {
			n := lan.New(lan.Options{
				Dir: b.Dir, Settings: b.config, Pairing: a.pairing, Audit: b.audit, Port: a.port(), Env: b.Env, Now: b.Now, Log: b.Logger,
			})
			a.server.Reach(n.Remote(), n.Front)
			return n.Feature(), nil
		}},
		host.Of("messaging", messaging.New, messaging.Options{Store: b.store, Agents: b.agents, Audit: b.audit,
			Networks: t.hub, Settings: b.config, Contacts: a.contacts, Messages: n.gate, Deliverer: n.deliverer, Answers: n.answers,
			Files: n.sendfiles, Sessions: t.sessions, Dispatch: t.dispatch, Gate: g.gate, Secrets: &b.redactor, Keys: b.secrets, Now: b.Now,
			Log: b.Logger,
		}),
		{Name: "openaiapi", New: func() (host.Feature, error) {
			return openaiapi.New(openaiapi.Options{
				Server: r.openai, Settings: b.config, Sessions: t.sessions, Dispatch: t.dispatch, Agents: b.agents, Models: e.models,
				Choice: e.choice, Vectors: e.vectors, Budget: e.budget, Pause: g.pause, Code: r.code, Secrets: &b.redactor, Work: b.work,
				Started: b.started, Log: b.Logger,
			}), nil
		}},
		{Name: "hooks", New: func() (host.Feature, error) {
			return hooks.New(hooks.Options{
				Store: b.store, Settings: b.config, Secrets: b.secrets, Agents: b.agents, Sessions: t.sessions, Dispatch: t.dispatch,
				Models: e.choice, Networks: t.hub, Now: b.Now, Log: b.Logger, Inside: hooks.Inside{
					Dir: b.Dir, Env: b.Env, Clock: b.clock, Pause: g.pause, Direct: t.direct, Execution: r.execution, Code: r.code,
					Prompts: r.prompts, Files: r.files, Deliverer: n.deliverer, Answers: n.answers, Clients: a.server,
					Redactor: &b.redactor, Leaving: gw.leaving, Work: b.work,
				},
			})
		}},
		host.Of("devices", devices.New, devices.Options{
			Pairing: a.pairing, Programs: a.clients, Clients: a.server, Audit: b.audit, Secrets: &b.redactor, Now: b.Now,
			Revoked: r.openai.Revoked, Removed: a.removed,
		}),
		{Name: "push", New: func() (host.Feature, error) {
			p, err := push.Open(ctx, push.Options{
				Store: b.store, Secrets: b.secrets.Store(), Redactor: &b.redactor, Devices: a.pairing, Clients: a.server, Sessions: t.sessions,
				Web: publicweb.New(b.config), Now: b.Now, Log: b.Logger,
			})
			if err != nil {
				return host.Feature{}, err
			}
			a.away = p
			return p.Feature(), nil
		}},
		{Name: "nodes", New: func() (host.Feature, error) {
			n, err := nodes.Open(ctx, nodes.Options{
				Store: b.store, Settings: b.config, Audit: b.audit, Server: a.server, Pairing: a.pairing, Gate: g.gate, Direct: t.direct,
				Pictures: b.pictures, Secrets: &b.redactor, Work: b.work, Now: b.Now, Log: b.Logger,
			})
			if err != nil {
				return host.Feature{}, err
			}
			remote = n
			return n.Feature(), nil
		}},
		{Name: "shell", New: func() (host.Feature, error) {
			return shell.New(shell.Options{
				Execution: r.execution, Workspaces: &r.workspaces, Skills: r.skills, Gate: g.gate, Settings: b.config, Sessions: t.sessions,
				Undo: r.undo, Nodes: remote, Work: b.work, Log: b.Logger,
			}), nil
		}},
	}
}

// talkFeatures are about conversations.
func talkFeatures(gw *Gateway) []host.Entry {
	b, e, t, r := gw.base, gw.engine, gw.talk, gw.runs
	return []host.Entry{
		host.Of("agents", agents.New, agents.Options{Agents: b.agents, Settings: b.config, Models: e.models, Files: r.files, Undo: r.undo,
			Sessions: t.sessions, Children: t.spawns, StateDir: string(b.Dir), Logger: b.Logger}),
		host.Of("chat", chat.New, chat.Options{Dispatch: t.dispatch, Desk: t.dispatch.Desk(), Sessions: t.sessions, Agents: b.agents,
			Choice: e.choice, Models: e.catalog, Children: t.spawns, Media: b.pictures}),
		host.Of("sessions", sessions.New, sessions.Options{
			Sessions: t.sessions, Dispatch: t.dispatch, Agents: b.agents, Settings: b.config, Choice: e.choice, Models: e.models,
			DB: b.store, Ledger: e.budget.Ledger, Secrets: &b.redactor, Prompt: r.prompts, Problems: &b.problems, Children: t.spawns,
			Clock: b.clock, Version: b.Version, Started: b.started, Now: b.Now,
		}),
		host.Of("subagents", subagents.New, subagents.Options{Book: t.spawns, Sessions: t.sessions, Dispatch: t.dispatch,
			Choice: e.choice, Settings: b.config, Tasks: b.tasks, Now: b.Now}),
		host.Of("titles", titles.New, titles.Options{Sessions: t.sessions, Models: e.models, Choice: e.choice, Price: e.budget.Price,
			Log: b.Logger}),
		host.Of("prompts", prompts.New, prompts.Options{Settings: b.config}),
		host.Of("search", search.New, search.Options{Index: t.search, Agents: b.agents}),
	}
}

// modelFeatures are about models, what they cost, and the first steps to one.
func modelFeatures(gw *Gateway) []host.Entry {
	b, a, e, t, r := gw.base, gw.access, gw.engine, gw.talk, gw.runs
	return []host.Entry{
		host.Of("models", models.New, models.Options{Settings: b.config, Models: e.models, Choice: e.choice, Catalog: e.catalog,
			Accounts: e.accounts, Turns: e.turns, Trials: e.trials, Downloads: e.downloads, Sessions: t.sessions, Clock: b.clock}),
		host.Of("accounts", accounts.New, accounts.Options{Adding: e.adding, Accounts: e.accounts, Settings: b.config, Work: b.work,
			Env: b.Env, Now: b.Now}),
		host.Of("usage", usage.New, usage.Options{Budget: e.budget, Sessions: t.sessions, Settings: b.config, Clock: b.clock}),
		{Name: "onboarding", New: func() (host.Feature, error) {
			return onboarding.New(b.work.Context(), onboarding.Options{
				Setup: e.setup, Sessions: t.sessions, Settings: b.config, Clients: a.server, Work: b.work,
				Engine: onboarding.Engine{
					Adding: e.adding, Models: e.models, Detector: e.detector, Trials: e.trials, Downloads: e.downloads, Budget: e.budget,
				},
				Assistant: onboarding.Assistant{Agents: b.agents, Files: r.files, Undo: r.undo},
				AtLogin:   b.AtLogin, Env: b.Env, Now: b.Now, Logger: b.Logger,
			})
		}},
		host.Of("settings", settings.New, settings.Options{Settings: b.config, Secrets: b.secrets, Clients: a.server, Now: b.Now,
			Logger: b.Logger}),
	}
}

// toolFeatures are those that are tools more than anything else.
func toolFeatures(ctx context.Context, gw *Gateway) []host.Entry {
	b, a, g, e, t, r, n := gw.base, gw.access, gw.guard, gw.engine, gw.talk, gw.runs, gw.networks
	pages := publicweb.New(b.config) // for addresses that models choose
	var beats cron.Monitor           // nil: there are no heartbeats
	var jobs cron.Adder              // makes jobs once there are some
	return []host.Entry{
		host.Of("files", files.New, files.Options{Finder: r.finder, Agents: b.agents, Models: e.models, Skills: r.skills, Gate: g.gate,
			Taint: r.taint, Undo: r.undo, Reader: b.reader()}),
		host.Of("web", web.New, web.Options{Settings: b.config, Keys: b.secrets, Web: pages, Gate: g.gate, Secrets: &b.redactor,
			Reader: isolate.Beside(b.Guardian, ReaderArg), Now: b.Now}),
		host.Of("image", image.New, image.Options{Settings: b.config, Models: e.models, Choice: e.choice, Turns: e.turns,
			Sessions: t.sessions, Files: r.finder, Web: pages, Secrets: &b.redactor}),
		host.Of("control", control.New, control.Options{Settings: b.config, Models: e.models, Turns: e.turns, Gate: g.gate,
			Sessions: t.sessions, Work: b.work, Env: b.Env, Restart: gw.restart}),
		host.Of("tools", tools.New, tools.Options{Tools: r.catalog, Gate: g.gate, Direct: t.direct, Agents: b.agents, Settings: b.config}),
		{Name: "codemode", New: func() (host.Feature, error) {
			c, err := codemode.Open(ctx, codemode.Options{
				Dir: b.Dir, Env: b.Env, Store: b.store, Settings: b.config, Sessions: t.sessions, Tools: r.catalog, Gate: g.gate,
				Direct: t.direct, Brought: r.openai, Clients: a.server, Secrets: &b.redactor, Now: b.Now, Log: b.Logger,
			})
			if err != nil {
				return host.Feature{}, err
			}
			r.code = c
			r.tools.SetSurface(c)
			return c.Feature(), nil
		}},
		{Name: "heartbeat", New: func() (host.Feature, error) {
			h := heartbeat.New(heartbeat.Options{Settings: b.config, Agents: b.agents, Files: r.files, Sessions: t.sessions,
				Dispatch: t.dispatch, Clients: a.server, Logger: b.Logger, Now: b.Now})
			beats = h
			return h.Feature(), nil
		}},
		{Name: "cron", New: func() (host.Feature, error) { // after code mode, whose programs it runs
			return cron.Open(cron.Options{
				DB: b.store, Settings: b.config, Agents: b.agents, Sessions: t.sessions, Models: e.choice, Answers: n.answers,
				Deliverer: n.deliverer, Channels: t.hub, Budget: e.budget, Pause: g.pause, Gate: g.gate, Taint: r.taint, Programs: r.code,
				Direct: t.direct, Execution: r.execution, Clients: a.server, Web: pages, Keys: b.secrets, Clock: b.clock, Work: b.work,
				Tasks: b.tasks, Owner: t.owner, Monitor: beats, Adder: &jobs, Now: b.Now, Booted: b.Booted, Logger: b.Logger,
			})
		}},
		host.Of("skills", skills.New, skills.Options{Catalog: r.skills, Agents: b.agents, Settings: b.config, Secrets: b.secrets, Audit: b.audit,
			Tasks: b.tasks, Env: b.Env, Logger: b.Logger,
			Calls:  skills.Calls{Dispatch: t.dispatch, Gate: g.gate, Tools: r.catalog},
			Events: skills.Events{Life: b.work.Context(), Clients: a.server, Health: gw.status.Health}}),
		host.Of("imports", imports.New, imports.Options{DB: b.store, Dir: b.Dir, Settings: b.config, Secrets: b.secrets, Sessions: t.sessions,
			Agents: b.agents, Accounts: e.adding, Contacts: a.contacts, Networks: t.hub.Kinds, Skills: r.skills.Library, Files: r.finder,
			Undo: r.undo, Jobs: &jobs, Tasks: b.tasks, Audit: b.audit, Work: b.work, Env: b.Env, Now: b.Now, Log: b.Logger}),
	}
}

// openFeatures makes the features and gives clients and people what they add.
func openFeatures(ctx context.Context, gw *Gateway) error {
	b, a, g, e, t, r, n := gw.base, gw.access, gw.guard, gw.engine, gw.talk, gw.runs, gw.networks
	gw.status = status.New(status.Options{
		Version: b.Version, Started: b.started, Dir: b.Dir, Settings: b.config, Store: b.store, Sessions: t.sessions, Agents: b.agents,
		Models: e.models, Choice: e.choice, Server: a.server, Outbox: n.outbox, Broker: g.approvals, Pause: g.pause, Pairing: a.pairing,
		Log: b.Logger, URL: a.url(), Now: b.Now, Problems: &b.problems,
	})
	gw.ends.Add("the features", b.features.Close)
	b.features.Add(ctx, list(ctx, gw))
	t.sessions.Equip(session.Engine{
		Tools: r.tools, Prompt: r.prompts, Gate: &turn.Waits{Models: e.turns, Setup: e.setup, Pasted: t.dispatch},
		Observer: toolset.Observer{
			Code: r.code, Taint: r.taint, Children: t.spawns, Processes: r.execution.Processes, Incidents: b.incidents,
		}, Suspended: r.code,
	})
	t.dispatch.SetCommands(command.NewSet(b.features.Commands()...))
	if err := r.catalog.Add(b.features.Tools()...); err != nil {
		return err
	}
	a.server.Greet(gw.status.Snapshot)
	handlers, mounts := b.errors().Handlers(b.features.Methods()), b.features.Mounts()
	maps.Copy(mounts, t.hub.Webhooks())
	if b.asleep.Sleeps() {
		handlers, mounts = move.Handlers(handlers), move.Mounts(mounts)
	}
	a.server.Mount(mounts)
	return a.server.Handle(handlers, b.features.Complete())
}
