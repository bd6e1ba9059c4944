package sections_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/sections"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: sections.All(networks())})
}

// refused: each text is wrong in a way that says so.
func refused(t *testing.T, cases map[string]string) {
	t.Helper()
	for text, want := range cases {
		if s := read(text); len(s.Issues) == 0 || !strings.Contains(strings.ToLower(s.Issues[0].String()), strings.ToLower(want)) {
			t.Errorf("%s: %v", text, s.Issues)
		}
	}
}

// TestAgentKeys: what the file says of assistants reaches each who obeys it.
func TestAgentKeys(t *testing.T) {
	s := read(`{ agents: { defaults: { skipBootstrap: true, bootstrapMaxChars: 500, bootstrapTotalMaxChars: 900,
		bootstrapPromptTruncationWarning: "once", subagents: { delegationMode: "prefer" }, humanDelay: { mode: "natural" } }, list: [
		{ id: "main", identity: { name: "Nia", emoji: "🦊", theme: "dry", avatar: "fox.png" } },
		{ id: "work", default: true, name: "Work", workspace: "~/work", model: "a/b", skills: [], sandbox: {},
			tools: { profile: "coding", deny: ["exec"], codeMode: true }, humanDelay: { mode: "off" },
			skillsLimits: { maxSkillsPromptChars: 600 }, contextLimits: { toolResultMaxChars: 2000 } } ] },
		bindings: [ { agentId: "work", match: { channel: "Telegram", accountId: "*", peer: { kind: "dm", id: "42" } } } ] }`)
	if len(s.Issues) > 0 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].String(), "sandbox") {
		t.Fatal(s.Issues, s.Warnings)
	}
	want := []agents.Entry{
		{ID: "main", Identity: agents.Identity{Name: "Nia", Emoji: "🦊", Theme: "dry", Avatar: "fox.png"}},
		{ID: "work", Default: true, Name: "Work", Workspace: "~/work", Model: config.ModelChoice{Primary: "a/b"}, Skills: []string{},
			SkillChars: 600, ContextLimits: agents.ContextLimits{ToolResultMaxChars: 2000}},
	}
	if d := cmp.Diff(want, agents.Section.Of(s.Config).List); d != "" {
		t.Error(d)
	}
	bound := []agents.Binding{{Agent: "work", Channel: "telegram", Account: "*", PeerKind: "direct", PeerID: "42"}}
	if d := cmp.Diff(bound, agents.BindingsSection.Of(s.Config)); d != "" {
		t.Error(d)
	}
	if own, _ := policy.AgentSection.Of(s.Config, "work"); own.Profile != "coding" || len(own.Deny) != 1 {
		t.Errorf("%+v", own)
	}
	if !workbench.On(s.Config, "work") || workbench.On(s.Config, "main") {
		t.Error("code mode of one agent is that of another")
	}
	if own, set := answers.AgentSection.Of(s.Config, "work"); !set || own.Mode != "off" {
		t.Errorf("%+v", own)
	}
	if d := cmp.Diff(systemprompt.Bootstrap{Skip: true, MaxChars: 500, TotalMaxChars: 900, TruncationWarning: "once"},
		systemprompt.Section.Of(s.Config)); d != "" || subagent.Section.Of(s.Config).DelegationMode != "prefer" {
		t.Error(d)
	}
	if b := systemprompt.Section.Default; b.MaxChars != 12_000 || b.TotalMaxChars != 60_000 || b.TruncationWarning != "always" {
		t.Errorf("%+v", b)
	}
	if shown, ok, err := s.InUse("agents.list[1].tools"); err != nil || !ok || !strings.Contains(string(shown), `"deny":["exec"]`) ||
		!strings.Contains(string(shown), `"codeMode":true`) {
		t.Errorf("%s %v", shown, err)
	}
}

func TestAgentMistakes(t *testing.T) {
	refused(t, map[string]string{
		`{ agents: { list: [{}] } }`:                                                             "needs an id",
		`{ agents: { list: [{ id: "../x" }] } }`:                                                 "lower-case",
		`{ agents: { list: [{ id: "Work" }] } }`:                                                 "lower-case",
		`{ agents: { list: [{ id: "a" }, { id: "a" }] } }`:                                       "already an agent",
		`{ agents: { list: [{ id: "a", default: true }, { id: "b", default: true }] } }`:         "only one agent",
		`{ agents: { list: [{ id: "a", tools: { deny: ["group:shell"] } }] } }`:                  "no such group",
		`{ agents: { list: [{ id: "a", tools: { codeMode: 3 } }] } }`:                            "true, false",
		`{ agents: { list: [{ id: "a", tools: { codeMode: { enabled: 1 } } }] } }`:               "true",
		`{ bindings: [{ agentId: "ghost", match: { channel: "telegram" } }] }`:                   "no agent \"ghost\"",
		`{ bindings: [{ agentId: "main" }] }`:                                                    "match.channel",
		`{ bindings: [{ agentId: "main", match: { channel: "x", guildId: "1" } }] }`:             "cannot bind by guildId",
		`{ bindings: [{ agentId: "main", match: { channel: "x", peer: { kind: "direct" } } }] }`: "kind",
		`{ agents: { defaults: { bootstrapMaxChars: 1 } } }`:                                     "100",
		`{ agents: { defaults: { timeFormat: 13 } } }`:                                           "auto, 12, 24",
		`{ agents: { defaults: { envelopeTimestamp: true } } }`:                                  "on, off",
		`{ agents: { defaults: { userTimezone: "" } } }`:                                         "empty",
		`{ agents: { defaults: { silentReply: { direct: "allow" } } } }`:                         "disallow",
		`{ agents: { defaults: { humanDelay: { minMs: 9, maxMs: 8 } } } }`:                       "greater",
		`{ agents: { defaults: { blockStreamingChunk: { minChars: 9, maxChars: 8 } } } }`:        "greater",
		`{ agents: { defaults: { workspace: "Hearth" } } }`:                                      "the whole path",
		`{ agents: { defaults: { model: "gpt" } } }`:                                             "provider/model",
		`{ agents: { defaults: { model: 7 } } }`:                                                 "{ primary, fallbacks }",
	})
	if s := read(`{ agents: { defaults: { userTimezone: "Mars/Olympus" } } }`); !s.Valid || len(s.Warnings) != 1 {
		t.Errorf("an unknown zone: %v %v", s.Issues, s.Warnings)
	}
}

