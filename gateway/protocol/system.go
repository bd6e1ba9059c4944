package protocol

import "encoding/json"

// Health is the answer to health and part of hello-ok. Required by clients:
// everything without omitempty.
type Health struct {
	OK               bool              `json:"ok"`
	TS               int64             `json:"ts"`
	DurationMs       int64             `json:"durationMs"`
	Channels         map[string]any    `json:"channels"`
	ChannelOrder     []string          `json:"channelOrder"`
	ChannelLabels    map[string]string `json:"channelLabels"`
	HeartbeatSeconds int               `json:"heartbeatSeconds"`
	DefaultAgentID   string            `json:"defaultAgentId"`
	Agents           []AgentHealth     `json:"agents"`
	Sessions         SessionsHealth    `json:"sessions"`
	// Hearth is ours: what is not well, in plain words.
	Hearth *HealthDetail `json:"hearth,omitempty"`
}

// HealthDetail lists problems a person should know about.
type HealthDetail struct {
	Problems []Problem `json:"problems"`
}

// Problem says what happened, why, and what to do next.
type Problem struct {
	Code    string `json:"code"` // e.g. CONFIG_BROKEN, DISK_FULL, CONFIG_UNKNOWN_KEYS
	Message string `json:"message"`
	Repair  Repair `json:"repair,omitempty"` // what can be done about it
}

type AgentHealth struct {
	AgentID   string          `json:"agentId"`
	Name      string          `json:"name,omitempty"`
	IsDefault bool            `json:"isDefault"`
	Heartbeat HeartbeatHealth `json:"heartbeat"`
	Sessions  SessionsHealth  `json:"sessions"`
}

type HeartbeatHealth struct {
	Enabled     bool   `json:"enabled"`
	Every       string `json:"every"`
	EveryMs     int64  `json:"everyMs"`
	Prompt      string `json:"prompt"`
	Target      string `json:"target"`
	AckMaxChars int    `json:"ackMaxChars"`
}

type SessionsHealth struct {
	Path   string          `json:"path"`
	Count  int             `json:"count"`
	Recent []RecentSession `json:"recent"`
}

type RecentSession struct {
	Key       string `json:"key"`
	UpdatedAt int64  `json:"updatedAt"`
	Age       int64  `json:"age"` // ms
}

// Status is the answer to status.
type Status struct {
	RuntimeVersion     string          `json:"runtimeVersion"`
	Heartbeat          StatusHeartbeat `json:"heartbeat"`
	ChannelSummary     []string        `json:"channelSummary"`
	QueuedSystemEvents []string        `json:"queuedSystemEvents"`
	Sessions           StatusSessions  `json:"sessions"`
	// Hearth is ours: what `hearth status` prints.
	Hearth StatusDetail `json:"hearth"`
	// Pause is ours too: whether Hearth may act.
	Pause Pause `json:"hearthPause"`
}

type StatusHeartbeat struct {
	DefaultAgentID string           `json:"defaultAgentId"`
	Agents         []map[string]any `json:"agents"`
}

type StatusSessions struct {
	Paths    []string             `json:"paths"`
	Count    int                  `json:"count"`
	Defaults SessionModelDefaults `json:"defaults"`
	Recent   []SessionRow         `json:"recent"`
	ByAgent  []map[string]any     `json:"byAgent"`
}

// StatusDetail is ours.
type StatusDetail struct {
	Version     string `json:"version"`
	PID         int    `json:"pid"`
	URL         string `json:"url"`
	StateDir    string `json:"stateDir"`
	ConfigPath  string `json:"configPath"`
	UptimeMs    int64  `json:"uptimeMs"`
	Model       string `json:"model"`       // "provider/model" that answers now
	ModelSource string `json:"modelSource"` // configured, detected, environment, built-in
	Clients     int    `json:"clients"`
	ActiveRuns  int    `json:"activeRuns"`
	QueuedRuns  int    `json:"queuedRuns"`
	Undelivered int    `json:"undelivered"`
	// PendingApprovals is how many requests wait for a yes.
	PendingApprovals int       `json:"pendingApprovals"`
	ResidentBytes    int64     `json:"residentBytes"`
	StoreBytes       int64     `json:"storeBytes"` // as StoreStatus has them
	Problems         []Problem `json:"problems"`
}

type LogsTailParams struct {
	Cursor   *int64 `json:"cursor,omitempty"` // byte offset; absent: the end of the file
	Limit    int    `json:"limit,omitempty"`  // default 500, most 5000
	MaxBytes int    `json:"maxBytes,omitempty"`
}

