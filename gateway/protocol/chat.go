package protocol

// ChatSendParams submits a person's message. IdempotencyKey becomes the run id.
type ChatSendParams struct {
	SessionKey     string `json:"sessionKey"`
	AgentID        string `json:"agentId,omitempty"`
	Message        string `json:"message"`
	IdempotencyKey string `json:"idempotencyKey"`
	Thinking       string `json:"thinking,omitempty"`
	TimeoutMs      int64  `json:"timeoutMs,omitempty"`
	QueueMode      string `json:"queueMode,omitempty"` // steer, followup, collect, interrupt; "" = the session's
	// AwaitModel is ours: while no model was chosen to answer, the message waits
	// for one. Without it whatever is there answers, the built-in guide if need be.
	AwaitModel bool `json:"hearthAwaitModel,omitempty"`
	// SessionID is the transcript that the message is for: if the session has
	// another one, it is refused. ExpectedSessionID also refuses to make one.
	SessionID         string `json:"sessionId,omitempty"`
	ExpectedSessionID string `json:"expectedSessionId,omitempty"`
	// OpenClaw's settings of a session; ours have none, so that only null agrees.
	ExpectedPermissionMode any `json:"expectedPermissionMode,omitempty"`
	ExpectedToolOverrides  any `json:"expectedToolOverrides,omitempty"`
	// Deliver sends the answer to a messaging network too: to DeliverTo, which is ours
	// and has to be where the session's answers go still, or without it there.
	Deliver   bool             `json:"deliver,omitempty"`
	DeliverTo *DeliveryContext `json:"hearthDeliverTo,omitempty"`
	// Attachments are pictures and other files, at most MaxAttachments.
	Attachments []Attachment `json:"attachments,omitempty"`
}

// MaxAttachments is how many files a message may have, and MaxAttachmentBytes how
// large each of those may be that are no pictures.
const (
	MaxAttachments     = 8
	MaxAttachmentBytes = 25 << 20
)

// Attachment is one file of a message: its bytes, or an upload that brought them.
type Attachment struct {
	Type     string `json:"type,omitempty"` // image or file; "": what its bytes are
	MimeType string `json:"mimeType,omitempty"`
	FileName string `json:"fileName,omitempty"`
	Content  string `json:"content,omitempty"` // base64, or a data: address
	// Upload is ours: the id of one that is whole (MethodUploadPut), in place of Content.
	Upload string `json:"hearthUpload,omitempty"`
}

// AttachedFile is a file of a message that is no picture, and what became of it.
type AttachedFile struct {
	Name     string `json:"name"`
	MimeType string `json:"mimeType,omitempty"`
	Size     int64  `json:"size"`
	// Kind is pdf, word, sheet, slides, html, epub, text, archive, audio, video, picture
	// or unknown; Unit is what it is made of: page, sheet, slide, chapter, file, or "".
	Kind  string   `json:"kind"`
	Unit  string   `json:"unit,omitempty"`
	Total int      `json:"total,omitempty"` // of those
	Notes []string `json:"notes,omitempty"` // what else is known of it, in English
	// Given is how many of those the model was given, and Whole that it was given all of
	// the text. Neither is set before the message is sent.
	Given int  `json:"given,omitempty"`
	Whole bool `json:"whole,omitempty"`
	Text  int  `json:"text,omitempty"` // bytes of text that were found
	// Path is where the file is kept in the workspace of the assistant.
	Path string `json:"path,omitempty"`
	// Problem says why it has no text (encrypted, broken, bomb, no-text, too-much, foreign,
	// empty), and Why the same in English. It can be sent all the same.
	Problem string `json:"problem,omitempty"`
	Why     string `json:"why,omitempty"`
}

// MaxUploadPart is how many bytes one UploadPutParams may bring.
const MaxUploadPart = 4 << 20

