package sections

import "github.com/hearth-assistant/hearth/gateway/config"

// foreign are keys of the whole file that other gateways know and nobody here obeys:
// they are kept, and said to be unused.
func foreign() config.Section {
	return &config.Settings[struct{}]{
		Name: "foreign",
		Fields: func(*struct{}) []config.Field {
			return []config.Field{
				config.Any{Key: "$schema", Read: func(config.Value) {}, Like: config.Text{}, Help: "the address of a schema, for editors"},
				config.Later("meta", "env", "wizard", "plugins", "browser", "ui", "web", "broadcast", "talk", "audio", "media",
					"canvasHost", "nodeHost", "acp"),
			}
		},
	}
}
