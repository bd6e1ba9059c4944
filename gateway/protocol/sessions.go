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
	// ContextTokens is the window of the model that answered last, as clients of
	// OpenClaw take it. ContextUsed is ours: how much of it the conversation takes.
	ContextTokens int    `json:"contextTokens,omitempty"`
	ContextUsed   int    `json:"hearthContextUsed,omitempty"`
	ModelProvider string `json:"modelProvider,omitempty"`
	Model         string `json:"model,omitempty"`
	// ModelOverride is ours: true when the person chose this model for this session.
	ModelOverride bool `json:"hearthModelOverride,omitempty"`
	// What stands in the place of the default, and who decided so: user or auto.
	ProviderOverride       string `json:"providerOverride,omitempty"`
	OverrideModel          string `json:"modelOverride,omitempty"`
	OverrideSource         string `json:"modelOverrideSource,omitempty"`
	AuthProfile            string `json:"authProfileOverride,omitempty"`
	AuthProfileSource      string `json:"authProfileOverrideSource,omitempty"`
	AuthProfileCompactions int    `json:"authProfileOverrideCompactionCount,omitempty"`
	// Fallback is ours: another model than the selected one answers.
	Fallback        *SessionFallback `json:"hearthFallback,omitempty"`
	ThinkingLevel   string           `json:"thinkingLevel,omitempty"`
	VerboseLevel    string           `json:"verboseLevel,omitempty"`
	ReasoningLevel  string           `json:"reasoningLevel,omitempty"`
	SendPolicy      string           `json:"sendPolicy,omitempty"` // allow, deny
	CompactionCount int              `json:"compactionCount,omitempty"`
	Status          string           `json:"status,omitempty"` // running, done
	HasActiveRun    bool             `json:"hasActiveRun"`
	ActiveRunID     string           `json:"activeRunId,omitempty"`
	ActiveRunIDs    []string         `json:"activeRunIds"`
	LastRunID       string           `json:"lastRunId,omitempty"`  // that ended last, while none is active
	SnapshotAt      int64            `json:"snapshotAt,omitempty"` // when this was so, ms; a later one is the truer
	QueuedRuns      int              `json:"queuedRuns,omitempty"`
	AbortedLastRun  bool             `json:"abortedLastRun,omitempty"`
	MessageCount    int              `json:"messageCount"`
	ChatType        string           `json:"chatType,omitempty"`
	Channel         string           `json:"channel,omitempty"`
	// Of groups: what the group is called, or else, where it is a named room of the network,
	// how that is called (GroupChannel says the same, as newer clients read it) and the server,
	// workspace or team that it is in.
	Subject      string         `json:"subject,omitempty"`
	Room         string         `json:"room,omitempty"`
	GroupChannel string         `json:"groupChannel,omitempty"`
	Space        string         `json:"space,omitempty"`
	Origin       *SessionOrigin `json:"origin,omitempty"`
	// Where answers that are delivered go: where a message came from last, or where
	// the owner goes on. Dock is ours: they do, until they say otherwise.
	LastChannel     string           `json:"lastChannel,omitempty"`
	LastTo          string           `json:"lastTo,omitempty"`
	LastAccountID   string           `json:"lastAccountId,omitempty"`
	DeliveryContext *DeliveryContext `json:"deliveryContext,omitempty"`
	Dock            *SessionOrigin   `json:"hearthDock,omitempty"`
	Pinned          bool             `json:"pinned,omitempty"`
	Archived        bool             `json:"archived,omitempty"`
	ArchivedAt      int64            `json:"archivedAt,omitempty"`
	Folder          string           `json:"hearthFolder,omitempty"` // that an editor works in
	// Category is the folder of the list of chats that it is in, "" for none.
	Category string `json:"category,omitempty"`
	// Branch is ours: another one means that the transcript reads differently now.
	Branch string `json:"hearthBranch,omitempty"`
}

// SessionFallback says which model answers in the place of the selected one.
type SessionFallback struct {
	Selected string `json:"selected"` // "provider/model"
	Active   string `json:"active"`
	Reason   string `json:"reason"`
}

