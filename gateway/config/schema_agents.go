package config

import (
	"slices"
	"strings"
)

// bootstrap are the keys of agents.defaults about files of the workspace.
func (d *decoder) bootstrap(b *Bootstrap) []field {
	return []field{
		{"skipBootstrap", func(n *node) { b.SkipBootstrap = d.boolean(n) }},
		{"bootstrapMaxChars", func(n *node) { b.BootstrapMaxChars = d.integer(n, 100, 1_000_000) }},
		{"bootstrapTotalMaxChars", func(n *node) { b.BootstrapTotalMaxChars = d.integer(n, 100, 1_000_000) }},
		{"bootstrapPromptTruncationWarning", func(n *node) { b.BootstrapPromptTruncationWarning = d.choice(n, "off", "once", "always") }},
	}
}

// maxAgents bounds the list.
const maxAgents = 200

func (d *decoder) agentList(n *node) (out []Agent) {
	taken := map[string]bool{}
	standard := ""
	d.list(n, func(v *node) {
		if len(out) >= maxAgents {
			d.issue(v.start, "there can be %d agents at most", maxAgents)
			return
		}
		a := d.oneAgent(v)
		if a.ID == "" {
			return // said already
		}
		if taken[a.ID] {
			d.issue(v.start, "there is already an agent %q", a.ID)
			return
		}
		if a.Default && standard != "" {
			d.issue(v.start, "only one agent can be the default, and %q is", standard)
		}
		if a.Default {
			standard = a.ID
		}
		taken[a.ID] = true
		out = append(out, a)
	})
	return out
}

// skillNames are the skills that an agent may use.
func (d *decoder) skillNames(n *node) *[]string {
	list := []string{}
	d.list(n, func(v *node) { list = append(list, d.filled(v, 256)) })
	return &list
}

func (d *decoder) oneAgent(n *node) (a Agent) {
	before := len(d.issues)
	fields := []field{
		{"id", func(n *node) { a.ID = d.agentID(n) }},
		{"default", func(n *node) { a.Default = d.boolean(n) }},
		{"name", func(n *node) { a.Name = d.text(n, 128) }},
		{"workspace", func(n *node) { a.Workspace = d.filled(n, 4096) }},
		{"model", func(n *node) { a.Model = d.modelChoice(n) }},
		{"skills", func(n *node) { a.Skills = d.skillNames(n) }},
		{"contextLimits", func(n *node) { d.contextLimits(n, &a.ContextLimits) }},
		{"humanDelay", func(n *node) { a.HumanDelay = &HumanDelay{}; d.humanDelay(n, a.HumanDelay) }},
		{"skillsLimits", func(n *node) {
			d.object(n, field{"maxSkillsPromptChars", func(n *node) { a.SkillsLimits.MaxSkillsPromptChars = d.integer(n, 500, 1_000_000) }})
		}},
		{"identity", func(n *node) {
			d.object(n,
				field{"name", func(n *node) { a.Identity.Name = d.text(n, 128) }},
				field{"theme", func(n *node) { a.Identity.Theme = d.text(n, 1024) }},
				field{"emoji", func(n *node) { a.Identity.Emoji = d.text(n, 64) }},
				field{"avatar", func(n *node) { a.Identity.Avatar = d.text(n, 4096) }})
		}},
		{"tools", func(n *node) {
			fields := append(d.toolRules(&a.Tools), field{"codeMode", func(n *node) { a.CodeMode = d.agentCodeMode(n) }})
			d.object(n, append(fields, later("byProvider", "elevated", "exec", "fs", "sandbox", "message", "loopDetection")...)...)
		}},
	}
	d.object(n, append(fields, later("agentDir", "agentRuntime", "heartbeat", "subagents", "sandbox", "groupChat", "memorySearch",
		"thinkingDefault", "verboseDefault", "reasoningDefault", "fastModeDefault", "params", "runtime", "utilityModel", "description")...)...)
	if a.ID == "" && len(d.issues) == before {
		d.issue(n.start, "an agent needs an id, for example { id: \"work\" }")
	}
	return a
}

// agentID reads an id: it becomes a part of session keys and of folders.
func (d *decoder) agentID(n *node) string {
	before := len(d.issues)
	s := d.filled(n, 64)
	if len(d.issues) > before {
		return ""
	}
	if !AgentID(s) {
		d.issue(n.start, "an agent's id has 1 to 64 lower-case letters, digits, - and _, and begins with a letter or digit")
		return ""
	}
	return s
}

// AgentID reports whether s can be the id of an agent.
func AgentID(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && s[0] != '_' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

func (d *decoder) bindings(n *node) (out []Binding) {
	d.list(n, func(v *node) {
		b := Binding{}
		before := len(d.issues)
		d.object(v, append([]field{
			{"agentId", func(n *node) { b.AgentID = d.agentID(n) }},
			{"match", func(n *node) { d.bindingMatch(n, &b.Match) }},
		}, later("comment", "type", "acp", "session")...)...)
		if len(d.issues) > before {
			return
		}
		if b.AgentID == "" || b.Match.Channel == "" {
			d.issue(v.start, "a binding needs an agentId and match.channel, for example { agentId: \"work\", match: { channel: %q } }",
				d.exampleNetwork())
			return
		}
		d.bindingAt = append(d.bindingAt, v.start)
		out = append(out, b)
	})
	return out
}

func (d *decoder) bindingMatch(n *node, m *BindingMatch) {
	d.object(n, append([]field{
		{"channel", func(n *node) { m.Channel = strings.ToLower(d.filled(n, 64)) }},
		{"accountId", func(n *node) { m.Account = d.filled(n, 256) }},
		{"peer", func(n *node) {
			p := BindingPeer{}
			before := len(d.issues)
			d.object(n,
				field{"kind", func(n *node) {
					if n.kind == kindString && n.text == "dm" {
						p.Kind = "direct" // the older name
						return
					}
					p.Kind = d.choice(n, "direct", "group", "channel")
				}},
				field{"id", func(n *node) { p.ID = d.filled(n, 512) }})
			if len(d.issues) == before && (p.Kind == "" || p.ID == "") {
				d.issue(n.start, "a peer needs kind (direct, group or channel) and id")
			}
			m.Peer = &p
		}},
	}, later("guildId", "teamId", "roles")...)...)
	for _, it := range n.items {
		if slices.Contains([]string{"guildId", "teamId", "roles"}, it.key) {
			// Without the part that we do not look at, it would match more than meant.
			d.issue(it.keyStart, "this version cannot bind by %s; remove the binding or name a peer", it.key)
		}
	}
}

// bindingsKnown refuses bindings to agents that are not there: their messages
// would be answered by somebody else than was meant.
func (d *decoder) bindingsKnown(c *Config) {
	for i, b := range c.Bindings {
		if b.AgentID != "main" && !slices.ContainsFunc(c.Agents.List, func(a Agent) bool { return a.ID == b.AgentID }) {
			d.issue(d.bindingAt[i], "there is no agent %q in agents.list", b.AgentID)
		}
	}
}
