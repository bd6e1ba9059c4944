package hub

import (
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// OwnersSection are the owner's accounts on messaging networks: "NETWORK:123", or an
// id on any network. Who may write is another list.
var OwnersSection = &config.Settings[[]string]{
	Path: "commands",
	Fields: func(owners *[]string) []config.Field {
		return []config.Field{
			config.Texts{
				Key: "ownerAllowFrom", To: owners, Read: sender, Hint: config.Hint{Default: "`[]`"},
				Help: "your own accounts on messaging networks (`\"NETWORK:123456789\"`, or an id on any network): they have the owner's commands, " +
					"tools and conversation. `\"*\"` is nobody. In direct messages whoever you let in as yourself is the owner too (`hearth contacts " +
					"owner ID`). While somebody may write on a network and nobody is its owner, `hearth doctor` says so. The other keys of " +
					"OpenClaw's `commands` are kept and not used",
				Check: func() error {
					if slices.ContainsFunc(*owners, func(s string) bool { return s == "*" || strings.HasSuffix(s, ":*") }) {
						return config.Notice("\"*\" makes nobody the owner: name each one, for example \"NETWORK:123456789\"")
					}
					return nil
				},
			},
			config.Later("text", "bash", "bashForegroundMs", "config", "mcp", "plugins", "debug", "restart",
				"allowFrom", "useAccessGroups", "ownerDisplay", "ownerDisplaySecret"),
		}
	},
}
