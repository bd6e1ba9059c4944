package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	sessiontool "github.com/hearth-assistant/hearth/gateway/tool/session"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Sub-agents: runs in sessions of their own, which report back.

// openSpawns takes up the sub-agents of the store.
func (g *Gateway) openSpawns() {
	g.spawns = spawn.New(spawn.Options{
		DB: g.store, Now: g.opts.Now, Logger: g.log, Limits: g.spawnLimits,
		Start: g.startChild, Tell: g.tellParent, Stop: g.stopChild, Remove: g.removeChild, Archive: g.archiveChild,
	})
}

func (g *Gateway) spawnLimits() spawn.Limits {
	s := g.config.Snapshot().Config.Agents.Defaults.Subagents
	return spawn.Limits{
		Depth: s.MaxSpawnDepth, Concurrent: s.MaxConcurrent, Children: s.MaxChildrenPerAgent,
		Archive: time.Duration(s.ArchiveAfterMinutes) * time.Minute,
	}
}

func (h house) Spawn(ctx context.Context, call tool.Call, w sessiontool.Wish) (c sessiontool.Child, err error) {
	relay, err := h.relay(call, "sessions_spawn")
	if err != nil {
		return c, err
	}
	name := cmp.Or(w.Model, h.g.config.Snapshot().Config.Agents.Defaults.Subagents.Model.Primary)
	if name != "" {
		if name, err = h.g.chosenModel(name); err != nil {
			return c, err
		}
	}
	r := spawn.Record{
		RunID: newUUID(), Key: spawn.KeyBelow(call.SessionKey, call.AgentID, newUUID()), ParentKey: call.SessionKey, ParentRun: call.RunID,
		Label: w.Label, Task: w.Task, Model: name, Thinking: w.Thinking, TimeoutMs: int64(w.TimeoutSeconds * 1000), Cleanup: spawn.Cleanup(cmp.Or(w.Cleanup, "keep")),
		Owner: call.Owner && !call.Group, Sender: call.Sender, Hops: relay.Hops,
	}
	if rec, err := h.g.session.Why("", call.RunID); err == nil {
		r.Route, r.Owner = rec.Route, r.Owner && rec.Owner
	}
	if err := h.g.spawns.Add(ctx, r); err != nil {
		return c, err
	}
	return sessiontool.Child{RunID: r.RunID, Key: r.Key, Label: r.Label, Status: string(spawn.Queued), Since: h.g.opts.Now()}, nil
}

func (h house) Children(_ context.Context, call tool.Call) (out []sessiontool.Child, err error) {
	list, err := h.g.spawns.Of(call.SessionKey)
	for _, r := range list {
		c := sessiontool.Child{RunID: r.RunID, Key: r.Key, Label: r.Name(), Status: string(r.State), Since: time.UnixMilli(r.CreatedAt)}
		if !r.Open() {
			c.Status, c.Since = r.Outcome, time.UnixMilli(r.EndedAt)
		}
		out = append(out, c)
	}
	return out, err
}

func (h house) Kill(ctx context.Context, _ tool.Call, runID string) error {
	_, err := h.g.spawns.Kill(ctx, runID)
	return err
}

func (h house) Steer(ctx context.Context, call tool.Call, c sessiontool.Child, text string) error {
	relay, err := h.relay(call, "subagents")
	if err != nil {
		return err
	}
	_, err = h.g.session.Submit(ctx, session.Turn{
		RunID: "relay:" + newUUID(), SessionKey: c.Key, Text: text, Owner: call.Owner && !call.Group, Mode: session.Steer, Relay: relay,
	})
	return err
}

