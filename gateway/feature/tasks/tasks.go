// Package tasks is the feature that shows background work and lets a person end
// it or have it done again: the methods tasks.*, hearth.tasks.list, their events
// and /tasks. The book of the work is package gateway/task's, the work itself that
// of the features that report it.
package tasks

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/task"
)

const (
	defaultPage = 100
	maxPage     = 500
	maxIDs      = 10
	maxCursor   = 512
)

// Clients are told what happens.
type Clients interface{ Broadcast(b server.Broadcast) }

// Options are the parts that the feature needs; all of them.
type Options struct {
	Book     *task.Book
	Agents   *agents.Directory
	Sessions *session.Manager
	Clients  Clients
	Now      func() time.Time
}

type feature struct{ Options }

// New makes the feature. It is the last of the list: whoever does tasks has said so
// by then.
func New(o Options) host.Feature {
	f := &feature{o}
	o.Book.Settle()
	o.Book.Follow(f.told)
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodTasksList, f.list),
			method.Plain(protocol.MethodTaskViews, f.views),
			method.Plain(protocol.MethodTasksGet, f.get),
			method.Plain(protocol.MethodTasksCancel, f.cancel),
			method.Plain(protocol.MethodTasksRetry, f.retry),
			method.Plain(protocol.MethodTasksDismiss, f.dismiss),
			method.Plain(protocol.MethodTasksHistory, f.history),
		},
		Commands: []command.Command{{Spec: command.Spec{
			Name: "tasks", Args: "[list|show|cancel|retry] [task]", Category: "tools",
			Description: "See what works in the background, end it or do it again", Choices: []string{"list", "show", "cancel", "retry"},
		}, Do: f.command}},
		Run: o.Book.Run,
	}
}

// told gives a change on, in OpenClaw's shape and in ours.
func (f *feature) told(t task.Task, gone bool) {
	theirs := protocol.TaskEvent{Action: "removed", TaskID: t.ID}
	ours := protocol.TaskViewEvent{Removed: t.ID}
	if !gone {
		short := brief(t)
		theirs, ours = protocol.TaskEvent{Action: "upserted", Task: &short}, protocol.TaskViewEvent{Task: view(t)}
	}
	f.Clients.Broadcast(server.Broadcast{Event: protocol.EventTask, Payload: theirs})
	f.Clients.Broadcast(server.Broadcast{Event: protocol.EventTaskView, Payload: ours})
}

// brief is a task without its long texts.
func brief(t task.Task) protocol.Task {
	w := t.Task
	w.Prompt, w.Result = "", ""
	return w
}

func view(t task.Task) *protocol.TaskView {
	return &protocol.TaskView{Task: brief(t), Hearth: protocol.TaskOwn{
		Done: t.Done, Total: t.Total, Interrupted: t.Interrupted, CanCancel: t.Open(), CanRetry: t.CanRetry(),
	}}
}

func (f *feature) page(m string, p protocol.TasksListParams) (page []task.Task, next string, err error) {
	q := task.Query{Statuses: p.Status, AgentID: p.AgentID, SortBy: p.SortBy, Limit: p.Limit}
	if p.Limit == 0 {
		q.Limit = defaultPage
	}
	bad := func(s string) bool {
		return !slices.Contains([]string{
			protocol.TaskQueued, protocol.TaskRunning, protocol.TaskCompleted, protocol.TaskFailed, protocol.TaskCancelled, protocol.TaskTimedOut,
		}, s)
	}
	switch {
	case q.Limit < 1 || q.Limit > maxPage:
		return nil, "", protocol.InvalidParams(m, "limit is 1 to %d", maxPage)
	case !slices.Contains([]string{"", "updatedAt", "endedAt"}, p.SortBy):
		return nil, "", protocol.InvalidParams(m, "sortBy is updatedAt or endedAt")
	case slices.ContainsFunc(p.Status, bad):
		return nil, "", protocol.InvalidParams(m, "status is queued, running, completed, failed, cancelled or timed_out")
	}
	if p.SessionKey != "" {
		if q.SessionKey, err = f.Agents.Canonical(p.SessionKey, p.AgentID); err != nil {
			return nil, "", err
		}
		q.AgentID = ""
	}
	if p.Cursor != "" {
		if q.After, err = placeOf(p.Cursor); err != nil {
			return nil, "", protocol.InvalidParams(m, "%s", err.Error())
		}
	}
	page, more := f.Book.List(q)
	if more {
		at := q.PlaceOf(page[len(page)-1])
		next = strconv.FormatInt(at.At, 10) + "." + at.ID
	}
	return page, next, nil
}

func placeOf(cursor string) (task.Place, error) {
	at, id, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" || len(cursor) > maxCursor {
		return task.Place{}, errors.New("invalid or expired tasks.list cursor; restart pagination without a cursor")
	}
	return task.Place{At: n, ID: id}, nil
}

