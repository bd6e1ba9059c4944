package protocol

// HooksStatusParams: AgentID "" is the default one.
type HooksStatusParams struct {
	AgentID string `json:"agentId,omitempty"`
}

// HooksStatus lists the hooks that are told what happens inside.
type HooksStatus struct {
	WorkspaceDir    string     `json:"workspaceDir"`
	ManagedHooksDir string     `json:"managedHooksDir"`
	Hooks           []HookInfo `json:"hooks"`
}

type HookInfo struct {
	Name                  string             `json:"name"`
	Description           string             `json:"description"`
	Source                string             `json:"source"` // openclaw-bundled, openclaw-managed, openclaw-workspace
	FilePath              string             `json:"filePath"`
	BaseDir               string             `json:"baseDir"`
	HandlerPath           string             `json:"handlerPath"`
	HookKey               string             `json:"hookKey"`
	Emoji                 string             `json:"emoji,omitempty"`
	Homepage              string             `json:"homepage,omitempty"`
	Events                []string           `json:"events"`
	UnknownEvents         []string           `json:"unknownEvents"`
	Always                bool               `json:"always"`
	EnabledByConfig       bool               `json:"enabledByConfig"`
	RequirementsSatisfied bool               `json:"requirementsSatisfied"`
	Loadable              bool               `json:"loadable"`
	BlockedReason         string             `json:"blockedReason,omitempty"`
	ManagedByPlugin       bool               `json:"managedByPlugin"`
	Requirements          SkillNeeds         `json:"requirements"`
	Missing               SkillNeeds         `json:"missing"`
	ConfigChecks          []SkillConfigCheck `json:"configChecks"`
	Install               []SkillInstaller   `json:"install"`
	Hearth                HookOwn            `json:"hearth"`
}

// HookOwn is ours: how a hook is run, and what became of it since the start.
type HookOwn struct {
	Form           string   `json:"form,omitempty"`   // builtin, program, script
	SHA256         string   `json:"sha256,omitempty"` // of its files as they are
	Seen           bool     `json:"seen"`             // that is what was enabled
	Files          []string `json:"files"`
	Runs           int      `json:"runs"`
	LastRunAtMs    int64    `json:"lastRunAtMs,omitempty"`
	LastDurationMs int64    `json:"lastDurationMs,omitempty"`
	LastError      string   `json:"lastError,omitempty"`
	Dropped        int      `json:"dropped,omitempty"` // events that were too many
	// NeverTold says which of its events never happen here, and why.
	NeverTold string `json:"neverTold,omitempty"`
}

// HookEnableParams switch a hook on or off. SHA256 is what somebody has looked at.
type HookEnableParams struct {
	Name    string `json:"name"`
	AgentID string `json:"agentId,omitempty"`
	Enabled bool   `json:"enabled"`
	SHA256  string `json:"sha256,omitempty"`
}
