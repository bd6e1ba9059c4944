// Package enabled owns the settings that switch features on and off. What the
// features are called is the list's of package gateway; they are switched at the
// next start (host.Options).
package enabled

import "github.com/hearth-assistant/hearth/gateway/config"

// Features are those that a person switched, by name; the others are on.
type Features struct{ Switched map[string]bool }

// Section are the settings of it.
var Section = &config.Settings[Features]{
	Name: "features",
	Fields: func(f *Features) []config.Field {
		return []config.Field{config.Map[bool]{
			Key: "features", Name: "<name>", To: &f.Switched, Hint: config.Hint{Default: "all on"},
			One: func(_ string, on *bool) config.Field {
				return config.Switch{
					To: on, Hint: config.Hint{Default: "`true`", Restart: true},
					Help: "`false`: the feature is not started, and nothing of it is there; taken at the next start",
				}
			},
		}}
	},
	Switches: func(f Features) map[string]bool { return f.Switched },
}
