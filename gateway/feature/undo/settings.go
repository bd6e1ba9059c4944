package undo

import "github.com/hearth-assistant/hearth/gateway/config"

// Settings are how much may be kept.
type Settings struct {
	MaxMB int // of all copies; 0: what fits the disk
}

// Section are the settings of what can be taken back.
var Section = &config.Settings[Settings]{
	Path: "undo",
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Number{
				Key: "maxMB", To: &s.MaxMB, Min: 64, Max: 1 << 20,
				Hint: config.Hint{Default: "2048, or a tenth of the free disk when that is less"},
				Help: "how many megabytes the copies take at most that `hearth undo` brings back; beyond it the oldest go before their seven " +
					"days are over",
			},
		}
	},
}
