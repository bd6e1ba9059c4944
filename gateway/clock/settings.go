package clock

import "github.com/hearth-assistant/hearth/gateway/config"

// Configured is what the file says of the person's clock.
type Configured struct {
	UserTimezone string // IANA; empty: that of this machine
	TimeFormat   string // auto, 12, 24
}

// Section are the settings of the person's clock.
var Section = &config.Settings[Configured]{
	Path: "agents.defaults", Name: "clock",
	Default: Configured{TimeFormat: "auto"},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Text{
				Key: "userTimezone", To: &c.UserTimezone, Max: 64, Read: config.Timezone(),
				Hint: config.Hint{Pane: "general", Example: "Europe/Vienna", Default: "this machine's"},
				Help: "your time zone, for example `\"Europe/Vienna\"`",
			},
			config.Choice{
				Key: "timeFormat", To: &c.TimeFormat, Among: []string{"auto", "12", "24"}, Read: timeFormat, Hint: config.Hint{Pane: "general"},
				Help: "`12`, `24`, or `auto` (24) for times that the model reads",
			},
		}
	},
}

func timeFormat(v config.Value) string {
	if n, ok := v.Digits(); ok && (n == "12" || n == "24") {
		return n
	}
	return v.Choice("auto", "12", "24")
}
