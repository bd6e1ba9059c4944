package catalog

import (
	"encoding/json"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of skills.
type Configured struct {
	AllowBundled    []string // the bundled skills that load; nil: all
	ExtraDirs       []string // where skills are looked for beside the usual places
	Watch           bool
	WatchDebounceMs int
	NodeManager     string // npm, pnpm, yarn, bun
	// MaxInPrompt and MaxPromptChars bound what a prompt says of skills.
	MaxInPrompt    int
	MaxPromptChars int
	Entries        map[string]SkillSettings // by the skill's key
}

// SkillSettings is about one skill.
type SkillSettings struct {
	Enabled *bool         // nil: yes
	APIKey  config.Secret // for the skill's primaryEnv
	Env     map[string]config.Secret
	Config  map[string]json.RawMessage // the skill's own; it may hold anything, so it is not shown
}

// Section are the settings of skills.
var Section = &config.Settings[Configured]{
	Path:    "skills",
	Default: Configured{Watch: true, WatchDebounceMs: 250, NodeManager: "npm", MaxInPrompt: 150, MaxPromptChars: 18_000},
	Fields:  (*Configured).fields,
}

func (c *Configured) fields() []config.Field {
	return []config.Field{
		config.Texts{
			Key: "allowBundled", To: &c.AllowBundled, Max: 128, Help: "the bundled skills that load; list of names",
			Hint: config.Hint{Default: "all"},
		},
		config.Object{Key: "load", Fields: []config.Field{
			config.Texts{Key: "extraDirs", To: &c.ExtraDirs, Is: config.Folder, Unset: true, Help: "more folders of skills; list of paths"},
			config.Switch{Key: "watch", To: &c.Watch, Help: "changes of skills count from the next message on"},
			config.Number{
				Key: "watchDebounceMs", To: &c.WatchDebounceMs, Min: 10, Max: 60_000,
				Help: "how long it must be quiet before they are read again; 10 to 60000",
			},
			config.Later("allowSymlinkTargets"),
		}},
		config.Object{Key: "install", Fields: []config.Field{
			config.Choice{
				Key: "nodeManager", To: &c.NodeManager, Among: []string{"npm", "pnpm", "yarn", "bun"},
				Help: "which command is shown for what a skill needs; `npm`, `pnpm`, `yarn`, `bun`",
			},
			config.Later("preferBrew", "allowUploadedArchives"),
		}},
		config.Object{Key: "limits", Fields: []config.Field{
			config.Number{
				Key: "maxSkillsInPrompt", To: &c.MaxInPrompt, Min: 1, Max: 10_000, Help: "how many skills a prompt names; 1 to 10000",
			},
			config.Number{
				Key: "maxSkillsPromptChars", To: &c.MaxPromptChars, Min: 500, Max: 1_000_000,
				Help: "how long that part of the prompt may be; 500 to 1000000",
			},
			config.Later("maxCandidatesPerRoot", "maxSkillsLoadedPerSource", "maxSkillFileBytes"),
		}},
		config.Map[SkillSettings]{Key: "entries", To: &c.Entries, Name: "<skill>",
			One: func(_ string, e *SkillSettings) config.Field { return e.field() }},
		config.Later("workshop", "library", "curator"),
	}
}

func (e *SkillSettings) field() config.Field {
	return config.Object{Fields: []config.Field{
		config.Maybe{Key: "enabled", To: &e.Enabled, Help: "whether the skill is used", Hint: config.Hint{Default: "`true`"}},
		config.Hidden{Key: "apiKey", To: &e.APIKey, Help: "its key, for the variable that it names as `primaryEnv`; a secret"},
		config.Map[config.Secret]{
			Key: "env", To: &e.Env, Is: variable, Help: "variables for commands of runs that have the skill; names and secrets",
			One: func(_ string, to *config.Secret) config.Field {
				return config.Hidden{To: to, Perhaps: true, Covered: true}
			},
		},
		config.Any{
			Key: "config", Read: e.config, Like: config.Object{}, Help: "the skill's own, for `requires.config`; anything",
		},
	}}
}

func (e *SkillSettings) config(v config.Value) {
	e.Config = map[string]json.RawMessage{}
	v.Each(func(name string, v config.Value) { e.Config[name] = v.JSON() })
}

// variable is a name of an environment variable in either case.
func variable(s string) error {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			s = ""
		}
	}
	if s == "" || len(s) > 128 {
		return errors.New("the name of an environment variable has letters, digits and _ only, for example MY_API_KEY")
	}
	return nil
}
