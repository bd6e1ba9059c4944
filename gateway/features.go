package gateway

import (
	"context"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/feature/accounts"
	"github.com/hearth-assistant/hearth/gateway/feature/agents"
	"github.com/hearth-assistant/hearth/gateway/feature/approvals"
	"github.com/hearth-assistant/hearth/gateway/feature/audit"
	"github.com/hearth-assistant/hearth/gateway/feature/chat"
	"github.com/hearth-assistant/hearth/gateway/feature/codemode"
	"github.com/hearth-assistant/hearth/gateway/feature/control"
	"github.com/hearth-assistant/hearth/gateway/feature/cron"
	"github.com/hearth-assistant/hearth/gateway/feature/database"
	"github.com/hearth-assistant/hearth/gateway/feature/devices"
	"github.com/hearth-assistant/hearth/gateway/feature/doctor"
	"github.com/hearth-assistant/hearth/gateway/feature/files"
	"github.com/hearth-assistant/hearth/gateway/feature/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/feature/image"
	"github.com/hearth-assistant/hearth/gateway/feature/incidents"
	"github.com/hearth-assistant/hearth/gateway/feature/lan"
	"github.com/hearth-assistant/hearth/gateway/feature/mcp"
	"github.com/hearth-assistant/hearth/gateway/feature/memory"
	"github.com/hearth-assistant/hearth/gateway/feature/messaging"
	"github.com/hearth-assistant/hearth/gateway/feature/models"
	"github.com/hearth-assistant/hearth/gateway/feature/nodes"
	"github.com/hearth-assistant/hearth/gateway/feature/onboarding"
	"github.com/hearth-assistant/hearth/gateway/feature/openaiapi"
	"github.com/hearth-assistant/hearth/gateway/feature/pause"
	"github.com/hearth-assistant/hearth/gateway/feature/search"
	"github.com/hearth-assistant/hearth/gateway/feature/secrets"
	"github.com/hearth-assistant/hearth/gateway/feature/sessions"
	"github.com/hearth-assistant/hearth/gateway/feature/settings"
	"github.com/hearth-assistant/hearth/gateway/feature/shell"
	"github.com/hearth-assistant/hearth/gateway/feature/skills"
	"github.com/hearth-assistant/hearth/gateway/feature/status"
	"github.com/hearth-assistant/hearth/gateway/feature/subagents"
	"github.com/hearth-assistant/hearth/gateway/feature/tools"
	"github.com/hearth-assistant/hearth/gateway/feature/undo"
	"github.com/hearth-assistant/hearth/gateway/feature/usage"
	"github.com/hearth-assistant/hearth/gateway/feature/web"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// list is the one list of features, in the order in which they start. What each
// needs stands in its Options.
func (g *Gateway) list(ctx context.Context) []host.Entry {
	return slices.Concat(talkFeatures(g), modelFeatures(g), toolFeatures(ctx, g), memoryFeatures(g), careFeatures(g), reachFeatures(ctx, g))
}

// memoryFeatures remember, and let programs ask for it.
func memoryFeatures(g *Gateway) []host.Entry {
	var remembered func(context.Context, protocol.MemorySearchParams) (protocol.MemoryFound, error) // nil: nothing is
	return []host.Entry{
		{Name: "memory", New: func() (host.Feature, error) {
			m := memory.New(memory.Options{
				DB: g.store, Finder: g.finder(), Undo: g.undo, Settings: g.config, Agents: g.agents, Contacts: g.contacts, Vectors: g.vectors,
				Gate: g.toolGate, Scopes: g.scopes, Taint: g.taint, Secrets: &g.redactor, Now: g.opts.Now, Log: g.log,
			})
			g.session.KeepNotes(m.Notes)
			g.dispatch.SetNotes(m)
			remembered = m.Search
			return m.Feature(), nil
		}},
		{Name: "mcp", New: func() (host.Feature, error) {
			m := mcp.Open(mcp.Options{
				Version: g.opts.Version, Dir: g.opts.Dir, DB: g.store, Settings: g.config, Secrets: g.secrets, Redactor: &g.redactor, Audit: g.audit,
				Gate: g.toolGate, Env: g.opts.Env, Work: g.work, Now: g.opts.Now, Logger: g.log,
				Execution: g.execution,
				Programs: mcp.Programs{
					Door: g.door, Dispatch: g.dispatch, Sessions: g.session, Agents: g.agents, Choice: g.choice, Memory: remembered, Errors: g.errors(),
				},
			})
			g.tools.Follow(m.Tools)
			return m.Feature(), nil
		}},
	}
}

// careFeatures look after Hearth and what it may do.
func careFeatures(g *Gateway) []host.Entry {
	return []host.Entry{
		{Name: "database", New: func() (host.Feature, error) {
			return database.New(database.Options{Store: g.store, Dir: g.opts.Dir, Now: g.opts.Now, Log: g.log}), nil
		}},
		{Name: "doctor", New: func() (host.Feature, error) {
			return doctor.New(g.features.Checks, g.problems.Noted()), nil
		}},
		{Name: "incidents", New: func() (host.Feature, error) {
			return incidents.New(incidents.Options{Log: g.incidents, Messages: g.gate, Clock: g.clock, Now: g.opts.Now}), nil
		}},
		{Name: "status", New: func() (host.Feature, error) { return g.status.Feature(), nil }},
		{Name: "audit", New: func() (host.Feature, error) { return audit.New(g.audit), nil }},
		{Name: "approvals", New: func() (host.Feature, error) {
			return approvals.New(approvals.Options{
				Broker: g.approvals, Settings: g.config, Agents: g.agents, Audit: g.audit, Clients: g.server, Owner: g.owner,
			}), nil
		}},
		{Name: "pause", New: func() (host.Feature, error) { return pause.New(pause.Options{Switch: g.pause, Clock: g.clock}), nil }},
		{Name: "undo", New: func() (host.Feature, error) {
			return undo.New(undo.Options{Log: g.undo, Agents: g.agents, Logger: g.log}), nil
		}},
		{Name: "secrets", New: func() (host.Feature, error) {
			return secrets.New(secrets.Options{Secrets: g.secrets, Settings: g.config}), nil
		}},
	}
}

// reachFeatures lead to other machines and people.
func reachFeatures(ctx context.Context, g *Gateway) []host.Entry {
	var remote shell.Nodes // nil: there are none
	return []host.Entry{
		{Name: "lan", New: func() (host.Feature, error) {
			n := lan.New(lan.Options{
				Dir: g.opts.Dir, Settings: g.config, Pairing: g.pairing, Audit: g.audit, Port: g.port(), Env: g.opts.Env, Now: g.opts.Now, Log: g.log,
			})
			g.server.Reach(n.Remote(), n.Front)
			return n.Feature(), nil
		}},
		{Name: "messaging", New: func() (host.Feature, error) {
			return messaging.New(messaging.Options{
				Networks: g.channels, Settings: g.config, Contacts: g.contacts, Messages: g.gate, Deliverer: g.deliverer, Answers: g.answers,
				Files:    g.sendfiles,
				Sessions: g.session, Gate: g.toolGate, Secrets: &g.redactor, Now: g.opts.Now, Log: g.log,
			}), nil
		}},
		{Name: "openaiapi", New: func() (host.Feature, error) {
			return openaiapi.New(openaiapi.Options{
				Hook: g.hook, Settings: g.config, Sessions: g.session, Dispatch: g.dispatch, Agents: g.agents, Models: g.models,
				Choice: g.choice, Vectors: g.vectors, Budget: g.budget, Pause: g.pause, Code: g.code, Secrets: &g.redactor, Work: g.work,
				Started: g.started, Log: g.log,
			}), nil
		}},
		{Name: "devices", New: func() (host.Feature, error) {
			return devices.New(devices.Options{
				Pairing: g.pairing, Programs: g.clients, Clients: g.server, Audit: g.audit, Secrets: &g.redactor, Now: g.opts.Now,
				Revoked: g.hook.Revoked,
			}), nil
		}},
		{Name: "nodes", New: func() (host.Feature, error) {
			n, err := nodes.Open(ctx, nodes.Options{
				Store: g.store, Settings: g.config, Audit: g.audit, Server: g.server, Pairing: g.pairing, Gate: g.toolGate, Direct: g.direct,
				Pictures: g.pictures(), Secrets: &g.redactor, Work: g.work, Now: g.opts.Now, Log: g.log,
			})
			if err != nil {
				return host.Feature{}, err
			}
			remote = n
			return n.Feature(), nil
		}},
		{Name: "shell", New: func() (host.Feature, error) {
			return shell.New(shell.Options{
				Execution: g.execution, Workspaces: &g.workspaces, Skills: g.skills, Gate: g.toolGate, Settings: g.config, Sessions: g.session,
				Undo: g.undo, Nodes: remote, Work: g.work, Log: g.log,
			}), nil
		}},
	}
}

// talkFeatures are about conversations.
func talkFeatures(g *Gateway) []host.Entry {
	return []host.Entry{
		{Name: "agents", New: func() (host.Feature, error) {
			return agents.New(agents.Options{
				Agents: g.agents, Settings: g.config, Models: g.models, Files: g.files, Undo: g.undo, Sessions: g.session, Children: g.spawns,
				StateDir: string(g.opts.Dir), Logger: g.log,
			}), nil
		}},
		{Name: "chat", New: func() (host.Feature, error) {
			return chat.New(chat.Options{
				Dispatch: g.dispatch, Sessions: g.session, Agents: g.agents, Choice: g.choice, Models: g.catalog,
				Children: g.spawns, Media: g.pictures(),
			}), nil
		}},
		{Name: "sessions", New: func() (host.Feature, error) {
			return sessions.New(sessions.Options{
				Sessions: g.session, Dispatch: g.dispatch, Agents: g.agents, Settings: g.config, Choice: g.choice, Models: g.models,
				DB: g.store, Ledger: g.budget.Ledger, Secrets: &g.redactor, Prompt: g.prompts, Problems: &g.problems, Children: g.spawns,
				Clock:   g.clock,
				Version: g.opts.Version, Started: g.started, Now: g.opts.Now,
			}), nil
		}},
		{Name: "subagents", New: func() (host.Feature, error) {
			return subagents.New(subagents.Options{
				Book: g.spawns, Sessions: g.session, Dispatch: g.dispatch, Choice: g.choice, Settings: g.config, Now: g.opts.Now,
			}), nil
		}},
		{Name: "heartbeat", New: func() (host.Feature, error) {
			return heartbeat.New(heartbeat.Options{
				Settings: g.config, Agents: g.agents, Files: g.files, Sessions: g.session, Dispatch: g.dispatch, Pause: g.pause,
				Budget: g.budget, Outbound: g.answers, Clients: g.server, Logger: g.log, Now: g.opts.Now,
			}), nil
		}},
		{Name: "cron", New: func() (host.Feature, error) {
			return cron.Open(cron.Options{
				DB: g.store, Settings: g.config, Agents: g.agents, Sessions: g.session, Models: g.choice, Answers: g.answers, Deliverer: g.deliverer,
				Channels: g.channels, Budget: g.budget, Pause: g.pause, Gate: g.toolGate, Taint: g.taint, Execution: g.execution, Clients: g.server,
				Web: publicweb.New(g.config), Keys: g.secrets, Clock: g.clock, Work: g.work, Now: g.opts.Now, Logger: g.log,
			})
		}},
		{Name: "search", New: func() (host.Feature, error) {
			return search.New(search.Options{Index: g.search, Agents: g.agents}), nil
		}},
	}
}

// modelFeatures are about models, what they cost, and the first steps to one.
func modelFeatures(g *Gateway) []host.Entry {
	return []host.Entry{
		{Name: "models", New: func() (host.Feature, error) {
			return models.New(models.Options{
				Settings: g.config, Models: g.models, Choice: g.choice, Catalog: g.catalog, Accounts: g.accounts, Turns: g.turns, Trials: g.trials,
				Downloads: g.downloads, Sessions: g.session, Clock: g.clock,
			}), nil
		}},
		{Name: "accounts", New: func() (host.Feature, error) {
			return accounts.New(accounts.Options{
				Adding: g.adding, Accounts: g.accounts, Settings: g.config, Work: g.work, Env: g.opts.Env, Now: g.opts.Now,
			}), nil
		}},
		{Name: "usage", New: func() (host.Feature, error) {
			return usage.New(usage.Options{Budget: g.budget, Sessions: g.session, Settings: g.config, Clock: g.clock}), nil
		}},
		{Name: "onboarding", New: func() (host.Feature, error) {
			return onboarding.New(g.work.Context(), onboarding.Options{
				Setup: g.setup, Adding: g.adding, Models: g.models, Detector: g.detector, Trials: g.trials, Downloads: g.downloads, Budget: g.budget,
				Sessions: g.session, Settings: g.config, Agents: g.agents, Files: g.files, Undo: g.undo, Clients: g.server, Work: g.work,
				AtLogin: g.opts.AtLogin, Env: g.opts.Env, Now: g.opts.Now, Logger: g.log,
			})
		}},
		{Name: "settings", New: func() (host.Feature, error) {
			return settings.New(settings.Options{Settings: g.config, Secrets: g.secrets, Clients: g.server, Now: g.opts.Now, Logger: g.log}), nil
		}},
	}
}

// toolFeatures are those that are tools more than anything else.
func toolFeatures(ctx context.Context, g *Gateway) []host.Entry {
	pages := publicweb.New(g.config) // for addresses that models choose
	return []host.Entry{
		{Name: "files", New: func() (host.Feature, error) {
			return files.New(files.Options{
				Finder: g.finder(), Agents: g.agents, Models: g.models, Skills: g.skills, Gate: g.toolGate, Taint: g.taint, Undo: g.undo,
			}), nil
		}},
		{Name: "web", New: func() (host.Feature, error) {
			return web.New(web.Options{
				Settings: g.config, Keys: g.secrets, Web: pages, Gate: g.toolGate, Secrets: &g.redactor,
				Reader: readerOf(g.opts.Guardian), Now: g.opts.Now,
			}), nil
		}},
		{Name: "image", New: func() (host.Feature, error) {
			return image.New(image.Options{
				Settings: g.config, Models: g.models, Choice: g.choice, Turns: g.turns, Sessions: g.session, Files: g.finder(), Web: pages,
				Secrets: &g.redactor,
			}), nil
		}},
		{Name: "control", New: func() (host.Feature, error) {
			return control.New(control.Options{
				Settings: g.config, Models: g.models, Turns: g.turns, Gate: g.toolGate, Sessions: g.session, Work: g.work, Env: g.opts.Env,
				Restart: g.restart,
			}), nil
		}},
		{Name: "tools", New: func() (host.Feature, error) {
			return tools.New(tools.Options{Tools: g.tools, Gate: g.toolGate, Direct: g.direct, Agents: g.agents, Settings: g.config}), nil
		}},
		{Name: "codemode", New: func() (host.Feature, error) {
			c, err := codemode.Open(ctx, codemode.Options{
				Dir: g.opts.Dir, Env: g.opts.Env, Store: g.store, Settings: g.config, Sessions: g.session, Tools: g.tools, Gate: g.toolGate,
				Direct: g.direct, Brought: g.hook, Clients: g.server, Secrets: &g.redactor, Now: g.opts.Now, Log: g.log,
			})
			if err != nil {
				return host.Feature{}, err
			}
			g.code = c
			g.toolset.SetSurface(c)
			return c.Feature(), nil
		}},
		{Name: "skills", New: func() (host.Feature, error) {
			return skills.New(skills.Options{
				Catalog: g.skills, Agents: g.agents, Settings: g.config, Secrets: g.secrets, Audit: g.audit, Env: g.opts.Env,
				Calls:  skills.Calls{Dispatch: g.dispatch, Gate: g.toolGate, Tools: g.tools},
				Events: skills.Events{Life: g.work.Context(), Clients: g.server, Health: g.status.Health},
				Logger: g.log,
			}), nil
		}},
	}
}

// openFeatures makes the features and gives clients and people what they add.
func (g *Gateway) openFeatures(ctx context.Context) error {
	g.status = status.New(status.Options{
		Version: g.opts.Version, Started: g.started, Dir: g.opts.Dir, Settings: g.config, Store: g.store, Sessions: g.session, Agents: g.agents,
		Models: g.models, Choice: g.choice, Server: g.server, Outbox: g.outbox, Broker: g.approvals, Pause: g.pause, Pairing: g.pairing,
		Log: g.log,
		URL: g.URL(), Now: g.opts.Now, Problems: &g.problems,
	})
	g.features.Add(ctx, g.list(ctx))
	g.session.Equip(session.Engine{
		Tools: g.toolset, Prompt: g.prompts, Gate: &turn.Waits{Models: g.turns, Setup: g.setup, Pasted: g.dispatch}, Observer: observer{g},
		Suspended: g.code,
	})
	g.dispatch.SetCommands(command.NewSet(g.features.Commands()...))
	if err := g.tools.Add(g.features.Tools()...); err != nil {
		return err
	}
	g.server.Greet(g.status.Snapshot)
	g.server.Mount(g.channels.Webhooks())
	g.server.Mount(g.features.Mounts())
	return g.server.Handle(g.errors().Handlers(g.features.Methods()), g.features.Complete())
}
