package protocol

import "encoding/json"

// CronIDParams name a job, under either of two names.
type CronIDParams struct {
	ID    string `json:"id,omitempty"`
	JobID string `json:"jobId,omitempty"`
}

// CronListParams filter and page the list of jobs.
type CronListParams struct {
	SessionKey      string `json:"sessionKey,omitempty"`
	IncludeDisabled bool   `json:"includeDisabled,omitempty"`
	Limit           *int   `json:"limit,omitempty"` // 1 to 200; nil = 50
	Offset          int    `json:"offset,omitempty"`
	Query           string `json:"query,omitempty"`
	Enabled         string `json:"enabled,omitempty"`       // all, enabled, disabled
	ScheduleKind    string `json:"scheduleKind,omitempty"`  // all, at, every, cron, on-exit, stream
	LastRunStatus   string `json:"lastRunStatus,omitempty"` // all, ok, error, skipped, unknown
	Trigger         string `json:"trigger,omitempty"`       // all, conditional, unconditional
	SortBy          string `json:"sortBy,omitempty"`        // nextRunAtMs, updatedAtMs, name
	SortDir         string `json:"sortDir,omitempty"`       // asc, desc
	AgentID         string `json:"agentId,omitempty"`
	Compact         bool   `json:"compact,omitempty"`
	Previews        *bool  `json:"includeDeliveryPreviews,omitempty"`
}

// CronDeliveryPreview says where the result of a job would go now.
type CronDeliveryPreview struct {
	Label  string `json:"label"`
	Detail string `json:"detail"`
}

// CronList is one page of jobs.
type CronList struct {
	Jobs             []CronJob                      `json:"jobs"`
	Total            int                            `json:"total"`
	Offset           int                            `json:"offset"`
	Limit            int                            `json:"limit"`
	HasMore          bool                           `json:"hasMore"`
	NextOffset       *int                           `json:"nextOffset"`
	SnapshotRevision string                         `json:"snapshotRevision"`
	DeliveryPreviews map[string]CronDeliveryPreview `json:"deliveryPreviews,omitempty"`
}

// CronStatus is how schedules are.
type CronStatus struct {
	Enabled         bool   `json:"enabled"`
	TriggersEnabled bool   `json:"triggersEnabled"`
	StorePath       string `json:"storePath"`
	Jobs            int    `json:"jobs"`
	NextWakeAtMs    *int64 `json:"nextWakeAtMs"`
	// Waiting says why nothing is run just now; "" = nothing keeps it.
	Waiting string `json:"waiting,omitempty"`
}

// CronAddParams is a new job. With a declarationKey that exists, that job becomes
// what is said here.
type CronAddParams struct {
	CronSpec
}

// CronAdded is the new job; for a declaration it says what became of it.
type CronAdded struct {
	CronJob
	Created         *bool                `json:"created,omitempty"`
	Updated         *bool                `json:"updated,omitempty"`
	Job             *CronJob             `json:"job,omitempty"`
	DeliveryPreview *CronDeliveryPreview `json:"deliveryPreview,omitempty"`
}

// CronUpdateParams change a job. Patch is a part of a job: what it does not name
// stays, null takes away, schedule is replaced as a whole, and so is a payload of
// another kind.
type CronUpdateParams struct {
	CronIDParams
	Patch                  json.RawMessage `json:"patch"`
	ExpectedConfigRevision string          `json:"expectedConfigRevision,omitempty"`
}

// CronRemoved says whether there was such a job.
type CronRemoved struct {
	OK      bool `json:"ok"`
	Removed bool `json:"removed"`
}

// CronRunParams run a job now. Mode: force (the default), due, if-enabled.
type CronRunParams struct {
	CronIDParams
	Mode                      string `json:"mode,omitempty"`
	ExpectedProcessInstanceID string `json:"expectedProcessInstanceId,omitempty"`
}

// CronRunStarted says whether a run was begun, and why not.
type CronRunStarted struct {
	OK                bool   `json:"ok"`
	Enqueued          bool   `json:"enqueued,omitempty"`
	Ran               *bool  `json:"ran,omitempty"` // false when it was not begun
	RunID             string `json:"runId,omitempty"`
	Reason            string `json:"reason,omitempty"` // not-due, already-running, disabled, invalid-spec, stopped
	ProcessInstanceID string `json:"processInstanceId,omitempty"`
}

