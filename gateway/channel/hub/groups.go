package hub

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// in is what holds in a topic of the group: what the topic does not say is the
// group's, and both say something to the model.
func (g GroupRules) in(topic string) GroupRules {
	t, ok := g.Topics[cmp.Or(topic, channel.GeneralTopic)]
	if !ok {
		return g
	}
	out := g
	out.Topics, out.Enabled = nil, g.Enabled && t.Enabled
	out.RequireMention = cmp.Or(t.RequireMention, g.RequireMention)
	if t.AllowFrom != nil {
		out.AllowFrom = t.AllowFrom
	}
	if t.Skills != nil {
		out.Skills = t.Skills
	}
	out.SystemPrompt = strings.TrimSpace(g.SystemPrompt + "\n\n" + t.SystemPrompt)
	return out
}

// group is what the settings say of the group of a route; nothing for direct chats
// and for routes that lead to no account.
func (h *Hub) group(r channel.Route) (g GroupRules) {
	if r.Chat == channel.Direct {
		return g
	}
	a, _ := h.account(r.Channel, r.Account)
	g, _ = channel.OfGroup(a.Groups, r.Conversation)
	return g.in(r.Thread)
}

// GroupPrompt is what the model is told of the group of a route, "" for nothing.
func (h *Hub) GroupPrompt(r channel.Route) string { return h.group(r).SystemPrompt }

// Label is what people call a network.
func (h *Hub) Label(network string) string { return h.Kinds.Label(network) }

// GroupSkill reports whether the settings leave a skill to the group of a route.
func (h *Hub) GroupSkill(r channel.Route, skill string) bool {
	s := h.group(r).Skills
	return s == nil || slices.Contains(s, skill)
}

// GroupTool says why a tool is not for the group that a run answers, "" when it is.
// A group's rules take away from what groups may have at most; they add nothing.
func (h *Hub) GroupTool(name string, s tool.Scope) (why string) {
	r, ok := channel.ParseRoute(s.Route)
	if !ok || !s.Group {
		return ""
	}
	return h.toolsOf(r).Refuses(name)
}

// groupTools are the rules about tools of groups, made ready once for the settings in use.
type groupTools struct {
	mu   sync.Mutex
	of   *config.Snapshot
	made map[channel.Route]policy.Rules
}

// mostGroupTools is how many are kept.
const mostGroupTools = 1000

func (h *Hub) toolsOf(r channel.Route) policy.Rules {
	now, key := h.Settings.Snapshot(), channel.Route{Channel: r.Channel, Account: r.Account, Chat: r.Chat, Conversation: r.Conversation}
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	if h.tools.of != now || len(h.tools.made) >= mostGroupTools {
		h.tools.of, h.tools.made = now, map[channel.Route]policy.Rules{}
	}
	rules, ok := h.tools.made[key]
	if !ok {
		rules = h.group(r).Tools.Ready("channels." + r.Channel + ".groups." + r.Conversation + ".tools")
		h.tools.made[key] = rules
	}
	return rules
}
