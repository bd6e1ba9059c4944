package config

import (
	"path"
	"slices"
	"strings"
)

// toolRules are the keys that every set of rules has.
func (d *decoder) toolRules(r *ToolRules) []field {
	return []field{
		{"profile", func(n *node) { r.Profile = d.choice(n, "minimal", "messaging", "coding", "full") }},
		{"allow", func(n *node) { r.Allow = d.toolNames(n) }},
		{"alsoAllow", func(n *node) { r.AlsoAllow = d.toolNames(n) }},
		{"deny", func(n *node) { r.Deny = d.toolNames(n) }},
	}
}

// toolGroups are the names that stand for several tools.
func toolGroups() []string {
	return []string{"group:fs", "group:runtime", "group:web", "group:sessions", "group:memory", "group:ui", "group:automation",
		"group:messaging", "group:nodes", "group:media", "group:plan"}
}

// toolNames reads names of tools. A name that can mean nothing is refused: a
// deny that is misspelt would allow.
func (d *decoder) toolNames(n *node) (out []string) {
	d.list(n, func(v *node) {
		before := len(d.issues)
		s := strings.ToLower(strings.TrimSpace(d.filled(v, 128)))
		if len(d.issues) > before {
			return
		}
		if _, err := path.Match(s, ""); err != nil || s == "" {
			d.issue(v.start, "this is no name of a tool; write a name (exec), a group (group:fs) or a pattern (web_*)")
			return
		}
		if strings.HasPrefix(s, "group:") && !slices.Contains(toolGroups(), s) {
			d.issue(v.start, "there is no such group of tools; there are %s", strings.Join(toolGroups(), ", "))
			return
		}
		out = append(out, s)
	})
	return out
}

// rulesBy reads rules by a name.
func (d *decoder) rulesBy(n *node) map[string]ToolRules {
	out := make(map[string]ToolRules, len(n.items))
	d.each(n, func(name string, _ int, v *node) {
		var r ToolRules
		d.object(v, d.toolRules(&r)...)
		out[name] = r
	})
	return out
}

// execApproval are the keys of tools.exec that decide whether a person is asked.
func (d *decoder) execApproval(e *ExecApproval) []field {
	return []field{
		{"security", func(n *node) {
			if n.kind == kindString && n.text == "full" {
				e.Security = "allowlist"
				d.warn(n.start, "Hearth has no \"full\": every command would run unasked, whoever's words made the model want it. It asks, as with "+
					"\"allowlist\"; allow what you trust when you are asked (\"here\", or \"program\" for 90 days)")
				return
			}
			e.Security = d.choice(n, "deny", "allowlist")
		}},
		{"ask", func(n *node) { e.Ask = d.choice(n, "off", "on-miss", "always") }},
	}
}

func (d *decoder) approvals(n *node, a *Approvals) {
	fields := []field{{"expireSeconds", func(n *node) { a.ExpireSeconds = d.integer(n, 10, 600) }}}
	d.object(n, append(fields, later("exec", "plugin")...)...)
}
