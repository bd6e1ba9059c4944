// Package status is the feature that tells how Hearth is: the methods health,
// status, system-presence, logs.tail and hearth.launchLink, the event health, and
// the state that a client gets with hello. What there is to tell comes from the
// parts themselves.
package status

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/problem"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// healthEvery is how often problems are looked at, to tell clients of a change.
const healthEvery = 15 * time.Second

// Options are the parts that are told of; all of them.
type Options struct {
	Version  string
	Started  time.Time
	Dir      statedir.Dir
	Settings *config.File
	Store    *store.DB
	Sessions *session.Manager
	Agents   *agents.Directory
	Models   *provider.Registry
	Choice   *choice.Chooser
	Server   *server.Server
	Outbox   *outbound.Outbox
	Broker   *approval.Broker
	Pause    *pause.Switch
	Pairing  *pairing.Registry
	Log      *slog.Logger

	URL      string // where the gateway listens
	Now      func() time.Time
	Problems *problem.Board // of all parts
}

// Status is the feature.
type Status struct{ o Options }

// New makes the feature.
func New(o Options) *Status { return &Status{o} }

// Feature is what it adds.
func (f *Status) Feature() host.Feature {
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodHealth, func(ctx context.Context, _ method.None) (protocol.Health, error) { return f.Health(ctx) }),
			method.Plain(protocol.MethodStatus, func(ctx context.Context, _ method.None) (protocol.Status, error) { return f.Tell(ctx) }),
			method.Plain(protocol.MethodSystemPresence, f.systemPresence),
			method.Plain(protocol.MethodLogsTail, f.logsTail),
			method.Plain(protocol.MethodLaunchLink, f.launchLink),
		},
		Run: f.watch,
	}
}

// recentSessions is how many sessions health and status show.
const recentSessions = 5

// Health is what the method health answers, and the event of the same name tells.
func (f *Status) Health(ctx context.Context) (protocol.Health, error) {
	start := f.o.Now()
	list, err := f.o.Sessions.List(ctx, protocol.SessionsListParams{Limit: recentSessions})
	if err != nil {
		return protocol.Health{}, err
	}
	sessions := protocol.SessionsHealth{Path: f.o.Store.Path(), Count: f.o.Sessions.Count(), Recent: []protocol.RecentSession{}}
	for _, s := range list.Sessions {
		sessions.Recent = append(sessions.Recent, protocol.RecentSession{Key: s.Key, UpdatedAt: s.UpdatedAt, Age: list.TS - s.UpdatedAt})
	}
	return protocol.Health{
		OK: true, TS: start.UnixMilli(), DurationMs: f.o.Now().Sub(start).Milliseconds(),
		Channels: map[string]any{}, ChannelOrder: []string{}, ChannelLabels: map[string]string{},
		DefaultAgentID: f.o.Agents.Book().Default().ID, Sessions: sessions,
		Agents: []protocol.AgentHealth{{AgentID: f.o.Agents.Book().Default().ID, Name: f.o.Agents.Book().Default().Name, IsDefault: true,
			Sessions: sessions}},
		Hearth: &protocol.HealthDetail{Problems: f.o.Problems.All()},
	}, nil
}

// Tell is what the method status answers.
func (f *Status) Tell(ctx context.Context) (protocol.Status, error) {
	list, err := f.o.Sessions.List(ctx, protocol.SessionsListParams{Limit: recentSessions})
	if err != nil {
		return protocol.Status{}, err
	}
	ref, source := f.o.Models.Default()
	active, queued := f.o.Sessions.Load()
	return protocol.Status{
		RuntimeVersion: f.o.Version, ChannelSummary: []string{}, QueuedSystemEvents: []string{},
		Heartbeat: protocol.StatusHeartbeat{DefaultAgentID: f.o.Agents.Book().Default().ID, Agents: []map[string]any{f.heartbeat()}},
		Sessions: protocol.StatusSessions{
			Paths: []string{f.o.Store.Path()}, Count: f.o.Sessions.Count(), Defaults: f.o.Choice.SessionDefaults(),
			Recent: list.Sessions, ByAgent: []map[string]any{},
		},
		Pause: f.o.Pause.Get().Wire(),
		Hearth: protocol.StatusDetail{
			Version: f.o.Version, PID: os.Getpid(), URL: f.o.URL, StateDir: string(f.o.Dir), ConfigPath: f.o.Settings.Path(),
			UptimeMs: f.o.Now().Sub(f.o.Started).Milliseconds(), Model: ref.String(), ModelSource: source,
			Clients: f.o.Server.Clients(), ActiveRuns: active, QueuedRuns: queued, Undelivered: f.o.Outbox.Waiting(),
			PendingApprovals: len(f.o.Broker.Pending()),
			ResidentBytes:    residentBytes(), StoreBytes: f.o.Store.Usage().Bytes, Problems: f.o.Problems.All(),
		},
	}, nil
}

func (f *Status) systemPresence(context.Context, method.None) ([]protocol.PresenceEntry, error) {
	return f.o.Server.Presence(), nil
}

func (f *Status) logsTail(_ context.Context, p protocol.LogsTailParams) (protocol.LogsTail, error) {
	return logfile.Tail(f.o.Dir.Log(), p)
}

func (f *Status) launchLink(_ context.Context, p protocol.LaunchLinkParams) (protocol.LaunchLink, error) {
	code, expires, err := f.o.Pairing.MintLaunch(time.Duration(p.TTLMs) * time.Millisecond)
	if err != nil {
		return protocol.LaunchLink{}, err
	}
	return protocol.LaunchLink{URL: f.o.URL + "/#launch=" + code, ExpiresAtMs: expires.UnixMilli()}, nil
}

// Snapshot is the state that hello carries.
func (f *Status) Snapshot(ctx context.Context) protocol.Snapshot {
	h, err := f.Health(ctx)
	if err != nil {
		f.o.Log.Error("health could not be told", "err", err)
	}
	mainKey := policy.Section.Of(f.o.Settings.Snapshot().Config).Keys.MainKey
	if mainKey == "" {
		mainKey = session.MainAlias
	}
	return protocol.Snapshot{
		Health: h, UptimeMs: f.o.Now().Sub(f.o.Started).Milliseconds(), ConfigPath: f.o.Settings.Path(), StateDir: string(f.o.Dir),
		AuthMode: "token",
		SessionDefaults: &protocol.SessionDefaults{
			DefaultAgentID: f.o.Agents.Book().Default().ID, MainKey: mainKey, MainSessionKey: "agent:" + session.DefaultAgent + ":" + mainKey,
			Scope: "per-sender", ModelConfigured: true,
		},
	}
}

// watch tells clients when there are other problems than before: a full
// disk, a broken settings file, a channel that fell silent.
func (f *Status) watch(ctx context.Context) error {
	last := f.o.Problems.All()
	for {
		select {
		case <-time.After(healthEvery):
		case <-ctx.Done():
			return nil
		}
		now := f.o.Problems.All()
		if slices.Equal(now, last) {
			continue
		}
		last = now
		h, err := f.Health(ctx)
		if err != nil {
			f.o.Log.Warn("health could not be told", "err", err)
			continue
		}
		f.o.Server.Broadcast(server.Broadcast{Event: protocol.EventHealth, Payload: h})
	}
}

// heartbeat is what status tells of heartbeats.
func (f *Status) heartbeat() map[string]any {
	h := heartbeat.Section.Of(f.o.Settings.Snapshot().Config)
	return map[string]any{
		"agentId": f.o.Agents.Book().Default().ID, "enabled": h.Interval() > 0, "every": h.Every, "everyMs": h.Interval().Milliseconds(),
	}
}
