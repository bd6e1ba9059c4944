package workbench

import (
	"errors"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of code mode. Its numbers are within their
// bounds already.
type Configured struct {
	Enabled             bool
	Runtime             string   // quickjs-wasi
	Mode                string   // only
	Languages           []string // javascript, typescript
	TimeoutMs           int
	MemoryLimitBytes    int
	MaxOutputBytes      int
	MaxSnapshotBytes    int
	MaxPendingToolCalls int
	SnapshotTTLSeconds  int
	SearchDefaultLimit  int
	MaxSearchLimit      int
}

// Section are the settings of code mode: a switch, or an object whose enabled is
// the switch. Naming limits turns nothing on.
var Section = &config.Settings[Configured]{
	Path: "tools.codeMode",
	Default: Configured{
		Runtime: "quickjs-wasi", Mode: "only", Languages: []string{"javascript", "typescript"},
		TimeoutMs: 10_000, MemoryLimitBytes: 64 << 20, MaxOutputBytes: 64 << 10, MaxSnapshotBytes: 10 << 20,
		MaxPendingToolCalls: 16, SnapshotTTLSeconds: 900, SearchDefaultLimit: 8, MaxSearchLimit: 50,
	},
	Fields: (*Configured).fields,
	Check: func(c *Configured) error {
		c.SearchDefaultLimit = min(c.SearchDefaultLimit, c.MaxSearchLimit)
		return nil
	},
	Short: func(c *Configured, v config.Value) bool {
		if v.IsSwitch() {
			c.Enabled = v.Switch()
		} else {
			v.Expected("true, false or an object in { }")
		}
		return true
	},
}

func (c *Configured) fields() []config.Field {
	number := func(key string, to *int, lo, hi int, words, help string) config.Field {
		return config.Number{Key: key, To: to, Min: lo, Max: hi, Nearest: true, Help: help, Hint: config.Hint{Default: words, Advanced: true}}
	}
	return []config.Field{
		config.Switch{
			Key: "enabled", To: &c.Enabled, Hint: config.Hint{Pane: "tools"},
			Help: "whether runs use code mode. When it is on and cannot work, a run fails; it never falls back to showing all tools",
		},
		config.Choice{Key: "runtime", To: &c.Runtime, Among: []string{"quickjs-wasi"}, Help: "the only one"},
		config.Choice{Key: "mode", To: &c.Mode, Among: []string{"only"}, Help: "the only one: nothing but `exec` and `wait` is shown"},
		config.Texts{
			Key: "languages", To: &c.Languages, Read: c.language, Check: c.oneLanguage, Unset: true,
			Help: "`javascript`, `typescript`", Hint: config.Hint{Default: "both"},
		},
		number("timeoutMs", &c.TimeoutMs, 100, 60_000, "",
			"how long a program may run in one `exec` or `wait`, and about how long each waits for tools; 100 to 60000"),
		number("memoryLimitBytes", &c.MemoryLimitBytes, 1<<20, 1<<30, "64 MiB", "memory of a program; 1 MiB to 1 GiB"),
		number("maxOutputBytes", &c.MaxOutputBytes, 1<<10, 10<<20, "64 KiB", "what it may say; 1 KiB to 10 MiB"),
		number("maxSnapshotBytes", &c.MaxSnapshotBytes, 1<<10, 256<<20, "10 MiB",
			"a program that is put away until `wait`; 1 KiB to 256 MiB"),
		number("maxPendingToolCalls", &c.MaxPendingToolCalls, 1, 128, "", "calls of tools at the same time; 1 to 128"),
		number("snapshotTtlSeconds", &c.SnapshotTTLSeconds, 1, 86_400, "", "how long `wait` can go on with it; 1 to 86400"),
		number("searchDefaultLimit", &c.SearchDefaultLimit, 1, 50, "",
			"what `tools.search` finds when the program says no number; at most `maxSearchLimit`"),
		number("maxSearchLimit", &c.MaxSearchLimit, 1, 50, "", "what it finds at most; 1 to 50"),
	}
}

func (c *Configured) language(v config.Value) (string, bool) {
	s := v.Choice("javascript", "typescript")
	return s, s != "" && !slices.Contains(c.Languages, s)
}

// oneLanguage: a program has to be in one.
func (c *Configured) oneLanguage() error {
	if len(c.Languages) == 0 {
		return errors.New("name at least one of javascript, typescript; to switch code mode off, set enabled to false")
	}
	return nil
}
