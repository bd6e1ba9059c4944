package policy

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured are the rules of the file.
type Configured struct {
	Layer
	ByProvider map[string]Layer
	BySender   map[string]Layer
}

// Section are the rules for everybody.
var Section = &config.Settings[Configured]{
	Path: "tools",
	Fields: func(c *Configured) []config.Field {
		return append(c.Layer.fields("tools"),
			byName("byProvider", &c.ByProvider, "<name>", "the keys of `tools` for a provider (`ollama`) or a model (`ollama/small`)"),
			byName("toolsBySender", &c.BySender, "<who>", "the keys of `tools` for a person: `NETWORK:42`, or an id on any network"),
			config.Later("fs", "elevated", "links", "message", "sessions_spawn", "subagents", "agentToAgent", "loopDetection", "sandbox",
				"experimental"))
	},
	Strict: func(c *Configured) { c.Deny = []string{"*"} }, // what cannot be read may have been a ban
}

// AgentSection are the rules of one agent. They can only take away.
var AgentSection = &config.Entries[Layer]{
	Path: "agents.list[].tools",
	Fields: func(l *Layer) []config.Field {
		return append(l.fields(""), config.Later("byProvider", "elevated", "exec", "fs", "sandbox", "message", "loopDetection"))
	},
}

func byName(key string, to *map[string]Layer, name, help string) config.Field {
	return config.Map[Layer]{
		Key: key, To: to, Name: name, Help: help, Hint: config.Hint{Like: true},
		One: func(_ string, l *Layer) config.Field { return config.Object{Fields: l.fields("")} },
	}
}

// Fields are the keys of rules that stand in another section.
func (l *Layer) Fields() []config.Field { return l.fields("") }

// fields are the keys that every set of rules has; pane shows the profile.
func (l *Layer) fields(pane string) []config.Field {
	names := func(key string, to *[]string, none, help string) config.Field {
		return config.Texts{Key: key, To: to, Max: 128, Is: toolName, Unset: true, Help: help, Hint: config.Hint{Default: none}}
	}
	return []config.Field{
		config.Choice{
			Key: "profile", To: &l.Profile, Among: Profiles(), Hint: config.Hint{Pane: pane, Default: "`full`"},
			Help: "what there is to begin with: `minimal`, `messaging`, `coding`, `full`",
		},
		names("allow", &l.Allow, "all", "when set, only these"),
		names("alsoAllow", &l.AlsoAllow, "none", "these beside the profile"),
		names("deny", &l.Deny, "none", "never these; a deny wins over everything"),
	}
}

// toolName reads the name of a tool. A name that can mean nothing is refused: a deny
// that is misspelt would allow.
func toolName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if _, err := path.Match(s, ""); err != nil {
		return "", errors.New("this is no name of a tool; write a name (exec), a group (group:fs) or a pattern (web_*)")
	}
	if known := Groups(); strings.HasPrefix(s, "group:") && known[s] == nil {
		return "", fmt.Errorf("there is no such group of tools; there are %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return s, nil
}
