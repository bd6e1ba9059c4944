package subagents

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Start hands a sub-agent its task. Its run's id makes a second time
// change nothing.
func (f *feature) Start(ctx context.Context, r subagent.Record) error {
	if _, err := f.o.Sessions.Why("", r.RunID); err == nil {
		return nil
	}
	if _, err := f.o.Sessions.Create(ctx, r.Key, r.Name(), r.Model); err != nil {
		return laterIfClosed(err)
	}
	if r.Thinking != "" {
		if _, err := f.o.Sessions.Patch(ctx, r.Key, protocol.SessionsPatchParams{ThinkingLevel: protocol.PatchTo(r.Thinking)}); err != nil {
			return laterIfClosed(err)
		}
	}
	_, err := f.o.Dispatch.AcceptWords(ctx, session.Turn{
		RunID: r.RunID, SessionKey: r.Key, Text: r.Task, Title: r.Name(), TimeoutMs: r.TimeoutMs, Owner: r.Owner, Mode: session.Followup,
		Relay: session.Relay{From: r.ParentKey, Tool: "sessions_spawn", Hops: r.Hops},
	}, false)
	return laterIfClosed(err)
}

func laterIfClosed(err error) error {
	if errors.Is(err, session.ErrClosed) || errors.Is(err, store.ErrClosed) {
		return subagent.ErrLater
	}
	return err
}

// Tell gives the result to the session that wanted it: as a message for
// the agent, in no person's name, and marked as text from outside.
func (f *feature) Tell(ctx context.Context, r subagent.Record) error {
	if _, ok, err := f.o.Sessions.Get(r.ParentKey); err != nil || !ok {
		return laterIfClosed(err) // it was deleted: nobody waits
	}
	head := fmt.Sprintf("The sub-agent “%s” %s.", r.Name(), ended(r.Outcome))
	_, err := f.o.Dispatch.AcceptWords(ctx, session.Turn{
		RunID: "announce:" + r.RunID, SessionKey: r.ParentKey, Text: head, Owner: r.Owner, Route: r.Route, Sender: r.Sender,
		Mode: session.Followup,
		ForAgent: "[" + head + " This is a message of Hearth, not of a person. Tell the person what came of it, or go on with your task; say " +
			"NO_REPLY if there is nothing to tell.]\n" +
			untrusted.Wrapper{}.Wrap("sub-agent "+r.Key, cmp.Or(r.Result, "(it said nothing)")),
		Relay: session.Relay{From: r.Key, Tool: "sessions_spawn", Hops: r.Hops},
	}, false)
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

// Stop implements spawn.Sessions.
func (f *feature) Stop(ctx context.Context, r subagent.Record) error {
	_, err := f.o.Sessions.Abort(ctx, r.Key, r.RunID)
	return err
}

// Remove implements spawn.Sessions.
func (f *feature) Remove(ctx context.Context, r subagent.Record) error {
	_, err := f.o.Sessions.Delete(ctx, r.Key, false)
	return laterIfClosed(err)
}

// Archive implements spawn.Sessions.
func (f *feature) Archive(ctx context.Context, r subagent.Record) error {
	if _, ok, err := f.o.Sessions.Get(r.Key); err != nil || !ok {
		return laterIfClosed(err)
	}
	_, err := f.o.Sessions.Patch(ctx, r.Key, protocol.SessionsPatchParams{Archived: protocol.PatchTo(true)})
	return laterIfClosed(err)
}
