package protocol

// SessionRow is one session in lists and events.
type SessionRow struct {
	Key                string `json:"key"`
	Kind               string `json:"kind"` // direct, group, global, unknown
	SessionID          string `json:"sessionId"`
	AgentID            string `json:"agentId"`
	UpdatedAt          int64  `json:"updatedAt"`
	CreatedAt          int64  `json:"createdAt,omitempty"`
	Label              string `json:"label,omitempty"`
	DisplayName        string `json:"displayName,omitempty"`
	DerivedTitle       string `json:"derivedTitle,omitempty"`
	LastMessagePreview string `json:"lastMessagePreview,omitempty"`
	InputTokens        int    `json:"inputTokens"`
	OutputTokens       int    `json:"outputTokens"`
	TotalTokens        int    `json:"totalTokens"`
	ContextTokens      int    `json:"contextTokens,omitempty"`
	ModelProvider      string `json:"modelProvider,omitempty"`
	Model              string `json:"model,omitempty"`
	// ModelOverride is ours: true when the person chose this model for this session.
	ModelOverride  bool   `json:"hearthModelOverride,omitempty"`
	ThinkingLevel  string `json:"thinkingLevel,omitempty"`
	Status         string `json:"status,omitempty"` // running, done
	HasActiveRun   bool   `json:"hasActiveRun"`
	ActiveRunID    string `json:"activeRunId,omitempty"`
	QueuedRuns     int    `json:"queuedRuns,omitempty"`
	AbortedLastRun bool   `json:"abortedLastRun,omitempty"`
	MessageCount   int    `json:"messageCount"`
	Pinned         bool   `json:"pinned,omitempty"`
	Archived       bool   `json:"archived,omitempty"`
}

type SessionsListParams struct {
	Limit                int    `json:"limit,omitempty"` // default 100, most 1000
	Offset               int    `json:"offset,omitempty"`
	AgentID              string `json:"agentId,omitempty"`
	Search               string `json:"search,omitempty"`
	ActiveMinutes        int    `json:"activeMinutes,omitempty"`
	IncludeDerivedTitles bool   `json:"includeDerivedTitles,omitempty"`
	IncludeLastMessage   bool   `json:"includeLastMessage,omitempty"`
}

type SessionsList struct {
	TS           int64                `json:"ts"`
	Path         string               `json:"path"`
	Count        int                  `json:"count"`
	TotalCount   int                  `json:"totalCount"`
	LimitApplied int                  `json:"limitApplied"`
	NextOffset   *int                 `json:"nextOffset"`
	HasMore      bool                 `json:"hasMore"`
	Owners       []string             `json:"owners"`
	Defaults     SessionModelDefaults `json:"defaults"`
	Sessions     []SessionRow         `json:"sessions"`
}

type SessionModelDefaults struct {
	ModelProvider string `json:"modelProvider"`
	Model         string `json:"model"`
	ContextTokens int    `json:"contextTokens"`
}

type SessionKeyParams struct {
	Key     string `json:"key"`
	AgentID string `json:"agentId,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

type SessionsGetResult struct {
	Session  *SessionRow `json:"session"`
	Messages []Message   `json:"messages"`
}

type SessionsCreateParams struct {
	Key     string `json:"key,omitempty"`
	AgentID string `json:"agentId,omitempty"`
	Label   string `json:"label,omitempty"`
	Model   string `json:"model,omitempty"`
	// Message, when set, is sent as the first turn under IdempotencyKey.
	Message        string `json:"message,omitempty"`
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
}

type SessionEntry struct {
	SessionID string `json:"sessionId"`
	UpdatedAt int64  `json:"updatedAt"`
	CreatedAt int64  `json:"createdAt,omitempty"`
	Label     string `json:"label,omitempty"`
}

type SessionsCreateResult struct {
	OK         bool         `json:"ok"`
	Key        string       `json:"key"`
	SessionID  string       `json:"sessionId"`
	Entry      SessionEntry `json:"entry"`
	RunStarted bool         `json:"runStarted"`
	RunID      string       `json:"runId,omitempty"`
}

// SessionsPatchParams changes a session; a JSON null clears a field, an absent
// one is left alone. Label, Model, ThinkingLevel, Pinned and Archived are known.
type SessionsPatchParams struct {
	Key           string        `json:"key"`
	AgentID       string        `json:"agentId,omitempty"`
	Label         Patch[string] `json:"label,omitzero"`
	Model         Patch[string] `json:"model,omitzero"` // "provider/model"
	ThinkingLevel Patch[string] `json:"thinkingLevel,omitzero"`
	Pinned        Patch[bool]   `json:"pinned,omitzero"`
	Archived      Patch[bool]   `json:"archived,omitzero"`
}

type ResolvedModel struct {
	ModelProvider string `json:"modelProvider"`
	Model         string `json:"model"`
}

type SessionsPatchResult struct {
	OK       bool          `json:"ok"`
	Path     string        `json:"path"`
	Key      string        `json:"key"`
	Entry    SessionEntry  `json:"entry"`
	Resolved ResolvedModel `json:"resolved"`
}

type SessionsResetParams struct {
	Key     string `json:"key"`
	AgentID string `json:"agentId,omitempty"`
	Reason  string `json:"reason,omitempty"` // new, reset
}

type SessionsResetResult struct {
	OK    bool         `json:"ok"`
	Key   string       `json:"key"`
	Entry SessionEntry `json:"entry"`
}

type SessionsDeleteParams struct {
	Key              string `json:"key"`
	AgentID          string `json:"agentId,omitempty"`
	DeleteTranscript *bool  `json:"deleteTranscript,omitempty"`
}

type SessionsDeleteResult struct {
	OK       bool     `json:"ok"`
	Key      string   `json:"key"`
	Deleted  bool     `json:"deleted"`
	Archived []string `json:"archived"`
}

type SubscribeResult struct {
	Subscribed bool   `json:"subscribed"`
	Key        string `json:"key,omitempty"`
}

// SessionsChanged is the payload of event "sessions.changed".
type SessionsChanged struct {
	SessionKey string      `json:"sessionKey"`
	AgentID    string      `json:"agentId,omitempty"`
	Reason     string      `json:"reason,omitempty"` // create, patch, reset, delete, send
	Phase      string      `json:"phase,omitempty"`  // start, end, error
	RunID      string      `json:"runId,omitempty"`
	TS         int64       `json:"ts"`
	Session    *SessionRow `json:"session,omitempty"`
}

// SessionMessage is the payload of event "session.message".
type SessionMessage struct {
	SessionKey string   `json:"sessionKey"`
	AgentID    string   `json:"agentId,omitempty"`
	Message    *Message `json:"message"`
	MessageID  string   `json:"messageId,omitempty"`
	MessageSeq int64    `json:"messageSeq,omitempty"`
}

// TranscriptExportParams pages through a session's entries.
type TranscriptExportParams struct {
	Key   string `json:"key"`
	After int64  `json:"after,omitempty"` // __openclaw.seq of the last entry read
	Limit int    `json:"limit,omitempty"` // default 500, most 1000
}

type TranscriptExport struct {
	Key      string    `json:"key"`
	Messages []Message `json:"messages"`
	HasMore  bool      `json:"hasMore"`
}