func (f *feature) list(_ context.Context, p protocol.TasksListParams) (protocol.TasksList, error) {
	page, next, err := f.page(protocol.MethodTasksList, p)
	out := protocol.TasksList{Tasks: []protocol.Task{}, NextCursor: next}
	for _, t := range page {
		out.Tasks = append(out.Tasks, brief(t))
	}
	return out, err
}

func (f *feature) views(_ context.Context, p protocol.TasksListParams) (protocol.TaskViews, error) {
	page, next, err := f.page(protocol.MethodTaskViews, p)
	out := protocol.TaskViews{Tasks: []protocol.TaskView{}, NextCursor: next}
	for _, t := range page {
		out.Tasks = append(out.Tasks, *view(t))
	}
	return out, err
}

// named is a task by its id, or the id of its run.
func (f *feature) named(m, id string) (task.Task, error) {
	if id == "" {
		return task.Task{}, protocol.MissingParam(m, "taskId")
	}
	t, ok := f.Book.Get(id)
	if !ok {
		return t, protocol.Invalid("Task not found.").With("code", "NOT_FOUND")
	}
	return t, nil
}

func (f *feature) get(_ context.Context, p protocol.TaskIDParams) (protocol.TaskResult, error) {
	t, err := f.named(protocol.MethodTasksGet, p.TaskID)
	return protocol.TaskResult{Task: t.Task}, err
}

func (f *feature) cancel(ctx context.Context, p protocol.TaskCancelParams) (out protocol.TaskCancelResult, err error) {
	if p.TaskID == "" {
		return out, protocol.MissingParam(protocol.MethodTasksCancel, "taskId")
	}
	err = f.Book.Cancel(ctx, p.TaskID)
	out.Found, out.Cancelled = !errors.Is(err, task.ErrNotFound), err == nil
	if refusal(err) {
		out.Reason, err = protocol.Sentence(err.Error()), nil
	}
	if t, ok := f.Book.Get(p.TaskID); ok {
		short := brief(t)
		out.Task = &short
	}
	return out, err
}

// refusal reports whether an error is an answer and no failure.
func refusal(err error) bool {
	for _, known := range []error{task.ErrNotFound, task.ErrOver, task.ErrOpen, task.ErrNoRetry, task.ErrNoCancel} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func (f *feature) retry(ctx context.Context, p protocol.TaskIDsParams) (protocol.TasksDone, error) {
	return each(protocol.MethodTasksRetry, p, func(id string) (task.Task, error) { return f.Book.Retry(ctx, id) })
}

func (f *feature) dismiss(_ context.Context, p protocol.TaskIDsParams) (protocol.TasksDone, error) {
	return each(protocol.MethodTasksDismiss, p, f.Book.Dismiss)
}

func each(m string, p protocol.TaskIDsParams, do func(id string) (task.Task, error)) (protocol.TasksDone, error) {
	out := protocol.TasksDone{Results: []protocol.TaskDone{}}
	if len(p.TaskIDs) == 0 || len(p.TaskIDs) > maxIDs {
		return out, protocol.InvalidParams(m, "taskIds has 1 to %d ids", maxIDs)
	}
	for _, id := range p.TaskIDs {
		t, err := do(id)
		d := protocol.TaskDone{TaskID: id, OK: err == nil}
		if err != nil {
			d.Reason = protocol.Sentence(err.Error())
		}
		if t.ID != "" {
			short := brief(t)
			d.Task = &short
		}
		out.Results = append(out.Results, d)
	}
	return out, nil
}

// history is what was said in the conversation of a task.
func (f *feature) history(ctx context.Context, p protocol.TaskHistoryParams) (protocol.TaskHistory, error) {
	out := protocol.TaskHistory{Messages: []protocol.Message{}}
	t, err := f.named(protocol.MethodTasksHistory, p.TaskID)
	if err != nil {
		return out, err
	}
	if !t.HasTranscript || t.ChildSessionKey == "" {
		return out, protocol.Invalid("This task has no readable transcript.")
	}
	const most = 200
	q := protocol.ChatHistoryParams{SessionKey: t.ChildSessionKey, Limit: min(max(p.Limit, 0), most)}
	if p.Cursor != "" {
		if q.Before, err = strconv.ParseInt(p.Cursor, 10, 64); err != nil || q.Before <= 0 {
			return out, protocol.Invalid("Invalid task history cursor. Refresh the task.")
		}
	}
	h, err := f.Sessions.History(ctx, t.ChildSessionKey, q)
	if err != nil {
		return out, err
	}
	if out.Messages = h.Messages; h.HasMore && len(h.Messages) > 0 && h.Messages[0].Meta != nil {
		out.NextCursor = strconv.FormatInt(h.Messages[0].Meta.Seq, 10)
	}
	return out, nil
}
