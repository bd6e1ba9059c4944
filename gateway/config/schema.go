package config

import (
	"strings"
)

// decode reads every known key of a document over the defaults.
func (d *decoder) decode() Config {
	d.begin()
	c := Default()
	c.Sections = Values{d.bound}
	fields := []field{
		{"commands", func(n *node) {
			d.object(n, append([]field{{"ownerAllowFrom", func(n *node) { c.Commands.OwnerAllowFrom = d.owners(n) }}},
				later("native", "nativeSkills", "text", "bash", "bashForegroundMs", "config", "mcp", "plugins", "debug", "restart", "allowFrom",
					"useAccessGroups", "ownerDisplay", "ownerDisplaySecret")...)...)
		}},
		{"auth", func(n *node) { d.accounts(n, &c.Auth) }},
		{"discovery", func(n *node) { d.discovery(n, &c.Discovery) }},
		{"secrets", func(n *node) { d.secrets(n, &c.Secrets) }},
		{"$schema", func(*node) {}}, // for editors
	}
	d.object(d.doc.root, append(fields, later("meta", "env", "wizard",
		"plugins", "browser", "ui", "web", "update",
		"broadcast", "talk", "audio", "media", "canvasHost", "nodeHost", "acp",
		"diagnostics")...)...)
	d.among(c)
	return c
}

// providerID: the part of "provider/model" before the first slash.
func providerID(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || r <= ' ' || r == 0x7f
	})
}
