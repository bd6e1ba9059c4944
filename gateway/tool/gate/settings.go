package gate

import (
	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// madePolicy is a policy and the settings that it was made of.
type madePolicy struct {
	snap   *config.Snapshot
	policy *policy.Policy
}

// policy is the policy of the settings as they are now.
func (g *Gate) policy() *policy.Policy {
	snap := g.o.Settings.Snapshot()
	if m := g.policies.Load(); m != nil && m.snap == snap {
		return m.policy
	}
	made := &madePolicy{snap, policy.New(settingsOf(snap.Config))}
	g.policies.Store(made)
	return made.policy
}

func settingsOf(c config.Config) policy.Settings {
	rules, byAgent := policy.Section.Of(c), map[string]policy.Layer{}
	for _, a := range agents.Section.Of(c).List {
		byAgent[a.ID], _ = policy.AgentSection.Of(c, a.ID)
	}
	return policy.Settings{
		SpawnDepth: subagent.Section.Of(c).MaxSpawnDepth, Layer: rules.Layer, ByProvider: rules.ByProvider, BySender: rules.BySender,
		ByAgent: byAgent,
	}
}
