package hub

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound"
)

// Policy is who may write to an account, as the settings say. Who may write is one
// list and who is the owner another: a list of a family, brought from elsewhere,
// makes no owners.
func (h *Hub) Policy(network, account string) inbound.Policy {
	c := h.Settings.Snapshot().Config
	k, _ := h.Kinds.Get(network)
	a, ok := h.account(network, account)
	if !ok {
		return inbound.Policy{DM: inbound.DMDisabled, Group: inbound.GroupDisabled}
	}
	p := inbound.Policy{
		DM: inbound.DMPolicy(a.DMPolicy), AllowFrom: a.AllowFrom, Owners: same(k, OwnersSection.Of(c)), Group: inbound.GroupPolicy(a.GroupPolicy),
		GroupAllowFrom: a.GroupAllowFrom, Groups: map[string]inbound.GroupRule{}, HistoryLimit: a.HistoryLimit,
		Reactions: inbound.Reactions(a.Reactions), ReactionFrom: a.ReactionFrom,
	}
	for id, r := range a.Groups {
		rule := r.admission()
		for topic := range r.Topics {
			if rule.Topics == nil {
				rule.Topics = map[string]inbound.GroupRule{}
			}
			rule.Topics[topic] = r.in(topic).admission()
		}
		p.Groups[id] = rule
	}
	return p
}

// compared is an account with its lists of people, and the names of its groups, written
// as messages have them: a person writes them as their network shows them.
func (a Configured) compared(k channel.Kind) Configured {
	if k.SameID == nil {
		return a
	}
	a.AllowFrom, a.GroupAllowFrom, a.ReactionFrom = same(k, a.AllowFrom), same(k, a.GroupAllowFrom), same(k, a.ReactionFrom)
	groups := map[string]GroupRules{}
	for id, g := range a.Groups {
		g.AllowFrom = same(k, g.AllowFrom)
		topics := map[string]GroupRules{}
		for topic, t := range g.Topics {
			t.AllowFrom = same(k, t.AllowFrom)
			topics[topic] = t
		}
		g.Topics = topics
		groups[id] = g
		if name := k.Person(id); name != id {
			if _, own := a.Groups[name]; !own {
				groups[name] = g
			}
		}
	}
	a.Groups = groups
	return a
}

// same is a list of people as messages name them; nil stays nil.
func same(k channel.Kind, list []string) []string {
	if k.SameID == nil || list == nil {
		return list
	}
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = k.Person(id)
	}
	return out
}

func (g GroupRules) admission() inbound.GroupRule {
	return inbound.GroupRule{RequireMention: g.RequireMention, AllowFrom: g.AllowFrom, Disabled: !g.Enabled}
}
