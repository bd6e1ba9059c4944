package protocol

// UpdateStatus is how this Hearth is updated. The first four fields are OpenClaw's,
// the rest is ours. Times are milliseconds, 0 for never.
type UpdateStatus struct {
	Sentinel         any              `json:"sentinel"` // always null
	UpdateAvailable  *UpdateAvailable `json:"updateAvailable"`
	EffectiveChannel string           `json:"effectiveChannel"`
	ActiveRun        *UpdateRun       `json:"activeRun,omitempty"`

	Version string `json:"version"` // that runs
	// Blocked says why this program cannot update itself, and what to do; "" = it can.
	Blocked string `json:"blocked,omitempty"`
	// Owner is the package manager that updates it, "" = none.
	Owner     string         `json:"owner,omitempty"`
	Source    string         `json:"source,omitempty"` // the host that releases come from
	EveryMs   int64          `json:"everyMs"`          // how often it is looked; 0 = only when asked
	CheckedAt int64          `json:"checkedAt,omitempty"`
	Error     string         `json:"error,omitempty"` // of the last look
	OnTrial   bool           `json:"onTrial,omitempty"`
	Back      *UpdateBack    `json:"back,omitempty"`
	Last      *UpdateOutcome `json:"last,omitempty"`
}

// UpdateAvailable is a newer version.
type UpdateAvailable struct {
	CurrentVersion string `json:"currentVersion"`
	LatestVersion  string `json:"latestVersion"`
	Channel        string `json:"channel"`
	Notes          string `json:"notes,omitempty"`
	// Bad says why it was taken back when it was tried; "" = it was not.
	Bad string `json:"bad,omitempty"`
}

// UpdateRun is an update that is under way, or was the last of this start.
type UpdateRun struct {
	RunID  string `json:"runId"`
	Phase  string `json:"phase"`  // "staging", "validating", "restarting", "finished"
	Status string `json:"status"` // "running", "succeeded", "failed", "skipped"
	Reason string `json:"reason,omitempty"`
	To     string `json:"to,omitempty"`
	Have   int64  `json:"have,omitempty"` // bytes
	Total  int64  `json:"total,omitempty"`
}

// UpdateBack is the version that can be gone back to.
type UpdateBack struct {
	Version string `json:"version"`
	UntilMs int64  `json:"untilMs"`
}

// UpdateOutcome is how the last update ended.
type UpdateOutcome struct {
	AtMs   int64  `json:"atMs"`
	From   string `json:"from"`
	To     string `json:"to"`
	Result string `json:"result"` // "updated", "rolled-back", "went-back", "failed"
	Reason string `json:"reason,omitempty"`
	Kept   string `json:"kept,omitempty"` // the newer store, where the older version could not use it
	Lost   int    `json:"lost,omitempty"` // messages that are only in Kept
}

// UpdateRunParams begin an update. Channel "" is the one of the settings. Retry takes
// a version that was taken back before. What else OpenClaw's clients send is not used.
type UpdateRunParams struct {
	Channel string `json:"channel,omitempty"`
	Retry   bool   `json:"retry,omitempty"`
}

// UpdateRunResult says what became of the wish.
type UpdateRunResult struct {
	RunID   string `json:"runId"`
	OK      bool   `json:"ok"`
	Message string `json:"message,omitempty"` // why not
}

// UpdateCheckParams look now.
type UpdateCheckParams struct {
	Channel string `json:"channel,omitempty"`
}
