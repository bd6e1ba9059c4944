package cron

import (
	"cmp"
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/task"
)

// doer shows runs of jobs among the tasks: a task.Owner.
type doer struct{ f *feature }

// report tells the book of tasks how a run is.
func (f *feature) report(runID string) {
	if r, ok, err := f.book.Find(runID); err == nil && ok {
		f.Tasks.Put(f.taskOf(r))
	}
}

// taskOf is a run as a task.
func (f *feature) taskOf(r job.Run) task.Task {
	t := task.Task{Again: true}
	t.ID, t.RunID, t.SourceID = r.RunID, r.RunID, r.JobID
	t.Kind, t.Runtime, t.Title = protocol.TaskAutomation, "cron", cmp.Or(r.JobName, r.JobID)
	t.CreatedAt, t.StartedAt, t.ChildSessionKey, t.HasTranscript = r.RunAtMs, r.RunAtMs, r.SessionKey, r.SessionKey != ""
	t.Status, t.DeliveryStatus = protocol.TaskRunning, protocol.TaskDeliveryNone
	if r.Spec != nil {
		t.AgentID, t.Prompt = f.agentOf(r.Spec), cmp.Or(r.Spec.Payload.Message, r.Spec.Payload.Text)
		t.SessionKey = r.Spec.SessionKey
	}
	if r.Stage == job.Claimed || r.Stage == job.Running {
		return t
	}
	t.TerminalSummary, t.Error, t.EndedAt = r.Summary, r.Error, r.TS
	t.DeliveryStatus = map[string]string{
		protocol.CronDelivered: protocol.TaskDeliveryDelivered, protocol.CronNotDelivered: protocol.TaskDeliveryFailed,
		protocol.CronUnknown: protocol.TaskDeliveryPending,
	}[r.DeliveryStatus]
	t.DeliveryStatus = cmp.Or(t.DeliveryStatus, protocol.TaskDeliveryNone)
	switch {
	case r.Status == protocol.CronOK:
		t.Status = protocol.TaskCompleted
	case r.Status == protocol.CronSkipped || f.ended(r.RunID):
		t.Status = protocol.TaskCancelled
	case r.ErrorReason == "timeout":
		t.Status = protocol.TaskTimedOut
	default:
		t.Status, t.Interrupted = protocol.TaskFailed, r.CompletionStatus == protocol.CronUnknown
	}
	return t
}

// ended reports whether somebody cancelled a run.
func (f *feature) ended(runID string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped[runID]
}

// Now implements task.Owner.
func (d doer) Now(t task.Task) (task.Task, bool) {
	r, ok, err := d.f.book.Find(t.RunID)
	if err != nil || !ok {
		return t, false
	}
	return d.f.taskOf(r), true
}

// Cancel implements task.Owner.
func (d doer) Cancel(ctx context.Context, t task.Task) error {
	f := d.f
	r, ok, err := f.book.Find(t.RunID)
	if err != nil {
		return err
	}
	if !ok || r.Stage != job.Claimed && r.Stage != job.Running {
		return task.ErrOver
	}
	f.mu.Lock()
	if len(f.stopped) > maxPage {
		clear(f.stopped) // of runs that ended long ago
	}
	f.stopped[r.RunID] = true
	f.mu.Unlock()
	if r.SessionKey == "" {
		f.Execution.Processes.StopOwner("job:" + r.JobID)
		return nil
	}
	_, err = f.Sessions.Abort(ctx, r.SessionKey, r.RunID)
	if errors.Is(err, session.ErrNotFound) {
		err = task.ErrOver
	}
	return err
}

// Retry implements task.Owner: the job is run once more, beside its schedule.
func (d doer) Retry(ctx context.Context, t task.Task) (string, error) {
	r, err := d.f.book.Start(ctx, t.SourceID, d.f)
	if err != nil {
		return "", forClients(err)
	}
	return r.RunID, nil
}