// CronRunsParams filter and page the log of runs.
type CronRunsParams struct {
	CronIDParams
	AgentID          string   `json:"agentId,omitempty"`
	Scope            string   `json:"scope,omitempty"` // job, all
	RunID            string   `json:"runId,omitempty"`
	Limit            *int     `json:"limit,omitempty"` // 1 to 200; nil = 50
	Offset           int      `json:"offset,omitempty"`
	Statuses         []string `json:"statuses,omitempty"`
	Status           string   `json:"status,omitempty"` // all, ok, error, skipped
	DeliveryStatuses []string `json:"deliveryStatuses,omitempty"`
	DeliveryStatus   string   `json:"deliveryStatus,omitempty"`
	Query            string   `json:"query,omitempty"`
	SortDir          string   `json:"sortDir,omitempty"`
}

// CronUsage are the tokens of a run.
type CronUsage struct {
	Input      int64 `json:"input_tokens,omitempty"`
	Output     int64 `json:"output_tokens,omitempty"`
	Total      int64 `json:"total_tokens,omitempty"`
	CacheRead  int64 `json:"cache_read_tokens,omitempty"`
	CacheWrite int64 `json:"cache_write_tokens,omitempty"`
}

// CronTarget is where a result was meant to go.
type CronTarget struct {
	Channel   string     `json:"channel,omitempty"`
	To        string     `json:"to,omitempty"`
	AccountID string     `json:"accountId,omitempty"`
	ThreadID  CronThread `json:"threadId,omitempty"`
	Source    string     `json:"source,omitempty"` // explicit, last
}

// CronDeliveryTrace says where a result was meant to go and whether it arrived.
type CronDeliveryTrace struct {
	Intended  *CronTarget `json:"intended,omitempty"`
	Delivered *bool       `json:"delivered,omitempty"`
}

// CronAlertDelivery says what became of telling a failure.
type CronAlertDelivery struct {
	Delivered *bool  `json:"delivered,omitempty"`
	Status    string `json:"status"`
	Error     string `json:"error,omitempty"`
}

// CronRunOwn are the parts of a run that are ours.
type CronRunOwn struct {
	SlotMs     int64   `json:"slotMs,omitempty"`  // the planned instant; 0 = started by hand
	CostUSD    float64 `json:"costUsd,omitempty"` // what its model calls cost
	Late       bool    `json:"late,omitempty"`    // made up for a slot that was missed
	Missed     int     `json:"missed,omitempty"`  // slots that this run stands for beside its own
	DeliveryID string  `json:"deliveryId,omitempty"`
	State      string  `json:"state,omitempty"` // claimed, running, delivering, done
	Important  bool    `json:"important,omitempty"`
	SeenAtMs   int64   `json:"seenAtMs,omitempty"`
}

// CronRun is one row of the log of runs.
type CronRun struct {
	TS                int64              `json:"ts"`
	JobID             string             `json:"jobId"`
	JobName           string             `json:"jobName,omitempty"`
	Action            string             `json:"action"` // finished
	RunID             string             `json:"runId,omitempty"`
	Status            string             `json:"status,omitempty"`
	CompletionStatus  string             `json:"completionStatus,omitempty"` // succeeded, failed, unknown
	Error             string             `json:"error,omitempty"`
	ErrorReason       string             `json:"errorReason,omitempty"`
	Summary           string             `json:"summary,omitempty"`
	Diagnostics       *CronDiagnostics   `json:"diagnostics,omitempty"`
	Delivered         *bool              `json:"delivered,omitempty"`
	DeliveryStatus    string             `json:"deliveryStatus,omitempty"`
	DeliveryError     string             `json:"deliveryError,omitempty"`
	SuppressionReason string             `json:"deliverySuppressionReason,omitempty"`
	Alert             *CronAlertDelivery `json:"failureNotificationDelivery,omitempty"`
	Delivery          *CronDeliveryTrace `json:"delivery,omitempty"`
	SessionID         string             `json:"sessionId,omitempty"`
	SessionKey        string             `json:"sessionKey,omitempty"`
	RunAtMs           int64              `json:"runAtMs,omitempty"`
	DurationMs        *int64             `json:"durationMs,omitempty"`
	NextRunAtMs       int64              `json:"nextRunAtMs,omitempty"`
	TriggerFired      *bool              `json:"triggerFired,omitempty"`
	Model             string             `json:"model,omitempty"`
	Provider          string             `json:"provider,omitempty"`
	Usage             *CronUsage         `json:"usage,omitempty"`
	Hearth            *CronRunOwn        `json:"hearth,omitempty"`
}

