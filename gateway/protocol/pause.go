package protocol

// Pause is the switch that stops Hearth from acting.
type Pause struct {
	Level   string `json:"level"` // off, tools, network, everything
	UntilMs int64  `json:"untilMs,omitempty"`
	SinceMs int64  `json:"sinceMs,omitempty"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// PauseSetParams switch it; DurationMs 0 is until somebody resumes.
type PauseSetParams struct {
	Level      string `json:"level"`
	DurationMs int64  `json:"durationMs,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// AuditListParams choose entries, the newest first.
type AuditListParams struct {
	Limit  int    `json:"limit,omitempty"`
	Before uint64 `json:"before,omitempty"` // only entries with a smaller number
	Kind   string `json:"kind,omitempty"`   // auth, approval, exec, tool, config, install, send, pause, audit
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq     uint64            `json:"seq"`
	AtMs    int64             `json:"atMs"`
	Kind    string            `json:"kind"`
	What    string            `json:"what"`
	Who     string            `json:"who,omitempty"`
	Session string            `json:"session,omitempty"`
	RunID   string            `json:"runId,omitempty"`
	Facts   map[string]string `json:"facts,omitempty"`
	Hash    string            `json:"hash"`
}

// AuditList is a page of it.
type AuditList struct {
	Entries []AuditEntry `json:"entries"`
}

// AuditReport is whether the log is as it was written.
type AuditReport struct {
	OK      bool   `json:"ok"`
	Entries int    `json:"entries"`
	First   uint64 `json:"first,omitempty"`
	Last    uint64 `json:"last,omitempty"`
	Head    string `json:"head,omitempty"`
	Problem string `json:"problem,omitempty"`
}
