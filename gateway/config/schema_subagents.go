package config

func (d *decoder) subagents(n *node, s *Subagents) {
	fields := []field{
		{"model", func(n *node) { s.Model = d.modelChoice(n) }},
		{"maxSpawnDepth", func(n *node) { s.MaxSpawnDepth = d.integer(n, 0, 5) }},
		{"maxConcurrent", func(n *node) { s.MaxConcurrent = d.integer(n, 1, 100) }},
		{"maxChildrenPerAgent", func(n *node) { s.MaxChildrenPerAgent = d.integer(n, 1, 20) }},
		{"delegationMode", func(n *node) { s.DelegationMode = d.choice(n, "suggest", "prefer") }},
		{"archiveAfterMinutes", func(n *node) { s.ArchiveAfterMinutes = d.integer(n, 0, 525_600) }},
	}
	d.object(n, append(fields, later("thinking", "runTimeoutSeconds", "announceTimeoutMs", "allowAgents", "requireAgentId")...)...)
}

func (d *decoder) toolsSessions(n *node, s *ToolsSessions) {
	d.object(n, field{"visibility", func(n *node) {
		if n.kind == kindString && n.text == "all" {
			d.issue(n.start, "a session sees those of its own agent at most; write \"agent\"")
			return
		}
		s.Visibility = d.choice(n, SeeSelf, SeeTree, SeeAgent)
	}})
}