// CronRuns is one page of the log, newest first unless asked otherwise.
type CronRuns struct {
	Entries    []CronRun `json:"entries"`
	Total      int       `json:"total"`
	Offset     int       `json:"offset"`
	Limit      int       `json:"limit"`
	HasMore    bool      `json:"hasMore"`
	NextOffset *int      `json:"nextOffset"`
}

// CronScratch is what a job keeps from run to run.
type CronScratch struct {
	Content     string `json:"content"`
	Revision    int64  `json:"revision"`
	UpdatedAtMs int64  `json:"updatedAtMs"`
}

// CronScratchSetParams: Content nil takes it away. ExpectedRevision 0 means that
// there is none yet; absent, it is not compared.
type CronScratchSetParams struct {
	CronIDParams
	Content          *string `json:"content"`
	ExpectedRevision *int64  `json:"expectedRevision,omitempty"`
}

// CronScratchState answers both methods of scratch; OK and Reason only the one
// that sets.
type CronScratchState struct {
	OK              *bool        `json:"ok,omitempty"`
	Reason          string       `json:"reason,omitempty"` // revision-conflict
	Scratch         *CronScratch `json:"scratch"`
	CurrentRevision int64        `json:"currentRevision"`
	MaxBytes        int64        `json:"maxBytes,omitempty"`
}

// CronEvent says that a job was added, updated, removed, started or finished.
type CronEvent struct {
	JobID            string             `json:"jobId"`
	Action           string             `json:"action"`
	Job              *CronJob           `json:"job,omitempty"`
	RunID            string             `json:"runId,omitempty"`
	SessionKey       string             `json:"sessionKey,omitempty"`
	SessionID        string             `json:"sessionId,omitempty"`
	RunAtMs          int64              `json:"runAtMs,omitempty"`
	DurationMs       *int64             `json:"durationMs,omitempty"`
	Status           string             `json:"status,omitempty"`
	CompletionStatus string             `json:"completionStatus,omitempty"`
	Error            string             `json:"error,omitempty"`
	Summary          string             `json:"summary,omitempty"`
	Delivered        *bool              `json:"delivered,omitempty"`
	DeliveryStatus   string             `json:"deliveryStatus,omitempty"`
	DeliveryError    string             `json:"deliveryError,omitempty"`
	NextRunAtMs      int64              `json:"nextRunAtMs,omitempty"`
	Model            string             `json:"model,omitempty"`
	Provider         string             `json:"provider,omitempty"`
	Usage            *CronUsage         `json:"usage,omitempty"`
	Delivery         *CronDeliveryTrace `json:"delivery,omitempty"`
	Hearth           *CronRunOwn        `json:"hearth,omitempty"`
}

// WakeParams put words into a session and, with mode now, have them looked at.
type WakeParams struct {
	Mode       string `json:"mode"` // now, next-heartbeat
	Text       string `json:"text"`
	SessionKey string `json:"sessionKey,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
}

// SetHeartbeatsParams switch heartbeats until the next start.
type SetHeartbeatsParams struct {
	Enabled *bool `json:"enabled"`
}

// SetHeartbeatsResult repeats what holds now.
type SetHeartbeatsResult struct {
	OK      bool `json:"ok"`
	Enabled bool `json:"enabled"`
}

// HeartbeatEvent is what became of a heartbeat; last-heartbeat answers null
// before the first.
type HeartbeatEvent struct {
	TS         int64  `json:"ts"`
	Status     string `json:"status"` // sent, ok-empty, ok-token, skipped, failed
	To         string `json:"to,omitempty"`
	AccountID  string `json:"accountId,omitempty"`
	Preview    string `json:"preview,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Channel    string `json:"channel,omitempty"`
	Silent     bool   `json:"silent,omitempty"`
}

