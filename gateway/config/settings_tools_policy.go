package config

import (
	"maps"
	"slices"
)

// ToolRules say which tools may be used. Names are those of tools, of groups
// (group:fs) or patterns (web_*); a deny wins over everything.
type ToolRules struct {
	Profile   string   `json:"profile,omitempty"` // minimal, messaging, coding, full; empty: full
	Allow     []string `json:"allow,omitempty"`   // not empty: only these
	AlsoAllow []string `json:"alsoAllow,omitempty"`
	Deny      []string `json:"deny,omitempty"`
}

func (r ToolRules) clone() ToolRules {
	r.Allow, r.AlsoAllow, r.Deny = slices.Clone(r.Allow), slices.Clone(r.AlsoAllow), slices.Clone(r.Deny)
	return r
}

func cloneRules(m map[string]ToolRules) map[string]ToolRules {
	m = maps.Clone(m)
	for k, r := range m {
		m[k] = r.clone()
	}
	return m
}

// ExecApproval says how commands are decided.
type ExecApproval struct {
	Security string `json:"security"` // deny, allowlist
	Ask      string `json:"ask"`      // off, on-miss, always
}

func defaultExecApproval() ExecApproval { return ExecApproval{Security: "allowlist", Ask: "on-miss"} }

// Approvals is about requests for the owner's yes.
type Approvals struct {
	ExpireSeconds int `json:"expireSeconds"` // how long one waits, at most 600
}

func defaultApprovals() Approvals { return Approvals{ExpireSeconds: 300} }
