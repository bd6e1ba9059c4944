package systemprompt

import "github.com/hearth-assistant/hearth/gateway/config"

// Bootstrap is about the files of a workspace that every run reads.
type Bootstrap struct {
	Skip              bool // a new workspace gets no starters
	MaxChars          int
	TotalMaxChars     int
	TruncationWarning string // off, once, always
}

// Section are the settings of those files.
var Section = &config.Settings[Bootstrap]{
	Path: "agents.defaults", Name: "files",
	Default: Bootstrap{MaxChars: 12_000, TotalMaxChars: 60_000, TruncationWarning: "always"},
	Fields: func(b *Bootstrap) []config.Field {
		return []config.Field{
			config.Switch{Key: "skipBootstrap", To: &b.Skip, Help: "`true`: a new workspace gets no starters"},
			config.Number{
				Key: "bootstrapMaxChars", To: &b.MaxChars, Min: 100, Max: 1_000_000,
				Help: "how many characters of one file are read; the middle of longer ones is left out",
			},
			config.Number{Key: "bootstrapTotalMaxChars", To: &b.TotalMaxChars, Min: 100, Max: 1_000_000, Help: "of all files together"},
			config.Choice{
				Key: "bootstrapPromptTruncationWarning", To: &b.TruncationWarning, Among: []string{"off", "once", "always"},
				Help: "whether the model is told that files were cut: `off`, `once` (in the first answer of a session), `always`",
			},
		}
	},
}
