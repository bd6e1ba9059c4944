// Package heartbeat is the feature by which agents look by themselves, now and
// then, whether something needs attention. Each has a job of Hearth's own, which
// package job makes due and feature/cron runs: this package says which jobs there
// are, when a look is not worth it, what is asked, and what of an answer is told.
//
// Which texts ask for anything, and which answers say that nothing does, package
// gateway/heartbeat knows.
package heartbeat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

const (
	// name is what the session of heartbeats is called.
	name = "heartbeat"
	// keyPrefix is what the declaration keys of their jobs begin with.
	keyPrefix = "heartbeat:"
	// looked is how many of the last messages may be notes that wait.
	looked = 50
)

// Clients are shown what became of heartbeats.
type Clients interface{ Broadcast(b server.Broadcast) }

// Options are the parts that the feature needs; all of them.
type Options struct {
	Settings *config.File
	Agents   *agents.Directory
	Files    *workspace.Keeper
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Clients  Clients
	Logger   *slog.Logger
	Now      func() time.Time
}

// Heartbeats are those of all agents. It implements cron.Monitor.
type Heartbeats struct {
	o    Options
	off  atomic.Bool // until the next start
	last atomic.Pointer[protocol.HeartbeatEvent]
}

// New makes the feature.
func New(o Options) *Heartbeats { return &Heartbeats{o: o} }

// Feature is what the feature adds.
func (h *Heartbeats) Feature() host.Feature {
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodSetHeartbeats, h.set),
		method.Plain(protocol.MethodLastHeartbeat, h.lastOne),
	}}
}

// settings are those of the agents that have heartbeats.
func (h *Heartbeats) settings() map[string]heartbeat.Settings {
	book := h.o.Agents.Book()
	ids := make([]string, 0, len(book.All()))
	for _, a := range book.All() {
		ids = append(ids, a.ID)
	}
	return heartbeat.Of(h.o.Settings.Snapshot().Config, ids, book.Default().ID)
}

func (h *Heartbeats) of(agent string) heartbeat.Settings { return h.settings()[agent] }

// Jobs implements cron.Monitor.
func (h *Heartbeats) Jobs() (prefix string, out []protocol.CronSpec) {
	for agent, s := range h.settings() {
		if s.Interval() == 0 {
			continue
		}
		yes, seconds := true, s.Timeout().Seconds()
		out = append(out, protocol.CronSpec{
			Name: "Heartbeat (" + agent + ")", DeclarationKey: keyPrefix + agent, AgentID: agent, Enabled: &yes,
			Schedule:      protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: s.Interval().Milliseconds()},
			SessionTarget: protocol.CronMain, WakeMode: protocol.CronWakeNext,
			Payload: protocol.CronPayload{
				Kind: protocol.CronHeartbeat, Model: s.Model, TimeoutSeconds: &seconds, LightContext: s.Light != nil && *s.Light,
			},
			Delivery: h.delivery(s), Hearth: &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "skip"}},
		})
	}
	slices.SortFunc(out, func(a, b protocol.CronSpec) int { return strings.Compare(a.AgentID, b.AgentID) })
	return keyPrefix, out
}

// delivery is where what a heartbeat finds goes beside the main conversation.
func (h *Heartbeats) delivery(s heartbeat.Settings) *protocol.CronDelivery {
	d := &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce, Channel: s.Target, To: s.To, AccountID: s.AccountID}
	switch s.Target {
	case heartbeat.TargetLast:
		d.To = ""
	case heartbeat.TargetOwner:
		d.Channel, d.To = channel.Webchat, ""
		for _, owner := range hub.OwnersSection.Of(h.o.Settings.Snapshot().Config) {
			if network, id, ok := strings.Cut(owner, ":"); ok && id != "" && id != "*" {
				d.Channel, d.To = network, id
				break
			}
		}
	case heartbeat.TargetNone, "":
		d.Channel, d.To = channel.Webchat, ""
	}
	return d
}

