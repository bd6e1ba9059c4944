package config

// Tools is what the assistant may use, and how.
type Tools struct {
	ToolRules
	ByProvider map[string]ToolRules `json:"byProvider,omitempty"`    // "anthropic" or "anthropic/model"
	BySender   map[string]ToolRules `json:"toolsBySender,omitempty"` // "NETWORK:42", or an id on any network
	Exec       ToolsExec            `json:"exec"`
	Sessions   ToolsSessions        `json:"sessions"`
}

func (t Tools) clone() Tools {
	t.ToolRules, t.ByProvider, t.BySender = t.ToolRules.clone(), cloneRules(t.ByProvider), cloneRules(t.BySender)
	t.Exec = t.Exec.clone()
	return t
}

func defaultTools() Tools {
	return Tools{Exec: defaultToolsExec(), Sessions: ToolsSessions{Visibility: SeeAgent}}
}