// DeliveryContext is a conversation on a messaging network.
type DeliveryContext struct {
	Channel   string `json:"channel,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	ThreadID  string `json:"threadId,omitempty"`
}

// SessionOrigin explains where a session's messages come from.
type SessionOrigin struct {
	Label     string `json:"label,omitempty"`
	Provider  string `json:"provider,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	ThreadID  string `json:"threadId,omitempty"`
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
	// ArchivedAt is when it was archived; absent when it is not.
	ArchivedAt int64 `json:"archivedAt,omitempty"`
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
// one is left alone.
type SessionsPatchParams struct {
	Key            string        `json:"key"`
	AgentID        string        `json:"agentId,omitempty"`
	Label          Patch[string] `json:"label,omitzero"`
	Model          Patch[string] `json:"model,omitzero"` // "provider/model"
	ThinkingLevel  Patch[string] `json:"thinkingLevel,omitzero"`
	VerboseLevel   Patch[string] `json:"verboseLevel,omitzero"`   // on, off, full
	ReasoningLevel Patch[string] `json:"reasoningLevel,omitzero"` // on, off, stream
	SendPolicy     Patch[string] `json:"sendPolicy,omitzero"`     // allow, deny; null = by the rules
	Pinned         Patch[bool]   `json:"pinned,omitzero"`
	Archived       Patch[bool]   `json:"archived,omitzero"`
	Folder         Patch[string] `json:"hearthFolder,omitzero"` // ours: the folder that an editor works in
	Category       Patch[string] `json:"category,omitzero"`     // the folder of the list of chats

	// What the session must be for the change to happen. The settings are
	// OpenClaw's; ours have none of them, so that only null agrees.
	ExpectedSessionID            string `json:"expectedSessionId,omitempty"`
	ExpectedLifecycleRevision    string `json:"expectedLifecycleRevision,omitempty"`
	ExpectedPermissionMode       any    `json:"expectedPermissionMode,omitempty"`
	ExpectedSandboxMode          any    `json:"expectedSandboxMode,omitempty"`
	ExpectedNativeRuntimeConsent any    `json:"expectedNativeRuntimeConsent,omitempty"`
	ExpectedToolOverrides        any    `json:"expectedToolOverrides,omitempty"`
	ExpectedMarkedUnreadAt       any    `json:"expectedMarkedUnreadAt,omitempty"`
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
	// ExpectedSessionID is what the session must be for it to happen.
	ExpectedSessionID string `json:"expectedSessionId,omitempty"`
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
	ArchivedOnly     bool   `json:"archivedOnly,omitempty"` // refused when it is not archived

	// What the session must be for it to happen.
	ExpectedSessionID         string `json:"expectedSessionId,omitempty"`
	ExpectedLifecycleRevision string `json:"expectedLifecycleRevision,omitempty"`
	ExpectedSessionUpdatedAt  *int64 `json:"expectedSessionUpdatedAt,omitempty"`
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

// ViewParams name the chat that somebody looks at; empty: none, or no longer.
type ViewParams struct {
	Key string `json:"key"`
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

// Earlier is a conversation that a reset put aside: by a rule, /new or /reset.
// chat.history reads it with its SessionID.
type Earlier struct {
	SessionKey string `json:"sessionKey"`
	SessionID  string `json:"sessionId"`
	Title      string `json:"title,omitempty"`
	EndedAt    int64  `json:"endedAt"`
	Messages   int    `json:"messages"`
}

// EarlierParams asks for the earlier conversations of a session, for the one
// with a session id, or with neither for all.
type EarlierParams struct {
	Key       string `json:"key,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Limit     int    `json:"limit,omitempty"` // default 100, most 1000
}

// EarlierList is the latest first.
type EarlierList struct {
	Earlier []Earlier `json:"earlier"`
	Total   int       `json:"total"`
}

// ContinueParams makes an earlier conversation a chat of its own.
type ContinueParams struct {
	Key       string `json:"key"`
	SessionID string `json:"sessionId"`
}

// Continued is the chat that it is now.
type Continued struct {
	Key     string     `json:"key"`
	Session SessionRow `json:"session"`
}

// TranscriptExportParams pages through a session's entries.
type TranscriptExportParams struct {
	Key       string `json:"key"`
	SessionID string `json:"sessionId,omitempty"` // an earlier conversation of the session
	After     int64  `json:"after,omitempty"`     // __openclaw.seq of the last entry read
	Limit     int    `json:"limit,omitempty"`     // default 500, most 1000
}

type TranscriptExport struct {
	Key      string    `json:"key"`
	Messages []Message `json:"messages"`
	HasMore  bool      `json:"hasMore"`
}

// SessionsCompactParams summarizes the older part of a session.
type SessionsCompactParams struct {
	Key          string `json:"key"`
	AgentID      string `json:"agentId,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	// Restore is ours: take the summary away again.
	Restore bool `json:"hearthRestore,omitempty"`
}

type SessionsCompactResult struct {
	OK        bool   `json:"ok"`
	Key       string `json:"key"`
	Compacted bool   `json:"compacted"`
	Reason    string `json:"reason,omitempty"`
}

// SessionsDescribeResult: Session is null when there is none.
type SessionsDescribeResult struct {
	Session *SessionRow `json:"session"`
}

// SessionsResolveParams finds a session by one of its names.
type SessionsResolveParams struct {
	Key       string `json:"key,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Label     string `json:"label,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
}

type SessionsResolveResult struct {
	OK      bool   `json:"ok"`
	Key     string `json:"key"`
	AgentID string `json:"agentId,omitempty"`
}

type SessionsPreviewParams struct {
	Keys     []string `json:"keys"`
	Limit    int      `json:"limit,omitempty"`    // items a session, default 6
	MaxChars int      `json:"maxChars,omitempty"` // of an item, default 240
}

type SessionsPreview struct {
	TS       int64            `json:"ts"`
	Previews []SessionPreview `json:"previews"`
}

type SessionPreview struct {
	Key    string        `json:"key"`
	Status string        `json:"status"` // ok, missing, empty
	Items  []PreviewItem `json:"items"`
}

type PreviewItem struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// QueueEditParams is ours: other words for a message that still waits.
type QueueEditParams struct {
	Key     string `json:"key"`
	RunID   string `json:"runId"`
	Message string `json:"message"`
}

type OKResult struct {
	OK bool `json:"ok"`
}

// WhyParams is ours: RunID, or the last message of Key.
type WhyParams struct {
	Key   string `json:"key,omitempty"`
	RunID string `json:"runId,omitempty"`
}

// Why tells how a message was dealt with.
type Why struct {
	RunID      string       `json:"runId"`
	SessionKey string       `json:"sessionKey"`
	State      ReceiptState `json:"state"`
	Model      string       `json:"model,omitempty"`
	AcceptedAt int64        `json:"acceptedAt"`
	StartedAt  int64        `json:"startedAt,omitempty"`
	EndedAt    int64        `json:"endedAt,omitempty"`
	Attempts   int          `json:"attempts"`
	AnsweredIn string       `json:"answeredIn,omitempty"` // run that answered it too
	Reasons    []WhyReason  `json:"reasons"`
}

// WhyReason is one decision about a message.
type WhyReason struct {
	At     int64   `json:"at"` // milliseconds since 1970
	Rule   WhyRule `json:"rule"`
	Detail string  `json:"detail"` // in plain words
}

// WhyRule is what kind of rule decided something about a message.
type WhyRule string

const (
	WhyModel     WhyRule = "model"     // which model answers, and who chose it
	WhyLevels    WhyRule = "levels"    // what the message asked of the model by itself
	WhyFallback  WhyRule = "fallback"  // another model answers
	WhyNotice    WhyRule = "notice"    // the allowance changed the model
	WhySkipped   WhyRule = "skipped"   // a model was not asked
	WhyRetried   WhyRule = "retried"   // a model failed, and was or another is asked
	WhyCompacted WhyRule = "compacted" // the oldest part of the conversation was summarized
	WhyTool      WhyRule = "tool"      // a tool ran
	WhySilent    WhyRule = "silent"    // the model chose to say nothing
	WhyResumed   WhyRule = "resumed"   // Hearth was started again meanwhile
	WhyEnded     WhyRule = "ended"     // how the answer ended
	WhySteer     WhyRule = "steer"     // the four modes of a message that came during an answer
	WhyFollowup  WhyRule = "followup"
	WhyCollect   WhyRule = "collect"
	WhyInterrupt WhyRule = "interrupt"
)

// CommandsList is what clients complete.
type CommandsList struct {
	Commands []CommandInfo `json:"commands"`
}

type CommandInfo struct {
	Name        string       `json:"name"`
	TextAliases []string     `json:"textAliases"`
	Description string       `json:"description"`
	Category    string       `json:"category,omitempty"`
	Source      string       `json:"source"` // native
	Scope       string       `json:"scope"`  // both
	AcceptsArgs bool         `json:"acceptsArgs"`
	Args        []CommandArg `json:"args,omitempty"`
}

type CommandArg struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        string          `json:"type"` // string
	Choices     []CommandChoice `json:"choices,omitempty"`
}

// CommandChoice is something that an argument may be.
type CommandChoice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// SessionsUsageParams: Key for one session, otherwise the last used ones.
type SessionsUsageParams struct {
	Key   string `json:"key,omitempty"`
	Limit int    `json:"limit,omitempty"` // default 100, most 1000
}

// SessionsUsage counts tokens as the gateway keeps them; clients do not add up
// transcripts.
type SessionsUsage struct {
	UpdatedAt int64              `json:"updatedAt"`
	Sessions  []SessionUsageRow  `json:"sessions"`
	Totals    SessionUsageTotals `json:"totals"`
}

type SessionUsageRow struct {
	Key           string             `json:"key"`
	SessionID     string             `json:"sessionId"`
	AgentID       string             `json:"agentId"`
	Label         string             `json:"label,omitempty"`
	UpdatedAt     int64              `json:"updatedAt"`
	ModelProvider string             `json:"modelProvider,omitempty"`
	Model         string             `json:"model,omitempty"`
	Usage         SessionUsageTotals `json:"usage"`
}

// SessionUsageTotals: Input counts what was read, from a cache or not.
type SessionUsageTotals struct {
	Input       int `json:"input"`
	Output      int `json:"output"`
	TotalTokens int `json:"totalTokens"`
	// TotalCost is what is known of it, MissingCostEntries how many calls used
	// tokens whose price nobody knows.
	TotalCost          float64 `json:"totalCost"`
	MissingCostEntries int     `json:"missingCostEntries"`
}

// SessionsAbortParams stops a session's runs, queued ones first; RunID only
// that one, whose session is looked up when Key is empty.
type SessionsAbortParams struct {
	Key     string `json:"key,omitempty"`
	AgentID string `json:"agentId,omitempty"`
	RunID   string `json:"runId,omitempty"`
}

// SessionsAbortResult: Status is "aborted" or "no-active-run".
type SessionsAbortResult struct {
	OK           bool     `json:"ok"`
	AbortedRunID *string  `json:"abortedRunId"`
	Status       string   `json:"status"`
	RunIDs       []string `json:"runIds"`
}
