// Package subagents is the feature of sub-agents: runs in sessions of their own,
// which report back. It has the tools sessions_spawn and subagents, and does with
// sessions what package spawn decides; that one keeps the book of them.
package subagents

import (
	"cmp"
	"context"
	"time"

	sessiontool "github.com/hearth-assistant/hearth/gateway/tool/session"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Book     *spawn.Book
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Choice   *choice.Chooser
	Settings *config.File
	Now      func() time.Time
}

type feature struct {
	book     *spawn.Book
	sessions *session.Manager
	dispatch *dispatch.Dispatcher
	models   *choice.Chooser
	settings *config.File
	now      func() time.Time
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o.Book, o.Sessions, o.Dispatch, o.Choice, o.Settings, o.Now}
	return host.Feature{
		Tools: sessiontool.NewChildren(f),
		Run: func(ctx context.Context) error {
			f.book.Run(ctx, f)
			return nil
		},
	}
}

// Spawn implements sessiontool.Children.
func (f *feature) Spawn(ctx context.Context, call tool.Call, w sessiontool.Wish) (c sessiontool.Child, err error) {
	relay, err := f.sessions.RelayOf(call, "sessions_spawn")
	if err != nil {
		return c, err
	}
	name := cmp.Or(w.Model, f.settings.Snapshot().Config.Agents.Defaults.Subagents.Model.Primary)
	if name != "" {
		if name, err = f.models.ForAssistant(name); err != nil {
			return c, err
		}
	}
	r := spawn.Record{
		RunID: uuid.New(), Key: spawn.KeyBelow(call.SessionKey, call.AgentID, uuid.New()), ParentKey: call.SessionKey, ParentRun: call.RunID,
		Label: w.Label, Task: w.Task, Model: name, Thinking: w.Thinking, TimeoutMs: int64(w.TimeoutSeconds * 1000),
		Cleanup: spawn.Cleanup(cmp.Or(w.Cleanup, "keep")),
		Owner:   call.Owner && !call.Group, Sender: call.Sender, Hops: relay.Hops,
	}
	if rec, err := f.sessions.Why("", call.RunID); err == nil {
		r.Route, r.Owner = rec.Route, r.Owner && rec.Owner
	}
	if err := f.book.Add(ctx, r); err != nil {
		return c, err
	}
	return sessiontool.Child{RunID: r.RunID, Key: r.Key, Label: r.Label, Status: string(spawn.Queued), Since: f.now()}, nil
}

// Children implements sessiontool.Children.
func (f *feature) Children(_ context.Context, call tool.Call) (out []sessiontool.Child, err error) {
	list, err := f.book.Of(call.SessionKey)
	for _, r := range list {
		c := sessiontool.Child{RunID: r.RunID, Key: r.Key, Label: r.Name(), Status: string(r.State), Since: time.UnixMilli(r.CreatedAt)}
		if !r.Open() {
			c.Status, c.Since = r.Outcome, time.UnixMilli(r.EndedAt)
		}
		out = append(out, c)
	}
	return out, err
}

// Kill implements sessiontool.Children.
func (f *feature) Kill(ctx context.Context, _ tool.Call, runID string) error {
	_, err := f.book.Kill(ctx, runID)
	return err
}

// Steer implements sessiontool.Children.
func (f *feature) Steer(ctx context.Context, call tool.Call, c sessiontool.Child, text string) error {
	relay, err := f.sessions.RelayOf(call, "subagents")
	if err != nil {
		return err
	}
	_, err = f.dispatch.AcceptWords(ctx, session.Turn{
		RunID: "relay:" + uuid.New(), SessionKey: c.Key, Text: text, Owner: call.Owner && !call.Group, Mode: session.Steer, Relay: relay,
	}, false)
	return err
}
