package agents

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured are the assistants of the file.
type Configured struct {
	List []Entry // none: one agent, Main
}

// Entry is one assistant as the file says it. What it does not say is as
// agents.defaults says.
type Entry struct {
	ID            string             `json:"id"`
	Default       bool               `json:"default,omitempty"` // answers what is bound to nobody
	Name          string             `json:"name,omitempty"`
	Workspace     string             `json:"workspace,omitempty"` // as written, may start with ~
	Model         config.ModelChoice `json:"model,omitzero"`
	Skills        []string           `json:"skills,omitempty"` // nil: as the defaults; empty: none
	Identity      Identity           `json:"identity,omitzero"`
	SkillChars    int                `json:"-"` // of its list of skills; 0: as skills.limits says
	ContextLimits ContextLimits      `json:"-"`
}

// Identity is how an agent is shown.
type Identity struct {
	Name   string `json:"name,omitempty"`
	Theme  string `json:"theme,omitempty"`
	Emoji  string `json:"emoji,omitempty"`
	Avatar string `json:"avatar,omitempty"`
}

// maxAgents bounds the list.
const maxAgents = 200

// Section are the assistants. What other packages let each of them say is in their
// own sections (config.Entries).
var Section = &config.Settings[Configured]{
	Path: "agents",
	Fields: func(c *Configured) []config.Field {
		return []config.Field{config.List[Entry]{Key: "list", To: &c.List, Take: c.take, One: func(e *Entry) config.Field {
			return config.Object{Fields: e.fields(), Check: func() error {
				if e.ID == "" {
					return errors.New("an agent needs an id, for example { id: \"work\" }")
				}
				return nil
			}}
		}}}
	},
}

// take judges one more of the list.
func (c *Configured) take(e Entry) error {
	if len(c.List) >= maxAgents {
		return fmt.Errorf("there can be %d agents at most", maxAgents)
	}
	for _, other := range c.List {
		if other.ID == e.ID {
			return fmt.Errorf("there is already an agent %q", e.ID)
		}
		if other.Default && e.Default {
			return fmt.Errorf("only one agent can be the default, and %q is", other.ID)
		}
	}
	return nil
}

func (e *Entry) fields() []config.Field {
	return []config.Field{
		config.Text{
			Key: "id", To: &e.ID, Max: 64, Is: idOf, Help: "lower-case letters, digits, `-` and `_`. `main` is always there",
		},
		config.Switch{Key: "default", To: &e.Default, Hint: config.Hint{Default: "the first"}, Help: "`true`: answers what is bound to nobody"},
		config.Text{Key: "name", To: &e.Name, Max: 128, Empty: true, Hint: config.Hint{Default: "the id"}, Help: "its name"},
		config.Text{
			Key: "workspace", To: &e.Workspace, Help: "its folder",
			Hint: config.Hint{Default: "`~/Hearth-<id>`; `main`: `agents.defaults.workspace`"},
		},
		e.Model.Field("model", "`\"provider/model\"`, or `{ primary, fallbacks }`; only its own fallbacks answer in its place",
			config.Hint{Default: "`agents.defaults.model`"}),
		config.Texts{
			Key: "skills", To: &e.Skills, Max: 256, Hint: config.Hint{Default: "`agents.defaults.skills`"},
			Help: "the skills that it may use, by name; `[]`: none",
		},
		config.Object{
			Key: "identity", Help: "`name`, `emoji`, `avatar`: how it is shown; `theme`: how it is, in a few words that it is told",
			Fields: []config.Field{
				config.Text{Key: "name", To: &e.Identity.Name, Max: 128, Empty: true},
				config.Text{Key: "theme", To: &e.Identity.Theme, Max: 1024, Empty: true},
				config.Text{Key: "emoji", To: &e.Identity.Emoji, Max: 64, Empty: true},
				config.Text{Key: "avatar", To: &e.Identity.Avatar, Max: 32 << 10, Empty: true},
			},
		},
		config.Object{
			Key: "contextLimits", Help: "its own", Hint: config.Hint{Default: "`agents.defaults.contextLimits`"},
			Fields: e.ContextLimits.fields(false),
		},
		config.Object{Key: "skillsLimits", Fields: []config.Field{config.Number{
			Key: "maxSkillsPromptChars", To: &e.SkillChars, Min: 500, Max: 1_000_000, Hint: config.Hint{Default: "`skills.limits`"},
			Help: "how long its list of skills may be; 500 to 1000000",
		}}},
		config.Later("agentDir", "agentRuntime", "subagents", "sandbox", "groupChat", "memorySearch", "thinkingDefault",
			"verboseDefault", "reasoningDefault", "fastModeDefault", "params", "runtime", "utilityModel", "description"),
	}
}

