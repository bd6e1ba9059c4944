// Package task keeps one book of the background work of all features: what runs,
// how far it is, what came of it. Whoever does the work reports it and says how it
// is ended early and begun again (Owner); the package runs nothing of its own but
// what is handed to Do, and does not know what a sub-agent or a download is.
//
// What is kept is the report, not the work: after a restart each owner is asked how
// its open tasks stand, and what nobody vouches for is told as interrupted.
package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What is kept: of each kind so many that are over, for so long, and this much
// text of each.
const (
	mostOfKind = 400
	longest    = 30 * 24 * time.Hour
	maxTitle   = 200
	maxDoing   = 200
	maxText    = 2000
	maxResult  = 8000
)

// Interrupted is what is said of work that Hearth itself cut short.
const Interrupted = "Hearth stopped while it worked, and nobody went on with it."

// Errors for people.
var (
	ErrNotFound = errors.New("there is no such task")
	ErrOver     = errors.New("it is over already")
	ErrOpen     = errors.New("it is not over yet; cancel it first")
	ErrNoRetry  = errors.New("it cannot be done again from here")
	ErrNoCancel = errors.New("it cannot be ended from here")
)

// Task is background work as it is kept. ID, Kind, Status and CreatedAt are always
// there.
type Task struct {
	protocol.Task
	Done        int64           `json:"done,omitempty"`
	Total       int64           `json:"total,omitempty"` // 0: nobody knows
	Interrupted bool            `json:"interrupted,omitempty"`
	Again       bool            `json:"again,omitempty"` // its owner can do it again
	Ask         json.RawMessage `json:"ask,omitempty"`   // what that needs
}

// Owner does the tasks of one kind.
type Owner interface {
	// Now says how a task stands that was open when the program ended; false:
	// nobody works on it any more.
	Now(t Task) (Task, bool)
	// Cancel ends a task early. The end itself is reported as every other.
	Cancel(ctx context.Context, t Task) error
	// Retry does it again, and says under which id.
	Retry(ctx context.Context, t Task) (id string, err error)
}

// CanRetry reports whether doing it again is to be offered.
func (t *Task) CanRetry() bool { return t.Again && !t.Open() && t.Status != protocol.TaskCompleted }

// fit bounds what strangers wrote, and fills in what follows from the rest.
func (t *Task) fit(now int64) {
	t.TaskID = t.ID
	t.Title, t.ProgressSummary = line(t.Title, maxTitle), line(t.ProgressSummary, maxDoing)
	t.TerminalSummary, t.Error = cut(t.TerminalSummary, maxText), cut(t.Error, maxText)
	t.Prompt, t.Result = cut(t.Prompt, maxResult), cut(t.Result, maxResult)
	t.CreatedAt = cmp.Or(t.CreatedAt, now)
	if t.OwnerKey == "" {
		t.OwnerKey = t.SessionKey
	}
	state := "finished"
	switch {
	case t.Status == protocol.TaskQueued:
		state = "queued"
	case t.Status == protocol.TaskRunning:
		state, t.StartedAt = "running", cmp.Or(t.StartedAt, now)
	default:
		t.EndedAt, t.ProgressSummary = cmp.Or(t.EndedAt, now), ""
	}
	t.Execution = &protocol.TaskExecution{State: state}
}

// keep takes over what an earlier report said and this one does not.
func (t *Task) keep(was *Task) {
	t.CreatedAt = was.CreatedAt
	t.StartedAt, t.EndedAt = cmp.Or(was.StartedAt, t.StartedAt), cmp.Or(t.EndedAt, was.EndedAt)
	t.Runtime, t.Title, t.AgentID = cmp.Or(t.Runtime, was.Runtime), cmp.Or(t.Title, was.Title), cmp.Or(t.AgentID, was.AgentID)
	t.SessionKey, t.ChildSessionKey = cmp.Or(t.SessionKey, was.SessionKey), cmp.Or(t.ChildSessionKey, was.ChildSessionKey)
	t.HasTranscript = t.HasTranscript || was.HasTranscript
	t.RunID, t.SourceID = cmp.Or(t.RunID, was.RunID), cmp.Or(t.SourceID, was.SourceID)
	t.ParentTaskID, t.Prompt = cmp.Or(t.ParentTaskID, was.ParentTaskID), cmp.Or(t.Prompt, was.Prompt)
	if t.Ask == nil {
		t.Ask = was.Ask
	}
}

// same reports whether a report says nothing new.
func (t *Task) same(o *Task) bool {
	a, b := *t, *o
	a.UpdatedAt, b.UpdatedAt, a.Execution, b.Execution = 0, 0, nil, nil
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// interrupt ends a task that nobody works on any more.
func (t *Task) interrupt() {
	t.Status, t.Interrupted = protocol.TaskFailed, true
	t.Error = Interrupted
}

func line(s string, most int) string { return cut(strings.Join(strings.Fields(s), " "), most) }

// cut bounds a text by bytes, at a whole character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}

// Query says which tasks.
type Query struct {
	Statuses   []string
	AgentID    string
	SessionKey string
	SortBy     string // updatedAt, endedAt, or by when they were created
	After      Place  // of the last one that was seen
	Limit      int
}

// Place is where a page of a list ended.
type Place struct {
	At int64
	ID string
}

func (q *Query) at(t *Task) int64 {
	switch q.SortBy {
	case "updatedAt":
		return t.UpdatedAt
	case "endedAt":
		return t.EndedAt
	}
	return t.CreatedAt
}

func (q *Query) fits(t *Task) bool {
	return (len(q.Statuses) == 0 || slices.Contains(q.Statuses, t.Status)) && (q.AgentID == "" || q.AgentID == t.AgentID) &&
		(q.SessionKey == "" || q.SessionKey == t.SessionKey || q.SessionKey == t.ChildSessionKey)
}
