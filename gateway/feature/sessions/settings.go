package sessions

import "github.com/hearth-assistant/hearth/gateway/config"

// Which sessions a session's tools may see.
const (
	seeSelf  = "self"  // its own
	seeTree  = "tree"  // and those of its sub-agents
	seeAgent = "agent" // all of its agent
)

// Sight is which sessions are seen by the tools that look at conversations.
type Sight struct{ Visibility string }

// Section are the settings of tools that look at conversations.
var Section = &config.Settings[Sight]{
	Path:    "tools.sessions",
	Default: Sight{Visibility: seeAgent},
	Fields: func(s *Sight) []config.Field {
		return []config.Field{config.Choice{
			Key: "visibility", To: &s.Visibility, Among: []string{seeSelf, seeTree, seeAgent}, Read: visibility,
			Help: "which sessions a session's tools may see: `self`, `tree` (and its sub-agents) or `agent` (all of the assistant's). Sub-agents " +
				"see `tree` at most; people who are not you, and groups, their own session only",
		}}
	},
}

func visibility(v config.Value) string {
	if word, ok := v.Word(); ok && word == "all" {
		v.Wrong("a session sees those of its own agent at most; write \"agent\"")
		return ""
	}
	return v.Choice(seeSelf, seeTree, seeAgent)
}
