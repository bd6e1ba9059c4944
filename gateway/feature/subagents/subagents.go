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
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Book     *subagent.Book
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Choice   *choice.Chooser
	Settings *config.File
	Tasks    *task.Book
	Now      func() time.Time
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	o.Book.Follow = f.report
	o.Tasks.Own(protocol.TaskSubagent, doer{f})
	return host.Feature{
		Tools: sessiontool.NewChildren(f),
		Run: func(ctx context.Context) error {
			f.o.Book.Run(ctx, f)
			return nil
		},
	}
}

// Spawn implements sessiontool.Children.
func (f *feature) Spawn(ctx context.Context, call tool.Call, w sessiontool.SubAgent) (c sessiontool.Child, err error) {
	relay, err := f.o.Sessions.RelayOf(call, "sessions_spawn")
	if err != nil {
		return c, err
	}
	name := cmp.Or(w.Model, subagent.Section.Of(f.o.Settings.Snapshot().Config).Model.Primary)
	if name != "" {
		if name, err = f.o.Choice.ForAssistant(name); err != nil {
			return c, err
		}
	}
	r := subagent.Record{
		RunID: uuid.New(), Key: subagent.KeyBelow(call.SessionKey, call.AgentID, uuid.New()), ParentKey: call.SessionKey, ParentRun: call.RunID,
		Label: w.Label, Task: w.Task, Model: name, Thinking: w.Thinking, TimeoutMs: int64(w.TimeoutSeconds * 1000),
		Cleanup: subagent.Cleanup(cmp.Or(w.Cleanup, "keep")),
		Owner:   call.Owner && !call.Group, Sender: call.Sender, Hops: relay.Hops,
	}
	if rec, err := f.o.Sessions.Why("", call.RunID); err == nil {
		r.Route, r.Owner = rec.Route, r.Owner && rec.Owner
	}
	if err := f.o.Book.Add(ctx, r); err != nil {
		return c, err
	}
	return sessiontool.Child{RunID: r.RunID, Key: r.Key, Label: r.Label, Status: string(subagent.Queued), Since: f.o.Now()}, nil
}

// Children implements sessiontool.Children.
func (f *feature) Children(_ context.Context, call tool.Call) (out []sessiontool.Child, err error) {
	list, err := f.o.Book.Of(call.SessionKey)
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
	_, err := f.o.Book.Kill(ctx, runID)
	return err
}

// Steer implements sessiontool.Children.
func (f *feature) Steer(ctx context.Context, call tool.Call, c sessiontool.Child, text string) error {
	relay, err := f.o.Sessions.RelayOf(call, "subagents")
	if err != nil {
		return err
	}
	_, err = f.o.Dispatch.AcceptWords(ctx, session.Turn{
		RunID: "relay:" + uuid.New(), SessionKey: c.Key, Text: text, Owner: call.Owner && !call.Group, Mode: session.Steer, Relay: relay,
	}, false)
	return err
}
