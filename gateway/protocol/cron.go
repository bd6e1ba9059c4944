package protocol

import (
	"encoding/json"
	"errors"
)

// Kinds of schedules.
const (
	CronAt     = "at"
	CronEvery  = "every"
	CronExpr   = "cron"
	CronOnExit = "on-exit"
	CronStream = "stream"
	CronWatch  = "watch" // ours: when something that is watched has changed
)

// Kinds of payloads: what a job does when it is due.
const (
	CronSystemEvent = "systemEvent"
	CronAgentTurn   = "agentTurn"
	CronCommand     = "command"
	CronScript      = "script"
	CronHeartbeat   = "heartbeat" // the gateway's own job
)

// Where a job's words go; "session:<key>" is the fourth.
const (
	CronMain          = "main"
	CronIsolated      = "isolated"
	CronCurrent       = "current"
	CronSessionPrefix = "session:"
)

// When a job's words are acted upon.
const (
	CronWakeNow  = "now"
	CronWakeNext = "next-heartbeat"
)

// Where the result of a job goes.
const (
	CronDeliverNone     = "none"
	CronDeliverAnnounce = "announce"
	CronDeliverWebhook  = "webhook"
)

// How a run ended.
const (
	CronOK      = "ok"
	CronError   = "error"
	CronSkipped = "skipped"
)

// What became of the delivery of a result. Delivered is the network's own
// receipt and nothing else.
const (
	CronDelivered    = "delivered"
	CronNotDelivered = "not-delivered"
	CronUnknown      = "unknown"
	CronNotRequested = "not-requested"
)

// Why a job was disabled by itself.
const (
	CronTooManyFailures = "consecutive-failures"
	CronScheduleErrors  = "schedule-errors"
)

// CronSchedule says when. Which fields count depends on Kind.
type CronSchedule struct {
	Kind      string          `json:"kind"`
	At        string          `json:"at,omitempty"`        // at: ISO time
	EveryMs   int64           `json:"everyMs,omitempty"`   // every
	AnchorMs  *int64          `json:"anchorMs,omitempty"`  // every: from when it is counted
	Expr      string          `json:"expr,omitempty"`      // cron: five or six fields
	TZ        string          `json:"tz,omitempty"`        // cron: "" = the person's zone
	StaggerMs *int64          `json:"staggerMs,omitempty"` // cron: within how much of the slot it begins; 0 = exactly
	Command   json.RawMessage `json:"command,omitempty"`   // on-exit: a line; stream: a list
	Cwd       string          `json:"cwd,omitempty"`       // on-exit, stream
	Mode      string          `json:"mode,omitempty"`      // stream: line, match
	Match     string          `json:"match,omitempty"`     // stream: what a line has to contain
	BatchMs   int64           `json:"batchMs,omitempty"`   // stream
	MaxBatch  int64           `json:"maxBatchBytes,omitempty"`
	Watch     *CronWatched    `json:"watch,omitempty"` // watch
}

// Kinds of what is watched.
const (
	WatchFile     = "file"
	WatchPage     = "page"
	WatchFeed     = "feed"
	WatchCalendar = "calendar"
	WatchMail     = "mail"
	WatchOutput   = "output"
)

// CronWatched is what is watched. Which fields count depends on Source.
type CronWatched struct {
	Source   string   `json:"source"`
	Path     string   `json:"path,omitempty"`     // file: of a file or folder; calendar: of an .ics file
	URL      string   `json:"url,omitempty"`      // page, feed, calendar; mail: imaps://host
	Selector string   `json:"selector,omitempty"` // page: which part, as in CSS
	Match    string   `json:"match,omitempty"`    // file: names like "*.pdf"
	Deep     bool     `json:"deep,omitempty"`     // file: folders in it too
	Folder   string   `json:"folder,omitempty"`   // mail: "" = INBOX
	From     []string `json:"from,omitempty"`     // mail: only from these addresses
	User     string   `json:"user,omitempty"`     // calendar, mail
	Secret   string   `json:"secret,omitempty"`   // calendar, mail: where the password is, such as keychain:mail
	Argv     []string `json:"argv,omitempty"`     // output
	AheadMs  int64    `json:"aheadMs,omitempty"`  // calendar: also so long before an event begins
	EveryMs  int64    `json:"everyMs,omitempty"`  // how often it is looked at; 0: by its kind
	// Near allows an address of this computer or its network, which a person has to
	// say.
	Near bool `json:"near,omitempty"`
}

// CronPacing bounds when the next check is, where a job says so itself.
type CronPacing struct {
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
}

// CronTrigger is a script that says whether the payload runs at all.
type CronTrigger struct {
	Script string `json:"script"`
	Once   bool   `json:"once,omitempty"`
}

