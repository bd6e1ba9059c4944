package config

import "strings"

func (d *decoder) reachFields(p *Provider) []field {
	return []field{
		{"headers", func(n *node) {
			p.Headers = make(map[string]Secret, len(n.items))
			d.each(n, func(name string, at int, v *node) {
				if !headerName(name) {
					d.issue(at, "the name of a header has only letters, digits and -")
					return
				}
				p.Headers[name] = d.key(v)
			})
		}},
		{"authHeader", func(n *node) { p.AuthHeader = d.boolean(n) }},
		{"timeoutSeconds", func(n *node) { p.TimeoutSeconds = d.integer(n, 1, 3600) }},
	}
}

func headerName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}