// CronPreviewParams ask what a schedule means, before it is one. Text is a
// schedule in words ("20m", "every weekday at 9", "0 9 * * 1-5"); it or Schedule
// is given.
type CronPreviewParams struct {
	Text     string        `json:"text,omitempty"`
	Schedule *CronSchedule `json:"schedule,omitempty"`
	TZ       string        `json:"tz,omitempty"` // of Text; "" = the person's
	Count    int           `json:"count,omitempty"`
}

// CronPreview says when it would run. Error is why it is none, for a person.
type CronPreview struct {
	Schedule *CronSchedule `json:"schedule,omitempty"`
	Words    string        `json:"words,omitempty"`
	Zone     string        `json:"zone,omitempty"`
	Next     []int64       `json:"next"`
	Warning  string        `json:"warning,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// CronCalendarParams ask for the slots of a span of at most 62 days.
type CronCalendarParams struct {
	FromMs int64 `json:"fromMs"`
	ToMs   int64 `json:"toMs"`
}

// CronSlot is one planned run.
type CronSlot struct {
	JobID string `json:"jobId"`
	Name  string `json:"name"`
	AtMs  int64  `json:"atMs"`
}

// CronCalendar are planned runs, in order. Jobs that are due more often than
// hourly stand in Often instead.
type CronCalendar struct {
	Slots     []CronSlot `json:"slots"`
	Often     []CronSlot `json:"often"` // with the first slot of each
	Truncated bool       `json:"truncated,omitempty"`
	Zone      string     `json:"zone"`
}

// CronMissedJob is what became of the missed slots of a job.
type CronMissedJob struct {
	JobID   string `json:"jobId"`
	Name    string `json:"name"`
	Missed  int    `json:"missed"`  // slots
	Outcome string `json:"outcome"` // late, skipped, asking
	SlotMs  int64  `json:"slotMs"`  // the last of them
	RunID   string `json:"runId,omitempty"`
}

// CronMissed is the card "while I slept". Cause: slept, off, clock. Ask: nothing
// is run before somebody says so with hearth.cron.missed.resolve.
type CronMissed struct {
	ID     string          `json:"id,omitempty"` // "" = nothing was missed
	FromMs int64           `json:"fromMs,omitempty"`
	ToMs   int64           `json:"toMs,omitempty"`
	Cause  string          `json:"cause,omitempty"`
	Ask    bool            `json:"ask,omitempty"`
	Jobs   []CronMissedJob `json:"jobs"`
	Words  string          `json:"words,omitempty"`
}

// CronMissedParams puts the card away; where it asked, Run says whether the
// missed slots are made up for.
type CronMissedParams struct {
	ID  string `json:"id"`
	Run bool   `json:"run,omitempty"`
}

// CronSnoozeParams remind again later: of a run, or of a job's next one.
type CronSnoozeParams struct {
	CronIDParams
	RunID   string `json:"runId,omitempty"`
	Minutes int    `json:"minutes,omitempty"` // 0 = ten
}

// CronSeenParams say that somebody has seen what a run told.
type CronSeenParams struct {
	RunID string `json:"runId"`
}

// CronActParams say what becomes of a job, as a person says it with /cron in a
// chat, or gives it another time.
type CronActParams struct {
	CronIDParams
	Do   string `json:"do"`             // run, pause, resume, delete, plan
	When string `json:"when,omitempty"` // plan: the time in words
}

// CronActed is what became of it. Begun: a run was; Job is nil when it is gone.
type CronActed struct {
	OK    bool     `json:"ok"`
	Begun bool     `json:"begun,omitempty"`
	Job   *CronJob `json:"job,omitempty"`
}

// CronWatchTestParams say what is looked at: what a job watches, or something that
// may become one.
type CronWatchTestParams struct {
	ID    string       `json:"id,omitempty"`
	Watch *CronWatched `json:"watch,omitempty"`
}

// CronWatchTest is what was seen.
type CronWatchTest struct {
	OK      bool            `json:"ok"`
	Problem string          `json:"problem,omitempty"`
	Count   int             `json:"count"`
	Items   []CronWatchItem `json:"items"` // the last of them
}

// CronWatchItem is something that is there; its words are from outside.
type CronWatchItem struct {
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
	Link  string `json:"link,omitempty"`
}
