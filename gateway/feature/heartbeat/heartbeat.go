// Package heartbeat is the feature by which the default agent looks by itself, now
// and then, whether something needs attention, in a session of its own that is
// gone when nothing did. When that is due and which answers say that nothing is,
// package gateway/heartbeat knows.
package heartbeat

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// name is what the session of heartbeats is called.
const name = "heartbeat"

// Budget says whether models may be asked.
type Budget interface {
	Poor() bool
}

// Outbound sends to messaging networks.
type Outbound interface {
	// MaySend asks the send policy about a session and a route.
	MaySend(sessionKey string, r channel.Route) bool
	// Deliver keeps a message and has it sent.
	Deliver(ctx context.Context, d outbound.Delivery) error
}

// Clients are shown what became of heartbeats.
type Clients interface{ Broadcast(b server.Broadcast) }

// Options are the parts that the feature needs; all of them.
type Options struct {
	Settings *config.File
	Agents   *agents.Directory
	Files    *workspace.Keeper
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Pause    *pause.Switch
	Budget   Budget
	Outbound Outbound
	Clients  Clients
	Logger   *slog.Logger
	Now      func() time.Time
}

type feature struct {
	settings *config.File
	agents   *agents.Directory
	files    *workspace.Keeper
	sessions *session.Manager
	dispatch *dispatch.Dispatcher
	pause    *pause.Switch
	budget   Budget
	out      Outbound
	clients  Clients
	now      func() time.Time
	off      atomic.Bool // until the next start
	last     atomic.Pointer[protocol.HeartbeatEvent]
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{
		settings: o.Settings, agents: o.Agents, files: o.Files, sessions: o.Sessions, dispatch: o.Dispatch, pause: o.Pause, budget: o.Budget,
		out: o.Outbound, clients: o.Clients, now: o.Now,
	}
	changed := make(chan struct{}, 1)
	cancel := o.Settings.Subscribe(nil, func(config.Config, config.Config) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodSetHeartbeats, f.set),
			method.Plain(protocol.MethodLastHeartbeat, f.lastOne),
		},
		Run: func(ctx context.Context) error {
			heartbeat.Run(ctx, heartbeat.Options{
				Settings: func() heartbeat.When { return settingsOf(o.Settings.Snapshot().Config) },
				Changed:  changed, Beat: f.beat, Now: o.Now, Logger: o.Logger,
			})
			return nil
		},
		Close: func(context.Context) error {
			cancel()
			return nil
		},
	}
}

// settingsOf says when heartbeats are due.
func settingsOf(c config.Config) heartbeat.When {
	h := heartbeat.Section.Of(c)
	s := heartbeat.When{Every: h.Interval()}
	s.Hours.From, _ = config.MinuteOfDay(h.ActiveHours.Start)
	s.Hours.To, _ = config.MinuteOfDay(h.ActiveHours.End)
	name := h.ActiveHours.Timezone
	if name == "" || name == "user" {
		name = clock.Section.Of(c).UserTimezone
	}
	if at, err := time.LoadLocation(name); err == nil && name != "" && name != "local" {
		s.Hours.Zone = at
	}
	return s
}

// beat looks once, unless it is certain before that nothing is to be done: that
// costs nothing.
func (f *feature) beat(ctx context.Context) error {
	c := f.settings.Snapshot().Config
	who := f.agents.Book().Default()
	main := rules.Main(f.settings, who.ID)
	if f.off.Load() {
		return nil
	}
	if f.budget.Poor() || f.pause.Check(pause.CallModel) != nil || f.dispatch.Busy(main) {
		return nil
	}
	if !f.due(c, who) {
		f.say(protocol.HeartbeatEvent{Status: "skipped", Reason: "empty-heartbeat-file"})
		return nil
	}
	key, err := f.agents.Canonical(name, who.ID)
	if err != nil {
		return err
	}
	if _, err := f.sessions.Delete(ctx, key, false); err != nil { // that of the last time
		return fmt.Errorf("begin a heartbeat: %w", err)
	}
	acc, err := f.dispatch.AcceptWords(ctx, session.Turn{
		RunID: name + ":" + uuid.New(), SessionKey: key, Title: "Heartbeat", Text: "Heartbeat", ForAgent: rules.HeartbeatPrompt(c), Owner: true,
		Mode:  session.Followup,
		Relay: session.Relay{From: main, Tool: name},
	}, false)
	if err != nil {
		return fmt.Errorf("begin a heartbeat: %w", err)
	}
	out, err := f.sessions.Wait(ctx, acc.Run.ID)
	if err != nil || out.Message == nil || out.Run.State != session.RunAnswered {
		f.say(protocol.HeartbeatEvent{Status: "failed", Reason: out.Run.ErrorText})
		return err // its own session shows what went wrong
	}
	text, ok := heartbeat.Tells(out.Message.Text(), heartbeat.Section.Of(c).AckMaxChars)
	if !ok {
		f.say(protocol.HeartbeatEvent{Status: "ok-token", Silent: true, DurationMs: out.Run.EndedAt - out.Run.StartedAt})
		_, err = f.sessions.Delete(ctx, key, false)
		return err
	}
	f.say(protocol.HeartbeatEvent{Status: "sent", Preview: preview(text), DurationMs: out.Run.EndedAt - out.Run.StartedAt})
	return f.tell(ctx, main, acc.Run.ID, text)
}

// due: HEARTBEAT.md asks for something, or the settings do.
func (f *feature) due(c config.Config, who agents.Agent) bool {
	if heartbeat.Section.Of(c).Prompt != "" {
		return true
	}
	e, err := f.files.Get(who.Workspace, workspace.Heartbeat)
	return err == nil && heartbeat.Says(e.Content)
}

// tell puts what a heartbeat found into the main conversation, and sends it
// to where that was last held when the settings say so.
func (f *feature) tell(ctx context.Context, main, runID, text string) error {
	rec, talked := f.sessions.Why(main, "")
	if _, err := f.sessions.Inject(ctx, main, text, "Heartbeat"); err != nil {
		return fmt.Errorf("tell what a heartbeat found: %w", err)
	}
	r, ok := channel.ParseRoute(rec.Route)
	if talked != nil || !ok || heartbeat.Section.Of(f.settings.Snapshot().Config).Target != "last" || !f.out.MaySend(main, r) {
		return nil
	}
	d := outbound.Delivery{ID: runID, Channel: r.Channel, To: r.Target(""), Session: main, RunID: runID, Text: text, Reply: outbound.ReplyOff}
	return f.out.Deliver(ctx, d)
}

// lastOne is what became of the last heartbeat, nil before the first.
func (f *feature) lastOne(context.Context, method.None) (*protocol.HeartbeatEvent, error) {
	return f.last.Load(), nil
}

// set switches heartbeats on or off until the next start.
func (f *feature) set(_ context.Context, p protocol.SetHeartbeatsParams) (protocol.SetHeartbeatsResult, error) {
	if p.Enabled == nil {
		return protocol.SetHeartbeatsResult{}, protocol.InvalidParams(protocol.MethodSetHeartbeats, "enabled (boolean) required")
	}
	f.off.Store(!*p.Enabled)
	return protocol.SetHeartbeatsResult{OK: true, Enabled: *p.Enabled}, nil
}

// say keeps what became of a heartbeat and shows it.
func (f *feature) say(ev protocol.HeartbeatEvent) {
	ev.TS = f.now().UnixMilli()
	f.last.Store(&ev)
	f.clients.Broadcast(server.Broadcast{Event: protocol.EventHeartbeat, Payload: ev})
}

func preview(text string) string {
	if r := []rune(text); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return text
}
