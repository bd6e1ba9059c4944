package gateway

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// Heartbeats: the default agent looks by itself whether something needs
// attention, in a session of its own that is gone when nothing did.

// heartbeatName is what that session is called.
const heartbeatName = "heartbeat"

// runHeartbeats looks when it is time.
func (g *Gateway) runHeartbeats(ctx context.Context) {
	heartbeat.Run(ctx, heartbeat.Options{
		Settings: func() heartbeat.Settings { return heartbeatSettings(g.config.Snapshot().Config) },
		Changed:  g.beats, Beat: g.beat, Now: g.opts.Now, Logger: g.log,
	})
}

func heartbeatSettings(c config.Config) heartbeat.Settings {
	h := c.Agents.Defaults.Heartbeat
	s := heartbeat.Settings{Every: h.Interval()}
	s.Hours.From, _ = config.MinuteOfDay(h.ActiveHours.Start)
	s.Hours.To, _ = config.MinuteOfDay(h.ActiveHours.End)
	name := h.ActiveHours.Timezone
	if name == "" || name == "user" {
		name = c.Agents.Defaults.UserTimezone
	}
	if at, err := time.LoadLocation(name); err == nil && name != "" && name != "local" {
		s.Hours.Zone = at
	}
	return s
}

// beat looks once, unless it is certain before that nothing is to be done: that
// costs nothing.
func (g *Gateway) beat(ctx context.Context) error {
	c := g.config.Snapshot().Config
	who := g.agents.Book().Default()
	main := rules.Keys(c).Main(who.ID)
	if g.purse.Poor() || g.pause.Check(pause.CallModel) != nil || g.dispatch.Busy(main) || !g.worthABeat(c, who) {
		return nil
	}
	key, err := g.agents.Canonical(heartbeatName, who.ID)
	if err != nil {
		return err
	}
	if _, err := g.session.Delete(ctx, key, false); err != nil { // that of the last time
		return fmt.Errorf("begin a heartbeat: %w", err)
	}
	acc, err := g.dispatch.AcceptWords(ctx, session.Turn{
		RunID: heartbeatName + ":" + newUUID(), SessionKey: key, Title: "Heartbeat", Text: "Heartbeat", ForAgent: asksAt(c), Owner: true, Mode: session.Followup,
		Relay: session.Relay{From: main, Tool: heartbeatName},
	}, false)
	if err != nil {
		return fmt.Errorf("begin a heartbeat: %w", err)
	}
	out, err := g.session.Wait(ctx, acc.Run.ID)
	if err != nil || out.Message == nil || out.Run.State != session.RunAnswered {
		return err // its own session shows what went wrong
	}
	text, ok := heartbeat.Tells(out.Message.Text(), c.Agents.Defaults.Heartbeat.AckMaxChars)
	if !ok {
		_, err = g.session.Delete(ctx, key, false)
		return err
	}
	return g.tellBeat(ctx, main, acc.Run.ID, text)
}

// worthABeat: HEARTBEAT.md asks for something, or the settings do.
func (g *Gateway) worthABeat(c config.Config, who agents.Agent) bool {
	if c.Agents.Defaults.Heartbeat.Prompt != "" {
		return true
	}
	e, err := g.files.Get(who.Workspace, workspace.Heartbeat)
	return err == nil && heartbeat.Says(e.Content)
}

// tellBeat puts what a heartbeat found into the main conversation, and sends it
// to where that was last held when the settings say so.
func (g *Gateway) tellBeat(ctx context.Context, main, runID, text string) error {
	rec, talked := g.session.Why(main, "")
	if _, err := g.session.Inject(ctx, main, text, "Heartbeat"); err != nil {
		return fmt.Errorf("tell what a heartbeat found: %w", err)
	}
	r, ok := channel.ParseRoute(rec.Route)
	if talked != nil || !ok || g.config.Snapshot().Config.Agents.Defaults.Heartbeat.Target != "last" || !g.maySend(main, r) {
		return nil
	}
	d := outbound.Delivery{ID: runID, Channel: r.Channel, To: r.Target(""), Session: main, RunID: runID, Text: text, Reply: outbound.ReplyOff}
	return g.store.Update(ctx, store.Write{Must: true, Then: g.deliverer.Wake, Do: func(tx *store.Tx) error { return g.deliverer.Put(tx, d) }})
}

// asksAt is what a heartbeat asks.
func asksAt(c config.Config) string {
	return cmp.Or(c.Agents.Defaults.Heartbeat.Prompt, heartbeat.DefaultPrompt)
}

// heartbeatPrompt is what the system prompt of a run says of heartbeats, "" for
// nothing: others than the owner need not know.
func (g *Gateway) heartbeatPrompt(c config.Config, scope tool.Scope) string {
	h := c.Agents.Defaults.Heartbeat
	if h.Interval() == 0 || !h.IncludeSystemPromptSection || !scope.Owner || scope.Group || scope.Depth > 0 || g.agents.Book().Default().ID != scope.AgentID {
		return ""
	}
	return asksAt(c)
}

// heartbeatStatus is what `status` tells of them.
func (g *Gateway) heartbeatStatus() map[string]any {
	h := g.config.Snapshot().Config.Agents.Defaults.Heartbeat
	return map[string]any{"agentId": g.agents.Book().Default().ID, "enabled": h.Interval() > 0, "every": h.Every, "everyMs": h.Interval().Milliseconds()}
}
