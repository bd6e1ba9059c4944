package protocol

// BranchesParams name a session.
type BranchesParams struct {
	SessionKey string `json:"sessionKey"`
	AgentID    string `json:"agentId,omitempty"`
}

// BranchesList is the branches of a session's transcript, the one that was written
// last first.
type BranchesList struct {
	Branches []SessionBranch `json:"branches"`
}

// SessionBranch is one way through a transcript, from its beginning to a leaf.
type SessionBranch struct {
	LeafEntryID  string `json:"leafEntryId"`
	Headline     string `json:"headline"` // the last message of a person on it
	MessageCount int    `json:"messageCount"`
	UpdatedAt    string `json:"updatedAt,omitempty"` // as RFC 3339
	Active       bool   `json:"active"`
}

// BranchSwitchParams name the branch to use: its leaf, or any entry of it; of the
// branches through that entry the one that was written last is used.
type BranchSwitchParams struct {
	SessionKey  string `json:"sessionKey"`
	AgentID     string `json:"agentId,omitempty"`
	LeafEntryID string `json:"leafEntryId"`
}

// EntryParams name an entry of the branch in use.
type EntryParams struct {
	SessionKey string `json:"sessionKey"`
	AgentID    string `json:"agentId,omitempty"`
	EntryID    string `json:"entryId"`
}

// RewindResult: EditorText is the message that was gone back on, if it was one.
type RewindResult struct {
	EditorText string `json:"editorText,omitempty"`
}

// ForkResult: SessionKey is the new chat.
type ForkResult struct {
	SessionKey string `json:"sessionKey"`
	EditorText string `json:"editorText,omitempty"`
	// Session is ours: the new chat as lists show it.
	Session *SessionRow `json:"hearthSession,omitempty"`
}

// ChatAgainParams answer a message again: the one that EntryID is, or that it
// answers. IdempotencyKey becomes the run id. The result is that of chat.send.
type ChatAgainParams struct {
	SessionKey     string  `json:"sessionKey"`
	AgentID        string  `json:"agentId,omitempty"`
	EntryID        string  `json:"entryId"`
	Message        *string `json:"message,omitempty"` // other words; absent: the same message
	Model          string  `json:"model,omitempty"`   // "provider/model", for this answer only
	IdempotencyKey string  `json:"idempotencyKey"`
}
