package config

import (
	"encoding/json"
	"maps"
	"slices"
)

// Skills is about folders that teach the assistant how to do something.
type Skills struct {
	// AllowBundled are the bundled skills that load; nil: all.
	AllowBundled []string              `json:"allowBundled,omitempty"`
	Load         SkillsLoad            `json:"load"`
	Install      SkillsInstall         `json:"install"`
	Limits       SkillsLimits          `json:"limits"`
	Entries      map[string]SkillEntry `json:"entries,omitempty"` // by the skill's key
}

// SkillsLoad is where skills are looked for beside the usual places.
type SkillsLoad struct {
	ExtraDirs       []string `json:"extraDirs,omitempty"`
	Watch           bool     `json:"watch"`
	WatchDebounceMs int      `json:"watchDebounceMs"`
}

// SkillsInstall is how what a skill needs would be installed.
type SkillsInstall struct {
	NodeManager string `json:"nodeManager"` // npm, pnpm, yarn, bun
}

// SkillsLimits bound what a prompt says of skills.
type SkillsLimits struct {
	MaxSkillsInPrompt    int `json:"maxSkillsInPrompt"`
	MaxSkillsPromptChars int `json:"maxSkillsPromptChars"`
}

// SkillEntry is about one skill.
type SkillEntry struct {
	Enabled *bool                      `json:"enabled,omitempty"` // nil: yes
	APIKey  Secret                     `json:"apiKey,omitzero"`   // for the skill's primaryEnv
	Env     map[string]Secret          `json:"env,omitempty"`
	Config  map[string]json.RawMessage `json:"-"` // the skill's own; it may hold anything, so it is not shown
}

func defaultSkills() Skills {
	return Skills{
		Load: SkillsLoad{Watch: true, WatchDebounceMs: 250}, Install: SkillsInstall{NodeManager: "npm"},
		Limits: SkillsLimits{MaxSkillsInPrompt: 150, MaxSkillsPromptChars: 18_000},
	}
}

func (s Skills) clone() Skills {
	s.AllowBundled, s.Load.ExtraDirs = slices.Clone(s.AllowBundled), slices.Clone(s.Load.ExtraDirs)
	s.Entries = maps.Clone(s.Entries)
	for k, e := range s.Entries {
		if e.Enabled != nil {
			e.Enabled = new(*e.Enabled)
		}
		e.Env, e.Config = maps.Clone(e.Env), maps.Clone(e.Config)
		s.Entries[k] = e
	}
	return s
}