// UploadPutParams bring a part of a file. The first has no Upload, and says what the
// file is; the next ones go on at Offset, which is what was received so far.
type UploadPutParams struct {
	Upload   string `json:"upload,omitempty"`
	FileName string `json:"fileName,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Size     int64  `json:"size,omitempty"` // of the whole file, in bytes
	Offset   int64  `json:"offset,omitempty"`
	Content  string `json:"content"` // base64
}

// UploadPutResult: File is there once all of it was received and read.
type UploadPutResult struct {
	Upload   string        `json:"upload"`
	Received int64         `json:"received"`
	File     *AttachedFile `json:"file,omitempty"`
}

// UploadDropParams name an upload that is not to be sent.
type UploadDropParams struct {
	Upload string `json:"upload"`
}

// PromptTemplate is a prompt that a person keeps; Fields are the words in double braces
// that are asked for.
type PromptTemplate struct {
	Name   string   `json:"name"`
	About  string   `json:"about,omitempty"`
	Text   string   `json:"text"`
	Fields []string `json:"fields"`
}

// PromptsList are all of them, by name.
type PromptsList struct {
	Prompts []PromptTemplate `json:"prompts"`
}

// MaxArtifact is how many bytes an artifact may have.
const MaxArtifact = 2 << 20

// ArtifactSaveParams bring what a model made in a conversation, as its person keeps it.
type ArtifactSaveParams struct {
	SessionKey string `json:"sessionKey"`
	FileName   string `json:"fileName"`
	Content    string `json:"content"`
}

// ArtifactSaved says where it lies, and where in the workspace that is.
type ArtifactSaved struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// MediaGetParams name a picture by a block's mediaId.
type MediaGetParams struct {
	ID string `json:"id"`
}

// Media is a picture.
type Media struct {
	ID       string `json:"id"`
	MimeType string `json:"mimeType"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Content  string `json:"content"` // base64
}

// ChatSendResult: Status is "started" the first time, "in_flight" while the
// run of the same key lives, "ok" once it ended.
type ChatSendResult struct {
	RunID  string `json:"runId"`
	Status string `json:"status"`
	// Files is ours: what became of the files that are no pictures.
	Files []AttachedFile `json:"hearthFiles,omitempty"`
}

const (
	SendStarted  = "started"
	SendInFlight = "in_flight"
	SendOK       = "ok"
)

type ChatHistoryParams struct {
	SessionKey  string   `json:"sessionKey"`
	AgentID     string   `json:"agentId,omitempty"`
	Limit       int      `json:"limit,omitempty"`    // 1…1000, default 200
	MaxBytes    int      `json:"maxBytes,omitempty"` // default and most MaxHistoryBytes
	MaxChars    int      `json:"maxChars,omitempty"` // cuts each text block
	InputRunIDs []string `json:"inputRunIds,omitempty"`
	// SessionID asks for one transcript of the session: the one in use, or one
	// that a reset put aside. "" is the one in use.
	SessionID string `json:"sessionId,omitempty"`
	// Before is ours: only messages with a smaller __openclaw.seq (paging back).
	Before int64 `json:"hearthBefore,omitempty"`
}

