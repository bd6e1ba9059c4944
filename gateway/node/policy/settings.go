package policy

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Section are the settings of which commands of devices may be called beyond those
// that their kind allows, and which not. A name may end in *, but what sees, records
// or changes private things is allowed by its whole name only.
var Section = &config.Settings[Settings]{
	Path: "gateway.nodes",
	Fields: func(s *Settings) []config.Field {
		allow := names("allow", &s.Allow, "commands of [nodes](nodes.md) that may be called beyond those that their kind of device allows. "+
			"Names, or beginnings such as `\"canvas.*\"`; what sees, records or changes private things (`camera.snap`, `camera.clip`, "+
			"`screen.record`, `sms.send`, …) only by its whole name. The node must still offer it and be approved for it. Older name: "+
			"`gateway.nodes.allowCommands`")
		deny := names("deny", &s.Deny, "commands that may not be called, whatever else says so. Older name: `gateway.nodes.denyCommands`")
		return []config.Field{
			config.Object{Key: "commands", Fields: []config.Field{allow, deny}},
			config.Alias("allowCommands", allow),
			config.Alias("denyCommands", deny),
			config.Later("browser", "pairing", "enabled"),
		}
	},
}

// names is a list to which the older name of its key adds.
func names(key string, to *[]string, help string) config.Field {
	return config.Any{
		Key: key, Help: help, Hint: config.Hint{Default: "`[]`"}, Like: config.Texts{},
		Read: func(v config.Value) {
			v.List(func(v config.Value) {
				if s := command(v); s != "" {
					*to = append(*to, s)
				}
			})
		},
		Show: func() (any, bool) { return *to, len(*to) > 0 },
	}
}

func command(v config.Value) string {
	s := v.Text(128)
	switch {
	case s == "*":
		v.Wrong("\"*\" would allow or forbid every command there will ever be; name them, or a group such as \"canvas.*\"")
	case strings.ContainsAny(s, " \t,"):
		v.Wrong("one command, for example \"camera.snap\"")
	default:
		return s
	}
	return ""
}
