package protocol

// SkillsStatusParams: AgentID "" is the default one.
type SkillsStatusParams struct {
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
}

// SkillsStatus lists every skill that was found.
type SkillsStatus struct {
	WorkspaceDir     string      `json:"workspaceDir"`
	ManagedSkillsDir string      `json:"managedSkillsDir"`
	AgentID          string      `json:"agentId,omitempty"`
	Skills           []SkillInfo `json:"skills"`
}

type SkillInfo struct {
	Name                 string             `json:"name"`
	Description          string             `json:"description"`
	Source               string             `json:"source"` // workspace, managed, bundled, extra, with "hearth-" before
	Bundled              bool               `json:"bundled"`
	FilePath             string             `json:"filePath"`
	BaseDir              string             `json:"baseDir"`
	SkillKey             string             `json:"skillKey"`
	Emoji                string             `json:"emoji,omitempty"`
	Homepage             string             `json:"homepage,omitempty"`
	PrimaryEnv           string             `json:"primaryEnv,omitempty"`
	Always               bool               `json:"always"`
	Disabled             bool               `json:"disabled"`
	BlockedByAllowlist   bool               `json:"blockedByAllowlist"`
	BlockedByAgentFilter bool               `json:"blockedByAgentFilter"`
	Eligible             bool               `json:"eligible"`
	PlatformIncompatible bool               `json:"platformIncompatible"`
	ModelVisible         bool               `json:"modelVisible"`
	UserInvocable        bool               `json:"userInvocable"`
	CommandVisible       bool               `json:"commandVisible"`
	Requirements         SkillNeeds         `json:"requirements"`
	Missing              SkillNeeds         `json:"missing"`
	ConfigChecks         []SkillConfigCheck `json:"configChecks"`
	Install              []SkillInstaller   `json:"install"`
	// Ours: what is known about its files, why it is not used, and the places of
	// others of its name.
	Version  string   `json:"version,omitempty"`
	Trust    string   `json:"trust"` // shipped, confirmed, local, changed, unknown, new
	Problem  string   `json:"problem,omitempty"`
	Shadowed []string `json:"shadowed,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

type SkillNeeds struct {
	Bins    []string `json:"bins"`
	AnyBins []string `json:"anyBins"`
	Env     []string `json:"env"`
	Config  []string `json:"config"`
	OS      []string `json:"os"`
}

type SkillConfigCheck struct {
	Path      string `json:"path"`
	Satisfied bool   `json:"satisfied"`
}

type SkillInstaller struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Label   string   `json:"label"`
	Bins    []string `json:"bins"`
	Command string   `json:"command,omitempty"` // ours: for the person to run
}

type SkillsBins struct {
	Bins []string `json:"bins"`
}

// SkillsInstallParams: with InstallID it is about what a skill needs, with
// Source "upload" about a skill. Other sources of other gateways are refused.
type SkillsInstallParams struct {
	AgentID   string `json:"agentId,omitempty"`
	Name      string `json:"name,omitempty"`
	InstallID string `json:"installId,omitempty"`
	Source    string `json:"source,omitempty"`
	Slug      string `json:"slug,omitempty"`
}

type SkillsInstallResult struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

// SkillsUpdateParams changes what the settings say about one skill.
type SkillsUpdateParams struct {
	SkillKey string            `json:"skillKey"`
	Enabled  *bool             `json:"enabled,omitempty"`
	APIKey   *string           `json:"apiKey,omitempty"` // "" removes it
	Env      map[string]string `json:"env,omitempty"`
	Source   string            `json:"source,omitempty"`
}

type SkillsUpdateResult struct {
	OK       bool     `json:"ok"`
	SkillKey string   `json:"skillKey"`
	Notes    []string `json:"notes,omitempty"`
}

// SkillPlanParams is ours: Path is a folder, a .zip or a git bundle on the
// gateway's computer; without it Name is a skill that is there.
type SkillPlanParams struct {
	Path    string `json:"path,omitempty"`
	Name    string `json:"name,omitempty"`
	AgentID string `json:"agentId,omitempty"` // whose workspace; "" = the default one's
}

// SkillPlan is what a person decides about.
type SkillPlan struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Version     string           `json:"version,omitempty"`
	Homepage    string           `json:"homepage,omitempty"`
	Dir         string           `json:"dir"`
	From        string           `json:"from,omitempty"`
	Hash        string           `json:"hash"`
	Bytes       int64            `json:"bytes"`
	Files       []SkillFile      `json:"files"`
	Update      bool             `json:"update"`
	Same        bool             `json:"same"`
	Diff        string           `json:"diff,omitempty"`
	Findings    []string         `json:"findings"`
	Refused     string           `json:"refused,omitempty"`
	Requires    SkillNeeds       `json:"requires"`
	PrimaryEnv  string           `json:"primaryEnv,omitempty"`
	Dispatch    string           `json:"dispatch,omitempty"` // the tool that its command calls
	Install     []SkillInstaller `json:"install"`
}

type SkillFile struct {
	Path       string `json:"path"`
	Bytes      int    `json:"bytes"`
	Executable bool   `json:"executable,omitempty"`
	Change     string `json:"change"` // added, changed, removed, same
}

// SkillAcceptParams: Hash is that of the plan that was shown. With Path the
// skill is installed, without it the one of Name is confirmed as it is.
type SkillAcceptParams struct {
	Path    string `json:"path,omitempty"`
	Name    string `json:"name,omitempty"`
	Hash    string `json:"hash"`
	Force   bool   `json:"force,omitempty"`
	AgentID string `json:"agentId,omitempty"`
}

type SkillNameParams struct {
	Name string `json:"name"`
}