// ChatMetadataParams names a conversation or an assistant; neither is needed.
type ChatMetadataParams struct {
	SessionKey string `json:"sessionKey,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
}

// ChatMetadata is what can be picked and typed in a conversation.
type ChatMetadata struct {
	Models   []ModelInfo   `json:"models"`
	Commands []CommandInfo `json:"commands"`
}

// ChatHistory is the newest page in conversation order. InFlightRun holds what
// has been streamed so far, so a client that reconnects sees exactly what the
// server has: subscribe first, then read.
type ChatHistory struct {
	SessionKey    string         `json:"sessionKey"`
	SessionID     string         `json:"sessionId"`
	Messages      []Message      `json:"messages"`
	ThinkingLevel string         `json:"thinkingLevel,omitempty"`
	TotalMessages int            `json:"totalMessages"`
	HasMore       bool           `json:"hasMore"`
	InputReceipts []InputReceipt `json:"inputReceipts,omitempty"`
	InFlightRun   *InFlightRun   `json:"inFlightRun,omitempty"`
	// SessionInfo is the session as sessions.list shows it; nil for a transcript that
	// a reset put aside.
	SessionInfo *SessionRow `json:"sessionInfo,omitempty"`
	// Branch is ours: as in SessionRow.
	Branch string `json:"hearthBranch,omitempty"`
	// Earlier is ours: the conversation that stood here before this one began.
	Earlier *Earlier `json:"hearthEarlier,omitempty"`
}

type InputReceipt struct {
	RunID             string `json:"runId"`
	State             string `json:"state"` // "consumed"
	ConsumedByEventID string `json:"consumedByEventId,omitempty"`
}

// InFlightRun is the live answer of a session: Text is what the transcript does
// not hold yet, End is how far the whole answer has come in UTF-8 bytes,
// comparable with ChatEvent.Offset and End.
type InFlightRun struct {
	RunID string `json:"runId"`
	Text  string `json:"text"`
	End   int64  `json:"end"`
}

type ChatAbortParams struct {
	SessionKey string `json:"sessionKey"`
	AgentID    string `json:"agentId,omitempty"`
	RunID      string `json:"runId,omitempty"` // empty: every run of the session, queued ones first
}

type ChatAbortResult struct {
	OK      bool     `json:"ok"`
	Aborted bool     `json:"aborted"`
	RunIDs  []string `json:"runIds"`
}

type ChatInjectParams struct {
	SessionKey string `json:"sessionKey"`
	AgentID    string `json:"agentId,omitempty"`
	Message    string `json:"message"`
	Label      string `json:"label,omitempty"`
}

type ChatInjectResult struct {
	OK        bool   `json:"ok"`
	MessageID string `json:"messageId"`
}

// Chat event states.
const (
	ChatStatus  = "status"
	ChatDelta   = "delta"
	ChatFinal   = "final"
	ChatAborted = "aborted"
	ChatError   = "error"
)

// ChatEvent is the payload of event "chat". There is exactly one terminal
// state (final, aborted, error) per run, and it carries the whole text.
type ChatEvent struct {
	RunID        string   `json:"runId"`
	SessionKey   string   `json:"sessionKey"`
	AgentID      string   `json:"agentId,omitempty"`
	Seq          int64    `json:"seq"` // per run
	State        string   `json:"state"`
	Phase        string   `json:"phase,omitempty"`     // status: queued, starting_model, running_tool
	DeltaText    string   `json:"deltaText,omitempty"` // delta: the new words
	Message      *Message `json:"message,omitempty"`   // delta: cumulative (not with CapSlimDeltas); terminal: whole
	StopReason   string   `json:"stopReason,omitempty"`
	Usage        *Usage   `json:"usage,omitempty"`
	ErrorMessage string   `json:"errorMessage,omitempty"` // plain words: what, why, what next
	ErrorKind    string   `json:"errorKind,omitempty"`    // refusal, timeout, rate_limit, context_length, unknown
	// Repair is ours: what can be done about the failure.
	Repair Repair `json:"hearthRepair,omitempty"`
	// Offset and End are ours, with CapSlimDeltas: DeltaText is bytes
	// [Offset, End) of the run's text in UTF-8.
	Offset int64 `json:"offset,omitempty"`
	End    int64 `json:"end,omitempty"`
}

// AgentEvent is the payload of event "agent": run internals.
type AgentEvent struct {
	RunID      string         `json:"runId"`
	Stream     string         `json:"stream"` // lifecycle, assistant, tool
	Data       map[string]any `json:"data"`
	SessionKey string         `json:"sessionKey,omitempty"`
	SessionID  string         `json:"sessionId,omitempty"`
	AgentID    string         `json:"agentId,omitempty"`
	Seq        int64          `json:"seq"`
	TS         int64          `json:"ts"`
}

// AgentParams runs one turn; the method answers twice.
type AgentParams struct {
	Message        string `json:"message"`
	IdempotencyKey string `json:"idempotencyKey"`
	AgentID        string `json:"agentId,omitempty"`
	SessionKey     string `json:"sessionKey,omitempty"`
	Model          string `json:"model,omitempty"`
	Thinking       string `json:"thinking,omitempty"`
	Timeout        int64  `json:"timeout,omitempty"` // seconds
	// ExpectedExistingSessionID is the transcript that the session must have.
	ExpectedExistingSessionID string `json:"expectedExistingSessionId,omitempty"`
}

type AgentAccepted struct {
	RunID      string `json:"runId"`
	SessionKey string `json:"sessionKey"`
	AgentID    string `json:"agentId"`
	Status     string `json:"status"` // "accepted"
	AcceptedAt int64  `json:"acceptedAt"`
}

// AgentResult is the second answer.
type AgentResult struct {
	RunID   string       `json:"runId"`
	Status  string       `json:"status"` // ok, error
	Summary string       `json:"summary"`
	Result  AgentPayload `json:"result"`
}

type AgentPayload struct {
	Payloads []AgentText `json:"payloads"`
	Meta     AgentMeta   `json:"meta"`
}

type AgentText struct {
	Text     string  `json:"text"`
	MediaURL *string `json:"mediaUrl"`
}

type AgentMeta struct {
	DurationMs int64          `json:"durationMs"`
	AgentMeta  AgentModelMeta `json:"agentMeta"`
}

type AgentModelMeta struct {
	SessionID string `json:"sessionId"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Usage     *Usage `json:"usage,omitempty"`
}

type AgentWaitParams struct {
	RunID     string `json:"runId"`
	TimeoutMs int64  `json:"timeoutMs,omitempty"` // default 30 s, most 10 min
}

type AgentWaitResult struct {
	RunID     string `json:"runId"`
	Status    string `json:"status"` // ok, error, timeout
	StartedAt int64  `json:"startedAt,omitempty"`
	EndedAt   int64  `json:"endedAt,omitempty"`
	Error     string `json:"error,omitempty"`
}
