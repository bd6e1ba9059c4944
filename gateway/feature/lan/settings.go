package lan

import "github.com/hearth-assistant/hearth/gateway/config"

// Configured is how the gateway lets itself be found on the local network. It does
// so only while gateway.bind is "lan".
type Configured struct{ Announced string }

// What is announced by Bonjour.
const (
	minimal = "minimal" // that there is a gateway, its id, port and key
	full    = "full"    // and the name of this machine
	off     = "off"
)

// Section are the settings of the announcement.
var Section = &config.Settings[Configured]{
	Path:    "discovery",
	Default: Configured{Announced: minimal},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Object{Key: "mdns", Fields: []config.Field{
				config.Choice{
					Key: "mode", To: &c.Announced, Among: []string{minimal, full, off}, Hint: config.Hint{Pane: "network"},
					Help: "what is announced by Bonjour while `bind` is `\"lan\"`. `\"minimal\"`: that there is a gateway, its id, port and key. " +
						"`\"full\"`: the machine's name as well. `\"off\"`: nothing; `HEARTH_DISABLE_BONJOUR=1` does the same",
				},
			}},
			config.Later("wideArea"),
		}
	},
}