// TestConversationKeys: time, silence and blocks, as the page of the reference has them.
func TestConversationKeys(t *testing.T) {
	s := read(`{ agents: { defaults: {
    userTimezone: "UTC", timeFormat: 12, envelopeTimezone: "utc", envelopeTimestamp: "off", envelopeElapsed: "off",
    silentReply: { direct: "disallow", group: "disallow", internal: "allow" },
    humanDelay: { mode: "custom", minMs: 100, maxMs: 200 },
    blockStreamingDefault: "on", blockStreamingBreak: "message_end",
    blockStreamingChunk: { minChars: 800, maxChars: 1200, breakPreference: "sentence" },
    blockStreamingCoalesce: { minChars: 100, maxChars: 900, idleMs: 700 },
  } } }`)
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	want := answers.Configured{
		Silence: answers.Silence{Group: "disallow", Internal: "allow"}, Pace: answers.Pace{Mode: "custom", MinMs: 100, MaxMs: 200},
		BlockStreaming: "on", BlockStreamingBreak: "message_end",
		BlockStreamingChunk:  hub.BlockChunk{MinChars: 800, MaxChars: 1200, BreakPreference: "sentence"},
		BlockStreamingMerged: hub.BlockCoalesce{MinChars: 100, MaxChars: 900, IdleMs: 700},
	}
	if d := cmp.Diff(want, answers.Section.Of(s.Config)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(clock.Configured{UserTimezone: "UTC", TimeFormat: "12"}, clock.Section.Of(s.Config)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(rules.Envelope{Timezone: "utc", Timestamp: "off", Elapsed: "off"}, rules.EnvelopeSection.Of(s.Config)); d != "" {
		t.Error(d)
	}
}

func TestModelKeys(t *testing.T) {
	s := read(`{ agents: { defaults: { models: { "a/one": { alias: "Big" }, "b/two": {} } } },
		models: { pricing: { "openai/gpt-5": { input: 1.25, output: 10 } }, providers: { x: { baseUrl: "https://x.example/", timeoutSeconds: 9,
			headers: { "X-Team": "home" }, models: [{ id: "m", cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 } }] } } } }`)
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	if d := cmp.Diff(map[string]string{"a/one": "Big", "b/two": ""}, choice.Section.Of(s.Config).Aliases); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]provider.Price{"openai/gpt-5": {Input: 1.25, Output: 10, CacheRead: 1.25, CacheWrite: 1.25}},
		budget.PricingSection.Of(s.Config)); d != "" {
		t.Error(d)
	}
	x := provider.Section.Of(s.Config).Services["x"]
	if d := cmp.Diff(&provider.Price{Input: 1, Output: 2, CacheRead: 0.1}, x.Models[0].Cost); d != "" || x.BaseURL != "https://x.example" {
		t.Error(d, x)
	}
	if shown, _, err := s.InUse("models.providers.x.models[0].cost.input"); err != nil || string(shown) != "1" {
		t.Errorf("%s %v", shown, err)
	}
	refused(t, map[string]string{
		`{agents: {defaults: {models: {"one": {}}}}}`:                                        "provider/model",
		`{agents: {defaults: {models: {"a/one": {alias: "x y"}}}}}`:                          "no spaces",
		`{agents: {defaults: {models: {"a/one": {alias: "Big"}, "b/two": {alias: "big"}}}}}`: "already the one of a/one",
		`{agents: {defaults: {models: ["a/one"]}}}`:                                          "object",
		`{models: {pricing: {"a/b": {input: -1}}}}`:                                          "number",
		`{models: {pricing: {"a/b": 3}}}`:                                                    "object",
		`{models: {providers: {"a/b": {}}}}`:                                                 "provider's name",
		`{models: {providers: {a: {models: [{name: "x"}]}}}}`:                                "needs an id",
		`{models: {providers: {a: {api: "soap"}}}}`:                                          "openai-completions",
		`{models: {providers: {a: {headers: {"a b": "x"}}}}}`:                                "name of a header",
	})
}