// Skips implements cron.Monitor: a look that is not worth a call of a model.
func (h *Heartbeats) Skips(ctx context.Context, j *job.Job) string {
	s := h.of(j.AgentID)
	reason, words := "", ""
	switch main := rules.Main(h.o.Settings, j.AgentID); {
	case h.off.Load():
		reason, words = "disabled", "Heartbeats are switched off until the next start (set-heartbeats)."
	case !h.hours(s).Open(h.o.Now()):
		reason, words = "quiet-hours", "It is outside of the hours in which it may look (activeHours)."
	case h.o.Dispatch.Busy(main):
		reason, words = "requests-in-flight", "The main conversation was busy."
	case !h.due(ctx, j, s):
		reason, words = "empty-heartbeat-file", "HEARTBEAT.md asks for nothing, and no note waits."
	default:
		return ""
	}
	h.say(protocol.HeartbeatEvent{Status: "skipped", Reason: reason})
	return words
}

// hours are when an agent may look.
func (h *Heartbeats) hours(s heartbeat.Settings) (out heartbeat.Hours) {
	out.From, _ = config.MinuteOfDay(s.ActiveHours.Start)
	out.To, _ = config.MinuteOfDay(s.ActiveHours.End)
	zone := s.ActiveHours.Timezone
	if zone == "" || zone == "user" {
		zone = clock.Section.Of(h.o.Settings.Snapshot().Config).UserTimezone
	}
	if at, err := time.LoadLocation(zone); err == nil && zone != "" && zone != "local" {
		out.Zone = at
	}
	return out
}

// due: HEARTBEAT.md asks for something, the settings do, or a note waits.
func (h *Heartbeats) due(ctx context.Context, j *job.Job, s heartbeat.Settings) bool {
	if s.Prompt != "" {
		return true
	}
	if e, err := h.o.Files.Get(h.o.Agents.Named(j.AgentID).Workspace, workspace.Heartbeat); err == nil && heartbeat.Says(e.Content) {
		return true
	}
	notes, _, err := h.notes(ctx, j)
	return err == nil && len(notes) > 0
}

// read is up to which note of a main conversation heartbeats have read.
type read struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
}

// notes are those at the end of the main conversation that no answer and no
// heartbeat has dealt with.
func (h *Heartbeats) notes(ctx context.Context, j *job.Job) (out []protocol.Message, now read, err error) {
	_ = json.Unmarshal(j.State.TriggerState, &now)
	main := rules.Main(h.o.Settings, j.AgentID)
	row, ok, err := h.o.Sessions.Get(main)
	if err != nil || !ok {
		return nil, now, err
	}
	if now.Session != row.SessionID {
		now = read{Session: row.SessionID}
	}
	page, err := h.o.Sessions.History(ctx, main, protocol.ChatHistoryParams{SessionKey: main, Limit: looked})
	if err != nil {
		return nil, now, fmt.Errorf("read the notes that wait: %w", err)
	}
	top := now.Seq
	for _, m := range slices.Backward(page.Messages) {
		if m.Meta == nil || m.Meta.RunID != "" || m.Meta.Seq <= now.Seq || m.Role == protocol.MessageUser {
			break // an answer, or a heartbeat, has read what stands before it
		}
		if m.Meta.Awaits {
			out = append(out, m)
			top = max(top, m.Meta.Seq)
		}
	}
	slices.Reverse(out)
	now.Seq = top
	return out, now, nil
}

