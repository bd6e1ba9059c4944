package shell

import "github.com/hearth-assistant/hearth/gateway/config"

// Configured is what the file says of how a command runs.
type Configured struct {
	BackgroundMs int // until a command goes on in the background
	TimeoutSec   int
	NotifyOnExit bool // a note when a command in the background has ended
}

// Section are the settings of commands.
var Section = &config.Settings[Configured]{
	Path: "tools.exec", Name: "commands",
	Default: Configured{BackgroundMs: 10_000, TimeoutSec: 1800, NotifyOnExit: true},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Number{
				Key: "backgroundMs", To: &c.BackgroundMs, Min: 10, Max: 120_000,
				Help: "milliseconds until a command that still runs goes on in the background",
			},
			config.Number{
				Key: "timeoutSec", To: &c.TimeoutSec, Min: 1, Max: 86_400,
				Help: "seconds until a command is ended; the assistant may ask for another time",
			},
			config.Switch{
				Key: "notifyOnExit", To: &c.NotifyOnExit, Help: "leave a note in the session when a background command has ended",
			},
		}
	},
}