// CronPayload is what is done. Which fields count depends on Kind.
type CronPayload struct {
	Kind           string            `json:"kind"`
	Text           string            `json:"text,omitempty"`     // systemEvent
	Message        string            `json:"message,omitempty"`  // agentTurn
	Model          string            `json:"model,omitempty"`    // agentTurn: provider/model
	Fallbacks      []string          `json:"fallbacks,omitzero"` // agentTurn: in the place of the configured ones; empty: none
	Thinking       string            `json:"thinking,omitempty"`
	TimeoutSeconds *float64          `json:"timeoutSeconds,omitempty"`
	Unsafe         bool              `json:"allowUnsafeExternalContent,omitempty"`
	LightContext   bool              `json:"lightContext,omitempty"`
	ToolsAllow     []string          `json:"toolsAllow,omitzero"` // empty: no tools
	ToolsDefault   bool              `json:"toolsAllowIsDefault,omitempty"`
	Argv           []string          `json:"argv,omitempty"` // command
	Cwd            string            `json:"cwd,omitempty"`
	Env            map[string]string `json:"env,omitempty"`
	Input          string            `json:"input,omitempty"`
	QuietSeconds   float64           `json:"noOutputTimeoutSeconds,omitempty"`
	MaxOutput      int64             `json:"outputMaxBytes,omitempty"`
	Script         string            `json:"script,omitempty"` // script: a program of code mode
	ToolBudget     int               `json:"toolBudget,omitempty"`
}

// CronThread is a thread's id, which some clients send as a number.
type CronThread string

// UnmarshalJSON reads text or a number.
func (t *CronThread) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return errors.New("threadId must be text or a number")
	}
	*t = CronThread(n)
	return nil
}

