package approval

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Commands say how commands are decided.
type Commands struct{ Security, Ask string }

// CommandsSection are the settings of what decides about commands.
var CommandsSection = &config.Settings[Commands]{
	Path: "tools.exec", Name: "approval",
	Default: Commands{Security: "allowlist", Ask: "on-miss"},
	Fields: func(c *Commands) []config.Field {
		return []config.Field{
			config.Choice{
				Key: "security", To: &c.Security, Among: []string{"deny", "allowlist"}, Read: security, Hint: config.Hint{Pane: "tools"},
				Help: "`deny`: no commands. `allowlist`: what a rule or you allow. There is no `full`: nothing runs unasked for good",
			},
			config.Choice{
				Key: "ask", To: &c.Ask, Among: []string{"on-miss", "always", "off"}, Hint: config.Hint{Pane: "tools"},
				Help: "`on-miss`: you are asked when no rule decides. `always`: also when one would allow it. `off`: never, and without a rule it " +
					"is a no",
			},
		}
	},
}

func security(v config.Value) string {
	if word, ok := v.Word(); ok && word == "full" {
		v.Warn("Hearth has no \"full\": every command would run unasked, whoever's words made the model want it. It asks, as with " +
			"\"allowlist\"; allow what you trust when you are asked (\"here\", or \"program\" for 90 days)")
		return "allowlist"
	}
	return v.Choice("deny", "allowlist")
}

// Waiting says how long a request waits.
type Waiting struct{ ExpireSeconds int }

// Section are the settings of requests for the owner's yes.
var Section = &config.Settings[Waiting]{
	Path:    "approvals",
	Default: Waiting{ExpireSeconds: 300},
	Fields: func(w *Waiting) []config.Field {
		return []config.Field{
			config.Number{Key: "expireSeconds", To: &w.ExpireSeconds, Min: 10, Max: 600, Help: "how long a request waits for your yes, 10 to 600"},
			config.Later("exec", "plugin"),
		}
	},
}

// SettingsOf are what the owner chose in the file.
func SettingsOf(c config.Config) Settings {
	how := CommandsSection.Of(c)
	return Settings{
		Security: Security(how.Security), Ask: Mode(how.Ask), Life: time.Duration(Section.Of(c).ExpireSeconds) * time.Second,
	}
}
