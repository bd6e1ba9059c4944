package protocol

import (
	"encoding/json"
	"errors"
)

// How a task stands.
const (
	TaskQueued    = "queued"
	TaskRunning   = "running"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskCancelled = "cancelled"
	TaskTimedOut  = "timed_out"
)

// What kinds of tasks there are. The first two are named as OpenClaw names them.
const (
	TaskAutomation = "automation_run"
	TaskSubagent   = "subagent"
	TaskDownload   = "model_download"
	TaskSkill      = "skill_install"
	TaskImport     = "import"
	TaskStoreCheck = "store_check"
	// TaskStoreCompact is a task that gives back what the database does not use.
	TaskStoreCompact = "store_compact"
)

// What became of telling the result of a task.
const (
	TaskDeliveryPending   = "pending"
	TaskDeliveryDelivered = "delivered"
	TaskDeliveryFailed    = "failed"
	TaskDeliveryNone      = "not_applicable"
)

// TaskExecution is how a task is at this moment.
type TaskExecution struct {
	State          string `json:"state"` // queued, running, finished
	LastActivityAt int64  `json:"lastActivityAt,omitempty"`
}

// Task is background work as OpenClaw's clients see it; they refuse one with other
// fields. Prompt and Result are in the answer of tasks.get only.
type Task struct {
	ID              string         `json:"id"`
	TaskID          string         `json:"taskId,omitempty"` // the same
	Kind            string         `json:"kind,omitempty"`
	Runtime         string         `json:"runtime,omitempty"` // who does it: subagent, cron, download, skill, import
	Status          string         `json:"status"`
	Execution       *TaskExecution `json:"execution,omitempty"`
	Title           string         `json:"title,omitempty"`
	AgentID         string         `json:"agentId,omitempty"`
	SessionKey      string         `json:"sessionKey,omitempty"`      // the conversation that wanted it
	ChildSessionKey string         `json:"childSessionKey,omitempty"` // the one in which it is done
	HasTranscript   bool           `json:"hasTranscript,omitempty"`
	OwnerKey        string         `json:"ownerKey,omitempty"`
	RunID           string         `json:"runId,omitempty"`
	ParentTaskID    string         `json:"parentTaskId,omitempty"`
	SourceID        string         `json:"sourceId,omitempty"` // of a job's run: the job
	CreatedAt       int64          `json:"createdAt,omitempty"`
	UpdatedAt       int64          `json:"updatedAt,omitempty"`
	StartedAt       int64          `json:"startedAt,omitempty"`
	EndedAt         int64          `json:"endedAt,omitempty"`
	ProgressSummary string         `json:"progressSummary,omitempty"`
	TerminalSummary string         `json:"terminalSummary,omitempty"`
	Error           string         `json:"error,omitempty"`
	DeliveryStatus  string         `json:"deliveryStatus,omitempty"`
	Result          string         `json:"result,omitempty"`
	Prompt          string         `json:"prompt,omitempty"`
}

// Open reports whether it is not over.
func (t *Task) Open() bool { return t.Status == TaskQueued || t.Status == TaskRunning }

// TaskEvent says that a task is as it is there, or that it is gone.
type TaskEvent struct {
	Action string `json:"action"` // upserted, removed
	TaskID string `json:"taskId,omitempty"`
	Task   *Task  `json:"task,omitempty"`
}

// TaskOwn is what is ours of a task.
type TaskOwn struct {
	Done  int64 `json:"done,omitempty"`
	Total int64 `json:"total,omitempty"` // 0: nobody knows
	// Interrupted: Hearth stopped while it worked, and nobody went on with it.
	Interrupted bool `json:"interrupted,omitempty"`
	CanCancel   bool `json:"canCancel,omitempty"`
	CanRetry    bool `json:"canRetry,omitempty"`
}

// TaskView is a task as our own clients see it.
type TaskView struct {
	Task
	Hearth TaskOwn `json:"hearth"`
}

// TaskViewEvent is TaskEvent for our own clients.
type TaskViewEvent struct {
	Removed string    `json:"removed,omitempty"` // its id
	Task    *TaskView `json:"task,omitempty"`
}

// TaskStatuses is one status, or a list of them.
type TaskStatuses []string

// UnmarshalJSON reads both.
func (s *TaskStatuses) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = TaskStatuses{one}
		return nil
	}
	if json.Unmarshal(b, (*[]string)(s)) != nil {
		return errors.New("status must be one, or a list of them")
	}
	return nil
}

// TasksListParams are those of tasks.list.
type TasksListParams struct {
	Status     TaskStatuses `json:"status,omitempty"`
	AgentID    string       `json:"agentId,omitempty"`
	SessionKey string       `json:"sessionKey,omitempty"`
	Limit      int          `json:"limit,omitempty"`
	Cursor     string       `json:"cursor,omitempty"`
	SortBy     string       `json:"sortBy,omitempty"` // updatedAt, endedAt; without one by when they were created
}

// TasksList is a page of tasks, the newest first.
type TasksList struct {
	Tasks      []Task `json:"tasks"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// TaskViews is TasksList for our own clients.
type TaskViews struct {
	Tasks      []TaskView `json:"tasks"`
	NextCursor string     `json:"nextCursor,omitempty"`
}

// TaskIDParams name a task.
type TaskIDParams struct {
	TaskID string `json:"taskId"`
}

// TaskResult is the answer of tasks.get.
type TaskResult struct {
	Task Task `json:"task"`
}

// TaskCancelParams are those of tasks.cancel.
type TaskCancelParams struct {
	TaskID string `json:"taskId"`
	Reason string `json:"reason,omitempty"`
}

// TaskCancelResult says what came of tasks.cancel.
type TaskCancelResult struct {
	Found     bool   `json:"found"`
	Cancelled bool   `json:"cancelled"`
	Reason    string `json:"reason,omitempty"`
	Task      *Task  `json:"task,omitempty"`
}

// TaskIDsParams name up to ten tasks.
type TaskIDsParams struct {
	TaskIDs []string `json:"taskIds"`
}

// TaskDone says what came of one of several tasks.
type TaskDone struct {
	TaskID        string `json:"taskId"`
	OK            bool   `json:"ok"`
	Reason        string `json:"reason,omitempty"`
	DuplicateRisk bool   `json:"duplicateRisk,omitempty"`
	Task          *Task  `json:"task,omitempty"`
}

// TasksDone is the answer of tasks.retry and tasks.dismiss.
type TasksDone struct {
	Results []TaskDone `json:"results"`
}

// TaskHistoryParams are those of tasks.history.
type TaskHistoryParams struct {
	TaskID string `json:"taskId"`
	Cursor string `json:"cursor,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// TaskHistory is what was said while a task was done.
type TaskHistory struct {
	Messages   []Message `json:"messages"`
	NextCursor string    `json:"nextCursor,omitempty"`
}
