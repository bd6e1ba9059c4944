package gate

import (
	"github.com/hearth-assistant/hearth/gateway/config"
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
	t := c.Tools
	byAgent := map[string]policy.Layer{}
	for _, a := range c.Agents.List {
		byAgent[a.ID] = layerOf(a.Tools)
	}
	return policy.Settings{
		SpawnDepth: c.Agents.Defaults.Subagents.MaxSpawnDepth,
		Layer:      layerOf(t.ToolRules), ByProvider: layersOf(t.ByProvider), BySender: layersOf(t.BySender), ByAgent: byAgent,
	}
}

func layersOf(in map[string]config.ToolRules) map[string]policy.Layer {
	out := make(map[string]policy.Layer, len(in))
	for name, r := range in {
		out[name] = layerOf(r)
	}
	return out
}

func layerOf(r config.ToolRules) policy.Layer {
	return policy.Layer{Profile: r.Profile, Allow: r.Allow, AlsoAllow: r.AlsoAllow, Deny: r.Deny}
}
