package metrics

import "github.com/hearth-assistant/hearth/gateway/config"

// Settings say whether programs may read metrics.
type Settings struct{ Enabled bool }

// Section are the settings of metrics.
var Section = &config.Settings[Settings]{
	Path: "diagnostics",
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Object{Key: "prometheus", Fields: []config.Field{config.Switch{
				Key: "enabled", To: &s.Enabled,
				Help: "`true`: `/metrics` tells how Hearth is, in Prometheus' text format, to programs with a token for it " +
					"(`hearth tokens create NAME --scope metrics`)",
			}}},
			config.Later("enabled", "flags", "cacheTrace", "stuckSessionWarnMs", "stuckSessionAbortMs"),
		}
	},
}
