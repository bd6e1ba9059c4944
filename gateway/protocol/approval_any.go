package protocol

// AnyApproval is a request as methods for any kind of it show one. Each of ours
// is shown as a command, whatever it is about.
type AnyApproval struct {
	ID           string               `json:"id"`
	URLPath      string               `json:"urlPath"` // of the page, with the request
	CreatedAtMs  int64                `json:"createdAtMs"`
	ExpiresAtMs  int64                `json:"expiresAtMs"`
	Presentation ApprovalPresentation `json:"presentation"`
	Status       string               `json:"status"` // pending, allowed, denied, expired, cancelled
	// What follows stands there when it is over.
	ResolvedAtMs int64            `json:"resolvedAtMs,omitempty"`
	Source       *ApprovalSource  `json:"source,omitempty"`
	Resolver     *ApprovalDecider `json:"resolver,omitempty"`
	Decision     string           `json:"decision,omitempty"`
	Reason       string           `json:"reason,omitempty"` // user, no-route, timeout, run-aborted
}

// ApprovalPresentation is what people are shown.
type ApprovalPresentation struct {
	Kind             string   `json:"kind"` // "exec"
	CommandText      string   `json:"commandText"`
	WarningText      string   `json:"warningText,omitempty"`
	Host             string   `json:"host,omitempty"`
	AgentID          string   `json:"agentId,omitempty"`
	AllowedDecisions []string `json:"allowedDecisions"`
}

// ApprovalSource is where a request came from.
type ApprovalSource struct {
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
}

// ApprovalDecider is who decided.
type ApprovalDecider struct {
	Kind string `json:"kind"` // runtime, system
	ID   string `json:"id,omitempty"`
}

// AnyApprovalResult holds one.
type AnyApprovalResult struct {
	Approval AnyApproval `json:"approval"`
}

// AnyApprovalResolveParams decide. Kind must be that of the presentation.
type AnyApprovalResolveParams struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Decision string `json:"decision"`
	// GrantExpiresInDays is for grants of schedules; rules have a time of their own.
	GrantExpiresInDays int `json:"grantExpiresInDays,omitempty"`
}

// AnyApprovalResolved tells how it ended; Applied is false when it had before.
type AnyApprovalResolved struct {
	Applied  bool        `json:"applied"`
	Approval AnyApproval `json:"approval"`
}

// AnyApprovalHistoryParams ask for requests that are over, the newest first.
type AnyApprovalHistoryParams struct {
	Cursor string `json:"cursor,omitempty"`
	Limit  int    `json:"limit,omitempty"` // at most 100
	Kind   string `json:"kind,omitempty"`
}

// AnyApprovalHistory is a page of them.
type AnyApprovalHistory struct {
	Items      []AnyApproval `json:"items"`
	NextCursor string        `json:"nextCursor,omitempty"`
}
