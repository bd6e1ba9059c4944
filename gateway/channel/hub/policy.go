package hub

import "github.com/hearth-assistant/hearth/gateway/inbound"

// Policy is who may write to an account, as the settings say. Who may write is one
// list and who is the owner another: a list of a family, brought from elsewhere,
// makes no owners.
func (h *Hub) Policy(network, account string) inbound.Policy {
	c := h.Settings.Snapshot().Config
	a, ok := h.account(network, account)
	if !ok {
		return inbound.Policy{DM: inbound.DMDisabled, Group: inbound.GroupDisabled}
	}
	p := inbound.Policy{
		DM: inbound.DMPolicy(a.DMPolicy), AllowFrom: a.AllowFrom, Owners: OwnersSection.Of(c), Group: inbound.GroupPolicy(a.GroupPolicy),
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

func (g GroupRules) admission() inbound.GroupRule {
	return inbound.GroupRule{RequireMention: g.RequireMention, AllowFrom: g.AllowFrom, Disabled: !g.Enabled}
}
