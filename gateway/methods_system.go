package gateway

import (
	"context"
	"os"
	"runtime"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// recentSessions is how many sessions health and status show.
const recentSessions = 5

func (g *Gateway) health(ctx context.Context, _ method.None) (protocol.Health, error) {
	start := g.opts.Now()
	list, err := g.session.List(ctx, protocol.SessionsListParams{Limit: recentSessions})
	if err != nil {
		return protocol.Health{}, err
	}
	sessions := protocol.SessionsHealth{Path: g.store.Path(), Count: g.session.Count(), Recent: []protocol.RecentSession{}}
	for _, s := range list.Sessions {
		sessions.Recent = append(sessions.Recent, protocol.RecentSession{Key: s.Key, UpdatedAt: s.UpdatedAt, Age: list.TS - s.UpdatedAt})
	}
	return protocol.Health{
		OK: true, TS: start.UnixMilli(), DurationMs: g.opts.Now().Sub(start).Milliseconds(),
		Channels: map[string]any{}, ChannelOrder: []string{}, ChannelLabels: map[string]string{},
		DefaultAgentID: g.agents.Book().Default().ID, Sessions: sessions,
		Agents: []protocol.AgentHealth{{AgentID: g.agents.Book().Default().ID, Name: agents.DefaultName, IsDefault: true, Sessions: sessions}},
		Hearth: &protocol.HealthDetail{Problems: g.problems()},
	}, nil
}

// problems lists what a person should know about.
func (g *Gateway) problems() []protocol.Problem {
	out := []protocol.Problem{}
	out = append(out, g.features.Problems()...)
	for _, p := range g.config.Problems() {
		out = append(out, protocol.Problem(p))
	}
	out = append(out, g.storeProblems()...)
	out = append(out, g.hardness...)
	for _, name := range g.skills.Waiting() {
		out = append(out, protocol.Problem{Code: "SKILL", Message: "The skill “" + name + "” is new or was changed, and a command of the assistant's may have done that. It is not used until you have looked at it: in the settings, “Skills & MCP”, or with `hearth skills trust " + name + "`."})
	}
	out = append(out, g.failureProblems()...)
	out = append(out, g.ownerlessProblem()...)
	return append(out, g.channels.Problems()...)
}

func (g *Gateway) status(ctx context.Context, _ method.None) (protocol.Status, error) {
	list, err := g.session.List(ctx, protocol.SessionsListParams{Limit: recentSessions})
	if err != nil {
		return protocol.Status{}, err
	}
	ref, source := g.models.Default()
	active, queued := g.session.Load()
	return protocol.Status{
		RuntimeVersion: g.opts.Version, ChannelSummary: []string{}, QueuedSystemEvents: []string{},
		Heartbeat: protocol.StatusHeartbeat{DefaultAgentID: g.agents.Book().Default().ID, Agents: []map[string]any{g.heartbeatStatus()}},
		Sessions: protocol.StatusSessions{
			Paths: []string{g.store.Path()}, Count: g.session.Count(), Defaults: g.choice.SessionDefaults(),
			Recent: list.Sessions, ByAgent: []map[string]any{},
		},
		Pause: g.pause.Get().Wire(),
		Hearth: protocol.StatusDetail{
			Version: g.opts.Version, PID: os.Getpid(), URL: g.URL(), StateDir: string(g.opts.Dir), ConfigPath: g.config.Path(),
			UptimeMs: g.opts.Now().Sub(g.started).Milliseconds(), Model: ref.String(), ModelSource: source,
			Clients: g.server.Clients(), ActiveRuns: active, QueuedRuns: queued, Undelivered: g.outbox.Waiting(), PendingApprovals: len(g.approvals.Pending()),
			ResidentBytes: residentBytes(), StoreBytes: g.store.Size(), Problems: g.problems(),
		},
	}, nil
}

func (g *Gateway) systemPresence(context.Context, method.None) ([]protocol.PresenceEntry, error) {
	return g.server.Presence(), nil
}

func (g *Gateway) logsTail(_ context.Context, p protocol.LogsTailParams) (protocol.LogsTail, error) {
	return logfile.Tail(g.opts.Dir.Log(), p)
}

func (g *Gateway) launchLink(_ context.Context, p protocol.LaunchLinkParams) (protocol.LaunchLink, error) {
	code, expires, err := g.pairing.MintLaunch(time.Duration(p.TTLMs) * time.Millisecond)
	if err != nil {
		return protocol.LaunchLink{}, err
	}
	return protocol.LaunchLink{URL: g.URL() + "/#launch=" + code, ExpiresAtMs: expires.UnixMilli()}, nil
}

// snapshot is the state that hello carries.
func (g *Gateway) snapshot(ctx context.Context) protocol.Snapshot {
	h, err := g.health(ctx, method.None{})
	if err != nil {
		g.log.Error("health could not be told", "err", err)
	}
	mainKey := g.config.Snapshot().Config.Session.MainKey
	if mainKey == "" {
		mainKey = session.MainAlias
	}
	return protocol.Snapshot{
		Health: h, UptimeMs: g.opts.Now().Sub(g.started).Milliseconds(), ConfigPath: g.config.Path(), StateDir: string(g.opts.Dir), AuthMode: "token",
		SessionDefaults: &protocol.SessionDefaults{
			DefaultAgentID: g.agents.Book().Default().ID, MainKey: mainKey, MainSessionKey: "agent:" + session.DefaultAgent + ":" + mainKey,
			Scope: "per-sender", ModelConfigured: true,
		},
	}
}

// memoryOf is the fallback where the system does not tell resident memory.
func memoryOf() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// heartbeatStatus is what `status` tells of them.
func (g *Gateway) heartbeatStatus() map[string]any {
	h := g.config.Snapshot().Config.Agents.Defaults.Heartbeat
	return map[string]any{"agentId": g.agents.Book().Default().ID, "enabled": h.Interval() > 0, "every": h.Every, "everyMs": h.Interval().Milliseconds()}
}
