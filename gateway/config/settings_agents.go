package config

import "slices"

// Agent is one assistant of several. What it does not say is as agents.defaults
// says.
type Agent struct {
	ID        string        `json:"id"`
	Default   bool          `json:"default,omitempty"` // answers what is bound to nobody
	Name      string        `json:"name,omitempty"`
	Workspace string        `json:"workspace,omitempty"` // as written, may start with ~
	Model     ModelChoice   `json:"model,omitzero"`
	Skills    *[]string     `json:"skills,omitempty"` // nil: as the defaults; empty: none
	Identity  AgentIdentity `json:"identity,omitzero"`
	Tools     ToolRules     `json:"tools,omitzero"`
	CodeMode  *bool         `json:"codeMode,omitempty"` // of its tools; nil: as tools.codeMode

	HumanDelay *HumanDelay `json:"humanDelay,omitempty"` // nil: as the defaults

	SkillsLimits  AgentSkillsLimits `json:"skillsLimits,omitzero"`
	ContextLimits ContextLimits     `json:"contextLimits,omitzero"`
}

// AgentSkillsLimits are an agent's own. 0: as skills.limits says.
type AgentSkillsLimits struct {
	MaxSkillsPromptChars int `json:"maxSkillsPromptChars,omitempty"`
}

// AgentIdentity is how an agent is shown.
type AgentIdentity struct {
	Name   string `json:"name,omitempty"`
	Theme  string `json:"theme,omitempty"`
	Emoji  string `json:"emoji,omitempty"`
	Avatar string `json:"avatar,omitempty"`
}

// Binding sends what matches to an agent. What it does not name, it does not
// ask for; the most specific binding wins.
type Binding struct {
	AgentID string       `json:"agentId"`
	Match   BindingMatch `json:"match"`
}

// BindingMatch says which messages.
type BindingMatch struct {
	Channel string       `json:"channel"`
	Account string       `json:"accountId,omitempty"` // "*": every account; "": the default one
	Peer    *BindingPeer `json:"peer,omitempty"`
}

// BindingPeer is one chat.
type BindingPeer struct {
	Kind string `json:"kind"` // direct, group, channel
	ID   string `json:"id"`
}

// Bootstrap is about the files of a workspace that every run reads.
type Bootstrap struct {
	SkipBootstrap                    bool   `json:"skipBootstrap,omitempty"` // a new workspace gets no starters
	BootstrapMaxChars                int    `json:"bootstrapMaxChars"`
	BootstrapTotalMaxChars           int    `json:"bootstrapTotalMaxChars"`
	BootstrapPromptTruncationWarning string `json:"bootstrapPromptTruncationWarning"` // off, once, always
}

func defaultBootstrap() Bootstrap {
	return Bootstrap{BootstrapMaxChars: 12_000, BootstrapTotalMaxChars: 60_000, BootstrapPromptTruncationWarning: "always"}
}

func cloneAgents(in []Agent) []Agent {
	out := slices.Clone(in)
	for i := range out {
		out[i].Model.Fallbacks, out[i].Tools = slices.Clone(out[i].Model.Fallbacks), out[i].Tools.clone()
		if on := out[i].CodeMode; on != nil {
			out[i].CodeMode = new(*on)
		}
		if s := out[i].Skills; s != nil {
			out[i].Skills = new(slices.Clone(*s))
		}
	}
	return out
}

func cloneBindings(in []Binding) []Binding {
	out := slices.Clone(in)
	for i := range out {
		if p := out[i].Match.Peer; p != nil {
			out[i].Match.Peer = new(*p)
		}
	}
	return out
}
