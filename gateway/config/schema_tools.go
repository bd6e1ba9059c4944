package config

func (d *decoder) tools(n *node, t *Tools) {
	fields := append(d.toolRules(&t.ToolRules), []field{
		{"byProvider", func(n *node) { t.ByProvider = d.rulesBy(n) }},
		{"toolsBySender", func(n *node) { t.BySender = d.rulesBy(n) }},
		{"exec", func(n *node) { d.toolsExec(n, &t.Exec) }},
		{"sessions", func(n *node) { d.toolsSessions(n, &t.Sessions) }},
	}...)
	d.object(n, append(fields, later("fs", "elevated",
		"media", "links", "message", "sessions_spawn", "subagents", "agentToAgent", "loopDetection", "sandbox", "experimental")...)...)
}