// CronDestination is where failures or completions are told.
type CronDestination struct {
	Mode      string `json:"mode,omitempty"` // announce, webhook
	Channel   string `json:"channel,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
}

// CronDelivery says where the result goes.
type CronDelivery struct {
	Mode       string           `json:"mode"`
	Channel    string           `json:"channel,omitempty"` // "last" or a network
	To         string           `json:"to,omitempty"`      // somebody there, or an address of webhooks
	AccountID  string           `json:"accountId,omitempty"`
	ThreadID   CronThread       `json:"threadId,omitempty"`
	BestEffort bool             `json:"bestEffort,omitempty"`
	Failure    *CronDestination `json:"failureDestination,omitempty"`
	Completion *CronDestination `json:"completionDestination,omitempty"`
}

// CronFailureAlert says when failures are told. In a job it may be false: never.
type CronFailureAlert struct {
	After          int    `json:"after,omitempty"`
	CooldownMs     *int64 `json:"cooldownMs,omitempty"`
	IncludeSkipped bool   `json:"includeSkipped,omitempty"`
	Mode           string `json:"mode,omitempty"`
	Channel        string `json:"channel,omitempty"`
	To             string `json:"to,omitempty"`
	AccountID      string `json:"accountId,omitempty"`
}

// CronOwner is who made a job.
type CronOwner struct {
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
	AccountID  string `json:"accountId,omitempty"`
}

// CronCatchUp says what becomes of slots that were missed: once, skip or all, for
// those that are not older than Within ("6h").
type CronCatchUp struct {
	Mode   string `json:"mode"`
	Within string `json:"within,omitempty"`
}

// CronWatching is how a watcher is.
type CronWatching struct {
	LookedAtMs   int64  `json:"lookedAtMs,omitempty"`
	NextLookAtMs int64  `json:"nextLookAtMs,omitempty"`
	Problem      string `json:"problem,omitempty"` // why the last look failed
}

// CronOwn are the parts of a job that are ours. What stands below the line is
// told, not set.
type CronOwn struct {
	System        bool         `json:"system,omitempty"` // Hearth's own job: its settings make it
	CatchUp       *CronCatchUp `json:"catchUp,omitempty"`
	MaxCostUSD    float64      `json:"maxCostUsd,omitempty"`       // of a run
	MaxCostPerDay float64      `json:"maxCostUsdPerDay,omitempty"` // of all runs of a day
	MaxRunsPerDay int          `json:"maxRunsPerDay,omitempty"`
	// Important asks again until somebody has seen it.
	Important bool  `json:"important,omitempty"`
	AgainMs   int64 `json:"againMs,omitempty"` // after how long; 0 = ten minutes
	Reminder  bool  `json:"reminder,omitempty"`

	// Words is the schedule as a person says it, Zone whose times these are.
	Words   string  `json:"words,omitempty"`
	Zone    string  `json:"zone,omitempty"`
	Warning string  `json:"warning,omitempty"`
	Next    []int64 `json:"next,omitempty"` // the next few times
	// Watching is how a watcher is.
	Watching *CronWatching `json:"watching,omitempty"`
}

// CronAutoDisabled says why a job was disabled by itself.
type CronAutoDisabled struct {
	Reason            string `json:"reason"`
	AtMs              int64  `json:"atMs"`
	ConsecutiveErrors int    `json:"consecutiveErrors"`
}

// CronDiagnostic is a remark about a run.
type CronDiagnostic struct {
	TS       int64  `json:"ts"`
	Source   string `json:"source"`   // cron-preflight, cron-setup, model-preflight, agent-run, tool, exec, delivery
	Severity string `json:"severity"` // info, warn, error
	Message  string `json:"message"`
	ExitCode *int   `json:"exitCode,omitempty"`
}

// CronDiagnostics are the remarks about a run.
type CronDiagnostics struct {
	Summary string           `json:"summary,omitempty"`
	Entries []CronDiagnostic `json:"entries"`
}

// CronJobState is what the gateway knows of a job.
type CronJobState struct {
	NextRunAtMs           int64             `json:"nextRunAtMs,omitempty"`
	ScheduleActivatedAtMs int64             `json:"scheduleActivatedAtMs,omitempty"`
	RunningAtMs           int64             `json:"runningAtMs,omitempty"`
	LastRunAtMs           int64             `json:"lastRunAtMs,omitempty"`
	LastRunStatus         string            `json:"lastRunStatus,omitempty"`
	LastStatus            string            `json:"lastStatus,omitempty"` // the same, as older clients read it
	LastError             string            `json:"lastError,omitempty"`
	LastErrorReason       string            `json:"lastErrorReason,omitempty"`
	LastDiagnostics       *CronDiagnostics  `json:"lastDiagnostics,omitempty"`
	LastDiagnosticSummary string            `json:"lastDiagnosticSummary,omitempty"`
	LastDurationMs        int64             `json:"lastDurationMs,omitempty"`
	ConsecutiveErrors     int               `json:"consecutiveErrors,omitempty"`
	ConsecutiveSkipped    int               `json:"consecutiveSkipped,omitempty"`
	AutoDisabled          *CronAutoDisabled `json:"autoDisabled,omitempty"`
	LastDelivered         *bool             `json:"lastDelivered,omitempty"`
	LastDeliveryStatus    string            `json:"lastDeliveryStatus,omitempty"`
	LastDeliveryError     string            `json:"lastDeliveryError,omitempty"`
	SuppressionReason     string            `json:"deliverySuppressionReason,omitempty"`
	LastAlertStatus       string            `json:"lastFailureNotificationDeliveryStatus,omitempty"`
	LastAlertAtMs         int64             `json:"lastFailureAlertAtMs,omitempty"`
	LastTriggerEvalAtMs   int64             `json:"lastTriggerEvalAtMs,omitempty"`
	TriggerEvalCount      int               `json:"triggerEvalCount,omitempty"`
	LastTriggerFireAtMs   int64             `json:"lastTriggerFireAtMs,omitempty"`
	TriggerState          json.RawMessage   `json:"triggerState,omitempty"`
	StreamStatus          string            `json:"streamStatus,omitempty"`
	StreamError           string            `json:"streamError,omitempty"`
	StreamFailures        int               `json:"streamConsecutiveFailures,omitempty"`
	StreamExhausted       bool              `json:"streamRestartExhausted,omitempty"`
	StreamLastStartedAtMs int64             `json:"streamLastStartedAtMs,omitempty"`
	StreamLastExitAtMs    int64             `json:"streamLastExitAtMs,omitempty"`
}

// CronSpec is what a person or a program says about a job.
type CronSpec struct {
	Name           string          `json:"name"`
	DeclarationKey string          `json:"declarationKey,omitempty"`
	DisplayName    string          `json:"displayName,omitempty"`
	Owner          *CronOwner      `json:"owner,omitempty"`
	AgentID        string          `json:"agentId,omitempty"`
	SessionKey     string          `json:"sessionKey,omitempty"`
	Description    string          `json:"description,omitempty"`
	Enabled        *bool           `json:"enabled,omitempty"` // nil = true; always there in answers
	DeleteAfterRun *bool           `json:"deleteAfterRun,omitempty"`
	Schedule       CronSchedule    `json:"schedule"`
	Pacing         *CronPacing     `json:"pacing,omitempty"`
	Trigger        *CronTrigger    `json:"trigger,omitempty"`
	SessionTarget  string          `json:"sessionTarget"`
	WakeMode       string          `json:"wakeMode"`
	Payload        CronPayload     `json:"payload"`
	Delivery       *CronDelivery   `json:"delivery,omitempty"`
	FailureAlert   json.RawMessage `json:"failureAlert,omitempty"` // false or a CronFailureAlert
	Hearth         *CronOwn        `json:"hearth,omitempty"`
}

// CronJob is a job as clients see it.
type CronJob struct {
	ID string `json:"id"`
	CronSpec
	CreatedAtMs      int64        `json:"createdAtMs"`
	UpdatedAtMs      int64        `json:"updatedAtMs"`
	ConfigRevision   string       `json:"configRevision,omitempty"`
	State            CronJobState `json:"state"`
	EffectiveAgentID string       `json:"effectiveAgentId,omitempty"`
	// These repeat what stands in State.
	NextRunAtMs        int64  `json:"nextRunAtMs,omitempty"`
	LastRunAtMs        int64  `json:"lastRunAtMs,omitempty"`
	LastRunStatus      string `json:"lastRunStatus,omitempty"`
	LastRunError       string `json:"lastRunError,omitempty"`
	LastDelivered      *bool  `json:"lastDelivered,omitempty"`
	LastDeliveryStatus string `json:"lastDeliveryStatus,omitempty"`
	LastDeliveryError  string `json:"lastDeliveryError,omitempty"`
}
