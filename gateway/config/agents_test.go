package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAgentKeys(t *testing.T) {
	c, issues, warnings := channelsOf(t, `{ agents: { defaults: { skipBootstrap: true, bootstrapMaxChars: 500, bootstrapTotalMaxChars: 900,
		bootstrapPromptTruncationWarning: "once", subagents: { delegationMode: "prefer" },
		}, list: [
		{ id: "main", identity: { name: "Nia", emoji: "🦊", theme: "dry", avatar: "fox.png" } },
		{ id: "work", default: true, name: "Work", workspace: "~/work", model: "a/b", skills: [], tools: { profile: "coding", deny: ["exec"] }, skillsLimits: { maxSkillsPromptChars: 600 }, contextLimits: { toolResultMaxChars: 2000 }, sandbox: {} } ] },
		bindings: [ { agentId: "work", match: { channel: "Telegram", accountId: "*", peer: { kind: "dm", id: "42" } } } ] }`)
	if len(issues) > 0 {
		t.Fatal(issues)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].String(), "sandbox") {
		t.Errorf("%v", warnings)
	}
	want := []Agent{
		{ID: "main", Identity: AgentIdentity{Name: "Nia", Emoji: "🦊", Theme: "dry", Avatar: "fox.png"}},
		{ID: "work", Default: true, Name: "Work", Workspace: "~/work", Model: ModelChoice{Primary: "a/b"}, Skills: &[]string{},
			Tools: ToolRules{Profile: "coding", Deny: []string{"exec"}}, SkillsLimits: AgentSkillsLimits{600}, ContextLimits: ContextLimits{
				ToolResultMaxChars: 2000}},
	}
	if d := cmp.Diff(want, c.Agents.List); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Binding{{"work", BindingMatch{"telegram", "*", &BindingPeer{"direct", "42"}}}}, c.Bindings); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Bootstrap{true, 500, 900, "once"}, c.Agents.Defaults.Bootstrap); d != "" ||
		c.Agents.Defaults.Subagents.DelegationMode != "prefer" {
		t.Error(d)
	}
	if c := Default().Agents.Defaults; c.BootstrapMaxChars != 12_000 || c.BootstrapTotalMaxChars != 60_000 ||
		c.BootstrapPromptTruncationWarning != "always" {
		t.Errorf("%+v", c.Bootstrap)
	}
}

func TestAgentMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ agents: { list: [{}] } }`:                                                             "needs an id",
		`{ agents: { list: [{ id: "../x" }] } }`:                                                 "lower-case",
		`{ agents: { list: [{ id: "Work" }] } }`:                                                 "lower-case",
		`{ agents: { list: [{ id: "a" }, { id: "a" }] } }`:                                       "already an agent",
		`{ agents: { list: [{ id: "a", default: true }, { id: "b", default: true }] } }`:         "only one agent",
		`{ agents: { list: [{ id: "a", tools: { deny: ["group:shell"] } }] } }`:                  "no such group",
		`{ bindings: [{ agentId: "ghost", match: { channel: "telegram" } }] }`:                   "no agent \"ghost\"",
		`{ bindings: [{ agentId: "main" }] }`:                                                    "match.channel",
		`{ bindings: [{ agentId: "main", match: { channel: "x", guildId: "1" } }] }`:             "cannot bind by guildId",
		`{ bindings: [{ agentId: "main", match: { channel: "x", peer: { kind: "direct" } } }] }`: "kind",
		`{ agents: { defaults: { bootstrapMaxChars: 1 } } }`:                                     "100",
	} {
		_, issues, _ := channelsOf(t, text)
		if len(issues) == 0 || !strings.Contains(issues[0].String(), want) {
			t.Errorf("%s: %v", text, issues)
		}
	}
}
