package protocol

// UndoListParams: Limit 0 means 50.
type UndoListParams struct {
	Limit int `json:"limit,omitempty"`
}

// UndoList is ours: turns that changed files and can be taken back, newest first.
type UndoList struct {
	Turns []UndoTurn `json:"turns"`
}

type UndoTurn struct {
	RunID      string   `json:"runId"`
	SessionKey string   `json:"sessionKey,omitempty"`
	At         int64    `json:"at"` // of its last change
	Tools      []string `json:"tools"`
	Files      []string `json:"files"`
	UndoOf     string   `json:"undoOf,omitempty"`   // it took that turn back
	UndoneBy   string   `json:"undoneBy,omitempty"` // it was taken back by that turn
}

// UndoParams: without RunID it is the newest turn that was not taken back, of
// Key when that is given. Force (apply) takes back files that were changed since.
type UndoParams struct {
	RunID string `json:"runId,omitempty"`
	Key   string `json:"key,omitempty"`
	Force bool   `json:"force,omitempty"`
}

// UndoPlan is what taking a turn back would do, or did.
type UndoPlan struct {
	RunID string     `json:"runId"`
	Files []UndoFile `json:"files"`
	// UndoID is the turn of taking back, which can be taken back as well; "" when
	// nothing was changed.
	UndoID string `json:"undoId,omitempty"`
}

type UndoFile struct {
	Path   string `json:"path"`
	Action string `json:"action"`           // restore, recreate, delete, nothing, conflict, failed
	Reason string `json:"reason,omitempty"` // conflict, failed
	Bytes  int64  `json:"bytes,omitempty"`  // of what comes back
	Done   bool   `json:"done,omitempty"`
}
