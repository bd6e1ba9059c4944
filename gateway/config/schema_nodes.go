package config

import "strings"

// nodes reads which commands of devices may be called. The older names of the
// two lists are read as well.
func (d *decoder) nodes(n *node, c *Nodes) {
	d.object(n, append([]field{
		{"commands", func(n *node) {
			d.object(n,
				field{"allow", func(n *node) { c.Allow = append(c.Allow, d.commandNames(n)...) }},
				field{"deny", func(n *node) { c.Deny = append(c.Deny, d.commandNames(n)...) }},
			)
		}},
		{"allowCommands", func(n *node) { c.Allow = append(c.Allow, d.commandNames(n)...) }},
		{"denyCommands", func(n *node) { c.Deny = append(c.Deny, d.commandNames(n)...) }},
	}, later("browser", "pairing", "enabled")...)...)
}

func (d *decoder) commandNames(n *node) (out []string) {
	d.list(n, func(v *node) {
		s := d.filled(v, 128)
		if s == "*" {
			d.issue(v.start, "\"*\" would allow or forbid every command there will ever be; name them, or a group such as \"canvas.*\"")
			return
		}
		if s != "" && strings.ContainsAny(s, " \t,") {
			d.issue(v.start, "one command, for example \"camera.snap\"")
			return
		}
		if s != "" {
			out = append(out, s)
		}
	})
	return out
}