// idOf reads an id: it becomes a part of session keys and of folders.
func idOf(s string) (string, error) {
	if !IsID(s) {
		return "", errors.New("an agent's id has 1 to 64 lower-case letters, digits, - and _, and begins with a letter or digit")
	}
	return s, nil
}

// IsID reports whether s can be the id of an agent.
func IsID(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && s[0] != '_' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// Defaults are what holds for every assistant that does not say it.
type Defaults struct {
	Workspace     string   // as written, may start with ~; empty: ~/Hearth
	Skills        []string // nil: all
	ContextLimits ContextLimits
}

// DefaultsSection are the settings of every assistant.
var DefaultsSection = &config.Settings[Defaults]{
	Path: "agents.defaults",
	Fields: func(d *Defaults) []config.Field {
		return []config.Field{
			config.Text{
				Key: "workspace", To: &d.Workspace, Is: config.Folder, Hint: config.Hint{Pane: "general", Default: "`~/Hearth`"},
				Help: "the folder with the files that you and the assistant share",
			},
			config.Texts{
				Key: "skills", To: &d.Skills, Max: 256, Hint: config.Hint{Default: "all"},
				Help: "the skills of agents that name none themselves; `[]`: none",
			},
			config.Object{Key: "contextLimits", Fields: d.ContextLimits.fields(true)},
			config.Later("imageMaxDimensionPx", "imageGenerationModel", "pdfModel", "repoRoot", "contextTokens", "contextPruning", "compaction",
				"thinkingDefault", "verboseDefault", "elevatedDefault", "reasoningDefault", "mediaMaxMb", "typingIntervalSeconds", "typingMode",
				"sandbox", "cliBackends", "params"),
		}
	},
}

// ContextLimits bound what a turn reads while it works. 0: the usual limit.
type ContextLimits struct {
	ToolResultMaxChars    int
	MemoryGetDefaultLines int
}

func (l *ContextLimits) fields(told bool) []config.Field {
	result, lines := "", ""
	if told {
		result = "the most of one tool's result that the model gets to see, in bytes of text; 1000 to 1000000"
		lines = "how many lines `memory_get` reads when the model names no number"
	}
	return []config.Field{
		config.Number{
			Key: "toolResultMaxChars", To: &l.ToolResultMaxChars, Min: 1000, Max: 1_000_000, Help: result,
			Hint: config.Hint{Default: "65536"},
		},
		config.Number{
			Key: "memoryGetDefaultLines", To: &l.MemoryGetDefaultLines, Min: 1, Max: 2000, Help: lines,
			Hint: config.Hint{Default: "as many as fit"},
		},
		config.Later("memoryGetMaxChars", "postCompactionMaxChars"),
	}
}

// over returns the limits with others where they say nothing.
func (l ContextLimits) over(below ContextLimits) ContextLimits {
	if l.ToolResultMaxChars == 0 {
		l.ToolResultMaxChars = below.ToolResultMaxChars
	}
	if l.MemoryGetDefaultLines == 0 {
		l.MemoryGetDefaultLines = below.MemoryGetDefaultLines
	}
	return l
}
