package config

// Subagents is about runs that the assistant starts beside a conversation.
type Subagents struct {
	Model               ModelChoice `json:"model,omitzero"`      // empty: as the session that starts them
	MaxSpawnDepth       int         `json:"maxSpawnDepth"`       // 1: sub-agents start none themselves
	MaxConcurrent       int         `json:"maxConcurrent"`       // that work at the same time
	MaxChildrenPerAgent int         `json:"maxChildrenPerAgent"` // of one session that have not ended
	ArchiveAfterMinutes int         `json:"archiveAfterMinutes"` // 0: never
	DelegationMode      string      `json:"delegationMode"`      // suggest, prefer
}

func defaultSubagents() Subagents {
	return Subagents{MaxSpawnDepth: 1, MaxConcurrent: 4, MaxChildrenPerAgent: 5, ArchiveAfterMinutes: 60, DelegationMode: "suggest"}
}

// ToolsSessions is about the tools that look at conversations.
type ToolsSessions struct {
	Visibility string `json:"visibility,omitempty"` // one of the constants below
}

// Which sessions a session's tools may see.
const (
	SeeSelf  = "self"  // its own
	SeeTree  = "tree"  // and those of its sub-agents
	SeeAgent = "agent" // all of its agent
)