// LogsTail: Cursor is where the next call goes on; Reset says that the file
// was replaced by a shorter one.
type LogsTail struct {
	File      string   `json:"file"`
	Cursor    int64    `json:"cursor"`
	Size      int64    `json:"size"`
	Lines     []string `json:"lines"`
	Truncated bool     `json:"truncated"`
	Reset     bool     `json:"reset"`
}

type AgentsList struct {
	DefaultID         string      `json:"defaultId"`
	Ownership         string      `json:"ownership"`
	SelectionRequired bool        `json:"selectionRequired"`
	MainKey           string      `json:"mainKey"`
	Scope             string      `json:"scope"`
	Agents            []AgentInfo `json:"agents"`
}

type AgentInfo struct {
	ID        string        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Identity  AgentIdentity `json:"identity"`
	Workspace string        `json:"workspace,omitempty"`
	Model     AgentModels   `json:"model"`
}

type AgentModels struct {
	Primary   string   `json:"primary"`
	Fallbacks []string `json:"fallbacks,omitempty"`
}

type AgentIdentity struct {
	AgentID string `json:"agentId,omitempty"`
	Name    string `json:"name"`
	Theme   string `json:"theme,omitempty"`
	Emoji   string `json:"emoji,omitempty"`
	Avatar  string `json:"avatar,omitempty"`
}

type AgentIdentityParams struct {
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
}

type ModelsListParams struct {
	View string `json:"view,omitempty"` // default, configured, all
}

type ModelsList struct {
	Models []ModelInfo `json:"models"`
}

// ModelInfo is one model a person can pick.
type ModelInfo struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Provider      string   `json:"provider"`
	Alias         string   `json:"alias,omitempty"` // a short name for /model
	ContextWindow int      `json:"contextWindow,omitempty"`
	Reasoning     bool     `json:"reasoning"`
	Input         []string `json:"input,omitempty"`
	Available     bool     `json:"available"`
	Tags          []string `json:"tags,omitempty"` // "default" on the one in use, "fallback#1" and so on
	// Hearth is ours: where it comes from and why it is not available.
	Hearth *ModelDetail `json:"hearth,omitempty"`
}

type ModelDetail struct {
	Source  string `json:"source"`            // configured, local, environment, built-in
	Service string `json:"service,omitempty"` // how people call its provider
	Priced  bool   `json:"priced,omitempty"`  // what it costs is known
	Free    bool   `json:"free,omitempty"`    // it costs nothing
	Trained int    `json:"trained,omitempty"` // tokens of context that it was made for
	// Verified is what a test found out, Resting until when (ms) none of the
	// accounts of its service may be asked.
	Verified *ModelVerified `json:"verified,omitempty"`
	Resting  int64          `json:"restingUntil,omitempty"`
	Local    bool           `json:"local"`
	NoTools  bool           `json:"noTools,omitempty"` // it cannot call tools
	Reason   string         `json:"reason,omitempty"`  // why not available, in plain words
}

// ConfigIssue points into the config file.
type ConfigIssue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// ConfigSnapshot is the answer to config.get; secrets are replaced by a marker.
type ConfigSnapshot struct {
	Path         string          `json:"path"`
	Exists       bool            `json:"exists"`
	Raw          *string         `json:"raw"`
	Parsed       json.RawMessage `json:"parsed"`
	Valid        bool            `json:"valid"`
	Config       json.RawMessage `json:"config"`
	Hash         string          `json:"hash"`
	Issues       []ConfigIssue   `json:"issues"`
	Warnings     []ConfigIssue   `json:"warnings"`
	LegacyIssues []ConfigIssue   `json:"legacyIssues"`
}

// ConfigSetParams: Raw is the whole file for config.set, a JSON merge patch
// for config.patch. A BaseHash that is no longer current is refused.
type ConfigSetParams struct {
	Raw      string `json:"raw"`
	BaseHash string `json:"baseHash,omitempty"`
}

type ConfigSetResult struct {
	OK     bool            `json:"ok"`
	Path   string          `json:"path"`
	Hash   string          `json:"hash"`
	Config json.RawMessage `json:"config"`
	Notes  []string        `json:"hearthNotes,omitempty"` // ours: what a person should know of the change
}

// LaunchLink is ours: a link that works once, until ExpiresAtMs.
type LaunchLink struct {
	URL         string `json:"url"`
	ExpiresAtMs int64  `json:"expiresAtMs"`
}

type LaunchLinkParams struct {
	TTLMs int64 `json:"ttlMs,omitempty"` // default 60 s, most 10 min
}