// Turn implements cron.Monitor.
func (h *Heartbeats) Turn(ctx context.Context, j *job.Job, r *job.Run) (t session.Turn, err error) {
	s := h.of(j.AgentID)
	main := rules.Main(h.o.Settings, j.AgentID)
	notes, now, err := h.notes(ctx, j)
	if err != nil {
		return t, err
	}
	if r.Keeps, err = json.Marshal(now); err != nil {
		return t, err
	}
	key := main
	if s.Session != "" && s.Session != "main" {
		key, err = h.o.Agents.Canonical(s.Session, j.AgentID)
	} else if s.Session == "" && (s.Isolated == nil || *s.Isolated) {
		if key, err = h.o.Agents.Canonical(name, j.AgentID); err == nil {
			_, err = h.o.Sessions.Delete(ctx, key, false) // that of the last time
		}
	}
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return t, fmt.Errorf("begin a heartbeat: %w", err)
	}
	asks := s.Asks()
	if len(notes) > 0 && key != main {
		asks += "\n\nThese notes wait in the main conversation. Deal with them too:"
		for _, n := range notes {
			words := n.ForAgent
			if words == "" {
				words = n.Text()
			}
			asks += "\n\n" + words
		}
	}
	return session.Turn{
		RunID: r.RunID, SessionKey: key, Title: "Heartbeat", Text: "Heartbeat", ForAgent: asks, Owner: true, Mode: session.Followup,
		Relay: session.Relay{From: main, Tool: name}, Outside: len(notes) > 0,
	}, nil
}

// Tells implements cron.Monitor: what of an answer a person sees, "" for nothing.
func (h *Heartbeats) Tells(_, answer string) string {
	if text := strings.TrimSpace(answer); strings.EqualFold(text, "NO_REPLY") {
		return ""
	}
	text, _ := heartbeat.Tells(answer, heartbeat.Section.Of(h.o.Settings.Snapshot().Config).AckMaxChars)
	return text
}

// MayWrite implements cron.Monitor.
func (h *Heartbeats) MayWrite(agent string, r channel.Route) bool {
	return h.of(agent).DirectPolicy != "block" || r.Chat != channel.Direct
}

// Over implements cron.Monitor: it says what came of a heartbeat, and takes the
// session of one away that found nothing.
func (h *Heartbeats) Over(ctx context.Context, r job.Run) {
	ev := protocol.HeartbeatEvent{Status: "sent", Preview: preview(r.Text)}
	if r.DurationMs != nil {
		ev.DurationMs = *r.DurationMs
	}
	switch {
	case r.Status != protocol.CronOK:
		ev.Status, ev.Reason, ev.Preview = "failed", r.Error, ""
	case r.Text == "":
		ev.Status, ev.Silent = "ok-token", true
		if own, err := h.o.Agents.Canonical(name, session.AgentOf(r.SessionKey)); err == nil && own == r.SessionKey {
			if _, err := h.o.Sessions.Delete(ctx, own, false); err != nil && ctx.Err() == nil {
				h.o.Logger.Warn("the session of a quiet heartbeat stays", "session", own, "err", err)
			}
		}
	}
	h.say(ev)
}

// lastOne is what became of the last heartbeat, nil before the first.
func (h *Heartbeats) lastOne(context.Context, method.None) (*protocol.HeartbeatEvent, error) {
	return h.last.Load(), nil
}

// set switches heartbeats on or off until the next start.
func (h *Heartbeats) set(_ context.Context, p protocol.SetHeartbeatsParams) (protocol.SetHeartbeatsResult, error) {
	if p.Enabled == nil {
		return protocol.SetHeartbeatsResult{}, protocol.InvalidParams(protocol.MethodSetHeartbeats, "enabled (boolean) required")
	}
	h.off.Store(!*p.Enabled)
	return protocol.SetHeartbeatsResult{OK: true, Enabled: *p.Enabled}, nil
}

// say keeps what became of a heartbeat and shows it.
func (h *Heartbeats) say(ev protocol.HeartbeatEvent) {
	ev.TS = h.o.Now().UnixMilli()
	h.last.Store(&ev)
	h.o.Clients.Broadcast(server.Broadcast{Event: protocol.EventHeartbeat, Payload: ev})
}

func preview(text string) string {
	if r := []rune(text); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return text
}
