package config

func (d *decoder) tools(n *node, t *Tools) {
	fields := []field{
		{"web", func(n *node) { d.toolsWeb(n, &t.Web) }},
	}
	d.object(n, append(fields, later("profile", "allow", "alsoAllow", "deny", "byProvider", "toolsBySender", "exec", "fs", "elevated",
		"media", "links", "message", "sessions", "sessions_spawn", "subagents", "agentToAgent", "loopDetection", "sandbox", "codeMode", "experimental")...)...)
}
