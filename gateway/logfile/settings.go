package logfile

import (
	"log/slog"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of the gateway's own log.
type Configured struct{ Level string } // debug, info, warn, error

// Section are the settings of the log.
var Section = &config.Settings[Configured]{
	Path:    "logging",
	Default: Configured{Level: "info"},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Choice{
				Key: "level", To: &c.Level, Among: levels(), Read: level, Hint: config.Hint{Pane: "health"},
				Help: "how much the log says: `debug`, `info`, `warn`, `error`",
			},
			config.Later("file", "maxFileBytes", "consoleLevel", "consoleStyle", "redactSensitive", "redactPatterns"),
		}
	},
}

func levels() []string { return []string{"debug", "info", "warn", "error"} }

// level also takes the names of other gateways' files for what is nearest.
func level(v config.Value) string {
	switch word, _ := v.Word(); word {
	case "trace":
		return "debug"
	case "fatal", "silent":
		return "error"
	}
	return v.Choice(levels()...)
}

// Slog is the level as log/slog counts it.
func (c Configured) Slog() slog.Level {
	switch c.Level {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Follow keeps a level as the settings say.
func Follow(settings *config.File, level *slog.LevelVar) {
	level.Set(Section.Of(settings.Snapshot().Config).Slog())
	settings.Subscribe(nil, func(_, next config.Config) { level.Set(Section.Of(next).Slog()) })
}