// startChild hands a sub-agent its task. Its run's id makes a second time
// change nothing.
func (g *Gateway) startChild(ctx context.Context, r spawn.Record) error {
	if _, err := g.session.Why("", r.RunID); err == nil {
		return nil
	}
	if _, err := g.session.Create(ctx, r.Key, r.Name(), r.Model); err != nil {
		return laterIfClosed(err)
	}
	if r.Thinking != "" {
		if _, err := g.session.Patch(ctx, r.Key, protocol.SessionsPatchParams{ThinkingLevel: protocol.PatchTo(r.Thinking)}); err != nil {
			return laterIfClosed(err)
		}
	}
	_, err := g.session.Submit(ctx, session.Turn{
		RunID: r.RunID, SessionKey: r.Key, Text: r.Task, Title: r.Name(), TimeoutMs: r.TimeoutMs, Owner: r.Owner, Mode: session.Followup,
		Relay: session.Relay{From: r.ParentKey, Tool: "sessions_spawn", Hops: r.Hops},
	})
	return laterIfClosed(err)
}

func laterIfClosed(err error) error {
	if errors.Is(err, session.ErrClosed) || errors.Is(err, store.ErrClosed) {
		return spawn.ErrLater
	}
	return err
}

// tellParent gives the result to the session that wanted it: as a message for
// the agent, in no person's name, and marked as text from outside.
func (g *Gateway) tellParent(ctx context.Context, r spawn.Record) error {
	if _, ok, err := g.session.Get(r.ParentKey); err != nil || !ok {
		return laterIfClosed(err) // it was deleted: nobody waits
	}
	head := fmt.Sprintf("The sub-agent “%s” %s.", r.Name(), ended(r.Outcome))
	_, err := g.session.Submit(ctx, session.Turn{
		RunID: "announce:" + r.RunID, SessionKey: r.ParentKey, Text: head, Owner: r.Owner, Route: r.Route, Sender: r.Sender, Mode: session.Followup,
		ForAgent: "[" + head + " This is a message of Hearth, not of a person. Tell the person what came of it, or go on with your task; say NO_REPLY if there is nothing to tell.]\n" +
			untrusted.Wrapper{}.Wrap("sub-agent "+r.Key, cmp.Or(r.Result, "(it said nothing)")),
		Relay: session.Relay{From: r.Key, Tool: "sessions_spawn", Hops: r.Hops},
	})
	return laterIfClosed(err)
}

func ended(outcome string) string {
	switch outcome {
	case string(session.RunAnswered):
		return "is done"
	case string(session.RunAborted):
		return "was stopped"
	case string(session.RunInterrupted):
		return "was cut short, because Hearth stopped while it worked"
	}
	return "has failed"
}

func (g *Gateway) stopChild(ctx context.Context, r spawn.Record) error {
	_, err := g.session.Abort(ctx, r.Key, r.RunID)
	return err
}

func (g *Gateway) removeChild(ctx context.Context, r spawn.Record) error {
	_, err := g.session.Delete(ctx, r.Key, false)
	return laterIfClosed(err)
}

func (g *Gateway) archiveChild(ctx context.Context, r spawn.Record) error {
	if _, ok, err := g.session.Get(r.Key); err != nil || !ok {
		return laterIfClosed(err)
	}
	_, err := g.session.Patch(ctx, r.Key, protocol.SessionsPatchParams{Archived: protocol.PatchTo(true)})
	return laterIfClosed(err)
}

// stopChildren stops what a stopped run had started.
func (g *Gateway) stopChildren(ctx context.Context, key, runID string) {
	if err := g.spawns.Stopped(ctx, key, runID); err != nil {
		g.log.Error("the sub-agents of a stopped session go on", "session", key, "err", err)
	}
}

// childEnded notes the end of a run in its transaction, if it is a sub-agent's.
func (g *Gateway) childEnded(tx *store.Tx, ev protocol.ChatEvent, run session.Run) error {
	result := ""
	if ev.Message != nil {
		result = ev.Message.Text()
	}
	if run.ErrorText != "" {
		if result != "" {
			result += "\n\n"
		}
		result += run.ErrorText
	}
	return g.spawns.End(tx, run.ID, string(run.State), result)
}
