package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// may decides about a tool; the one place that is asked.
func (g *Gateway) may(name string, s tool.Scope) policy.Decision {
	if policy.GroupOf(name) == "group:memory" && !g.config.Snapshot().Config.Agents.Defaults.MemorySearch.Enabled {
		return policy.Decision{Why: name + " is switched off in agents.defaults.memorySearch.enabled"}
	}
	if policy.GroupOf(name) == "group:memory" && s.Surface == channel.API && !s.Owner {
		return policy.Decision{Why: "nothing is remembered of a program's users: Hearth cannot tell one from another"}
	}
	if group := policy.GroupOf(name); (group == "group:nodes" || group == "group:ui") && g.nodes.Empty() {
		return policy.Decision{Why: "no device was approved as a node yet; docs/nodes.md says how one is added"}
	}
	if !g.webEnabled(name) {
		return policy.Decision{Why: name + " is switched off in tools.web"}
	}
	if _, ok := g.agents.Book().Get(s.AgentID); !ok && name != "session_status" {
		// Its rules are gone with it, and may have been narrower.
		return policy.Decision{Why: fmt.Sprintf("the agent %q is not in agents.list any more", s.AgentID)}
	}
	return g.toolPolicy().Decide(name, s)
}

// toolPolicy is the policy of the settings now.
func (g *Gateway) toolPolicy() *policy.Policy {
	snap := g.config.Snapshot()
	if c := g.policies.Load(); c != nil && c.snap == snap {
		return c.policy
	}
	made := &madePolicy{snap, policy.New(policySettings(snap.Config))}
	g.policies.Store(made)
	return made.policy
}

// madePolicy is a policy and the settings that it was made of.
type madePolicy struct {
	snap   *config.Snapshot
	policy *policy.Policy
}

func policySettings(c config.Config) policy.Settings {
	t := c.Tools
	return policy.Settings{
		SpawnDepth: c.Agents.Defaults.Subagents.MaxSpawnDepth,
		Layer:      policyLayer(t.ToolRules), ByProvider: policyLayers(t.ByProvider), BySender: policyLayers(t.BySender), ByAgent: agentLayers(c),
	}
}

func policyLayers(in map[string]config.ToolRules) map[string]policy.Layer {
	out := make(map[string]policy.Layer, len(in))
	for name, r := range in {
		out[name] = policyLayer(r)
	}
	return out
}

func policyLayer(r config.ToolRules) policy.Layer {
	return policy.Layer{Profile: r.Profile, Allow: r.Allow, AlsoAllow: r.AlsoAllow, Deny: r.Deny}
}

// beforeTool stands in front of every call of a tool, whoever asked for it. The
// policy is asked again: settings may have changed since the run began.
func (g *Gateway) beforeTool(_ context.Context, name string, call tool.Call) error {
	if err := g.pause.Check(pause.UseTool); err != nil {
		return err
	}
	if g.hook.HasTool(call.RunID, name) {
		g.audit.Add(audit.Entry{Kind: audit.KindTool, What: "asked the program for " + name, Who: call.Sender, Session: call.SessionKey, Run: call.RunID, Facts: map[string]string{"call": call.ID, "args": string(call.Args)}})
		return nil
	}
	d := g.may(name, call.Scope)
	e := audit.Entry{Kind: audit.KindTool, What: "used " + name, Who: strings.TrimSuffix(call.Surface+":"+call.Sender, ":"), Session: call.SessionKey, Run: call.RunID, Facts: map[string]string{"call": call.ID, "args": string(call.Args)}}
	if policy.GroupOf(name) == "group:runtime" {
		e.Kind = audit.KindExec
	}
	if name == "message" {
		e.Kind = audit.KindSend
	}
	if !d.Allowed {
		e.What, e.Facts["why"] = "was not allowed "+name, d.Why
		g.audit.Add(e)
		return errors.New("Not allowed: " + d.Why + ". Do not try the same in another way.")
	}
	g.audit.Add(e)
	return nil
}
