package publicweb

import "github.com/hearth-assistant/hearth/gateway/config"

// Reached is how the public web is reached.
type Reached struct {
	Proxy string // that the owner trusts; empty: none, whatever the environment says
}

// Section are the settings of the way to the public web.
var Section = &config.Settings[Reached]{
	Path: "tools.web",
	Fields: func(r *Reached) []config.Field {
		return []config.Field{config.Text{
			Key: "proxy", To: &r.Proxy, Max: 2048, Is: config.WebAddress, Hint: config.Hint{Default: "none"},
			Help: "a proxy that you trust to keep your network out of reach of web pages. The environment's proxies are not used for addresses " +
				"that a model chose",
		}}
	},
}
