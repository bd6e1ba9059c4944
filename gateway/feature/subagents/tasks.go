package subagents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// doer shows sub-agents among the tasks: a task.Owner.
type doer struct{ f *feature }

// maxAsk bounds the task that is kept to be done again.
const maxAsk = 64 << 10

// report tells the book of tasks how the sub-agents are.
func (f *feature) report(all []subagent.Record) {
	for _, r := range all {
		f.o.Tasks.Put(taskOf(r))
	}
}

func taskOf(r subagent.Record) task.Task {
	t := task.Task{Again: len(r.Task) <= maxAsk}
	t.ID, t.RunID, t.Kind, t.Runtime, t.Title = r.RunID, r.RunID, protocol.TaskSubagent, "subagent", r.Name()
	t.AgentID, t.SessionKey, t.ChildSessionKey, t.HasTranscript = session.AgentOf(r.Key), r.ParentKey, r.Key, r.State != subagent.Queued
	t.CreatedAt, t.Prompt, t.DeliveryStatus = r.CreatedAt, r.Task, protocol.TaskDeliveryPending
	if t.Again {
		again := r // without what came of it
		again.Result, again.Outcome, again.State = "", "", ""
		t.Ask, _ = json.Marshal(again) //nolint:errcheck // a record can always be written
	}
	switch r.State {
	case subagent.Queued:
		t.Status = protocol.TaskQueued
		return t
	case subagent.Running:
		t.Status = protocol.TaskRunning
		return t
	case subagent.Told:
		t.DeliveryStatus = protocol.TaskDeliveryDelivered
	}
	if r.Stop {
		t.DeliveryStatus = protocol.TaskDeliveryNone
	}
	t.EndedAt, t.Result = r.EndedAt, r.Result
	switch r.Outcome {
	case string(session.RunAnswered):
		t.Status, t.TerminalSummary = protocol.TaskCompleted, firstLine(r.Result)
	case string(session.RunAborted):
		t.Status = protocol.TaskCancelled
	case string(session.RunInterrupted):
		t.Status, t.Interrupted, t.Error = protocol.TaskFailed, true, task.Interrupted
	default:
		t.Status, t.Error = protocol.TaskFailed, r.Result
	}
	return t
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Now implements task.Owner.
func (d doer) Now(t task.Task) (task.Task, bool) {
	all, err := d.f.o.Book.All()
	if err != nil {
		return t, false
	}
	for _, r := range all {
		if r.RunID == t.ID {
			return taskOf(r), true
		}
	}
	return t, false
}

// Cancel implements task.Owner.
func (d doer) Cancel(ctx context.Context, t task.Task) error {
	ok, err := d.f.o.Book.Kill(ctx, t.ID)
	if err == nil && !ok {
		err = task.ErrOver
	}
	return err
}

// Retry implements task.Owner: another sub-agent with the same task, for the same
// conversation.
func (d doer) Retry(ctx context.Context, t task.Task) (string, error) {
	var r subagent.Record
	if err := json.Unmarshal(t.Ask, &r); err != nil {
		return "", fmt.Errorf("read what was to be done: %w", err)
	}
	if _, ok, err := d.f.o.Sessions.Get(r.ParentKey); err != nil || !ok {
		return "", fmt.Errorf("the conversation that wanted it is gone: %w", task.ErrNoRetry)
	}
	r.RunID, r.Key, r.Stop, r.EndedAt = uuid.New(), subagent.KeyBelow(r.ParentKey, session.AgentOf(r.ParentKey), uuid.New()), false, 0
	if err := d.f.o.Book.Add(ctx, r); err != nil {
		return "", err
	}
	d.f.o.Tasks.Put(taskOf(queued(r)))
	return r.RunID, nil
}

func queued(r subagent.Record) subagent.Record {
	r.State = subagent.Queued
	return r
}
