package policy_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

func mine() tool.Scope {
	return tool.Scope{
		SessionKey: "agent:main:main", AgentID: "main", Owner: true, Surface: "webchat", Sender: "",
		Model: model.Ref{Provider: "anthropic", Model: "big"},
	}
}

func TestDecide(t *testing.T) {
	layers := policy.Settings{
		ByProvider: map[string]policy.Layer{"anthropic": {Deny: []string{"exec"}}, "openai/small": {Profile: "minimal"}},
		ByAgent:    map[string]policy.Layer{"guest": {Allow: []string{"read"}}},
		BySession:  map[string]policy.Layer{"agent:main:work": {Deny: []string{"group:web"}}},
		BySurface:  map[string]policy.Layer{"telegram": {Deny: []string{"group:fs"}}},
		BySender:   map[string]policy.Layer{"telegram:42": {Deny: []string{"message"}}, "43": {Deny: []string{"message"}}},
	}
	base := func(l policy.Layer) policy.Settings { return policy.Settings{Layer: l} }
	for _, c := range []struct {
		name  string
		set   policy.Settings
		tool  string
		scope func(*tool.Scope)
		want  bool
	}{
		{"nothing said", base(policy.Layer{}), "exec", nil, true},
		{"profile full", base(policy.Layer{Profile: "full"}), "anything", nil, true},
		{"profile minimal", base(policy.Layer{Profile: "minimal"}), "session_status", nil, true},
		{"profile minimal, more", base(policy.Layer{Profile: "minimal"}), "read", nil, false},
		{"profile coding", base(policy.Layer{Profile: "coding"}), "exec", nil, true},
		{"profile coding, more", base(policy.Layer{Profile: "coding"}), "message", nil, false},
		{"profile messaging", base(policy.Layer{Profile: "messaging"}), "message", nil, true},
		{"also", base(policy.Layer{Profile: "minimal", AlsoAllow: []string{"group:fs"}}), "write", nil, true},
		{"deny by name", base(policy.Layer{Deny: []string{"exec"}}), "exec", nil, false},
		{"deny by another name", base(policy.Layer{Deny: []string{"bash"}}), "exec", nil, false},
		{"deny in capitals", base(policy.Layer{Deny: []string{" EXEC "}}), "exec", nil, false},
		{"call in capitals", base(policy.Layer{Deny: []string{"exec"}}), "Exec", nil, false},
		{"deny by group", base(policy.Layer{Deny: []string{"group:runtime"}}), "process", nil, false},
		{"deny by pattern", base(policy.Layer{Deny: []string{"web_*"}}), "web_fetch", nil, false},
		{"deny all", base(policy.Layer{Deny: []string{"*"}}), "session_status", nil, false},
		{"allow", base(policy.Layer{Allow: []string{"read"}}), "read", nil, true},
		{"allow, another", base(policy.Layer{Allow: []string{"read"}}), "write", nil, false},
		{"allow does not widen a profile", base(policy.Layer{Profile: "minimal", Allow: []string{"exec"}}), "exec", nil, false},
		{"deny before allow", base(policy.Layer{Allow: []string{"read"}, Deny: []string{"read"}}), "read", nil, false},
		{"deny before also", base(policy.Layer{AlsoAllow: []string{"read"}, Deny: []string{"group:fs"}}), "read", nil, false},
		{"provider", layers, "exec", nil, false},
		{"another provider", layers, "exec", func(s *tool.Scope) { s.Model.Provider = "ollama" }, true},
		{"model", layers, "read", func(s *tool.Scope) { s.Model = model.Ref{Provider: "openai", Model: "small"} }, false},
		{"another model", layers, "read", func(s *tool.Scope) { s.Model = model.Ref{Provider: "openai", Model: "big"} }, true},
		{"agent", layers, "write", func(s *tool.Scope) { s.AgentID = "guest" }, false},
		{"agent, allowed", layers, "read", func(s *tool.Scope) { s.AgentID = "guest" }, true},
		{"session", layers, "web_fetch", func(s *tool.Scope) { s.SessionKey = "agent:main:work" }, false},
		{"surface", layers, "read", func(s *tool.Scope) { s.Surface = "telegram" }, false},
		{"sender", layers, "message", func(s *tool.Scope) { s.Surface, s.Sender = "telegram", "42" }, false},
		{"sender elsewhere", layers, "message", func(s *tool.Scope) { s.Surface, s.Sender = "signal", "42" }, true},
		{"sender anywhere", layers, "message", func(s *tool.Scope) { s.Surface, s.Sender = "signal", "43" }, false},
		{"somebody else", base(policy.Layer{}), "exec", func(s *tool.Scope) { s.Owner = false }, false},
		{"somebody else, allowed by name", base(policy.Layer{AlsoAllow: []string{"exec"}}), "exec", func(s *tool.Scope) { s.Owner = false },
			false},
		{"somebody else, harmless", base(policy.Layer{}), "session_status", func(s *tool.Scope) { s.Owner = false }, true},
		{"a group", base(policy.Layer{}), "write", func(s *tool.Scope) { s.Group = true }, false},
		{"a tool that is not known", base(policy.Layer{}), "new_tool", func(s *tool.Scope) { s.Group = true }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mine()
			if c.scope != nil {
				c.scope(&s)
			}
			d := policy.New(c.set).Decide(c.tool, s)
			if d.Allowed != c.want || d.Why == "" {
				t.Errorf("got %+v, want %v and a reason", d, c.want)
			}
		})
	}
}

// A hijacked run of somebody else, or of a group, gets nothing that acts.
func TestSec_A_INJ_01_OthersGetNothingThatActs(t *testing.T) {
	p := policy.New(policy.Settings{Layer: policy.Layer{Allow: []string{"*"}, AlsoAllow: []string{"*"}}})
	for group, tools := range policy.Groups() {
		for _, name := range tools {
			for who, change := range map[string]func(*tool.Scope){
				"not the owner": func(s *tool.Scope) { s.Owner, s.Sender = false, "42" },
				"nobody named":  func(s *tool.Scope) { s.Owner, s.Sender = false, "" },
				"in a group":    func(s *tool.Scope) { s.Group = true },
				"nothing known": func(s *tool.Scope) { *s = tool.Scope{} },
			} {
				s := mine()
				change(&s)
				d := p.Decide(name, s)
				// their own
				harmless := name == "session_status" || name == "web_search" || name == "update_plan" || group == "group:memory" &&
					(s.Group || s.Sender != "")
				if d.Allowed != harmless {
					t.Errorf("%s (%s) for %s: %+v", name, group, who, d)
				}
			}
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("exec", "group:fs,exec", "web_*", true)
	f.Add("EXEC", "*", "", false)
	f.Fuzz(func(t *testing.T, name, allow, deny string, owner bool) {
		s := mine()
		s.Owner = owner
		p := policy.New(policy.Settings{Layer: policy.Layer{Allow: []string{allow}, Deny: []string{deny, name}}})
		if d := p.Decide(name, s); d.Allowed && policy.GroupOf(name) != "" {
			t.Errorf("%q is allowed although it is denied", name)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	p := policy.New(policy.Settings{
		Layer:      policy.Layer{Profile: "coding", Deny: []string{"web_*", "mcp_*"}},
		ByProvider: map[string]policy.Layer{"anthropic": {Deny: []string{"group:web"}}},
		BySender:   map[string]policy.Layer{"telegram:42": {Deny: []string{"message"}}},
	})
	s := mine()
	b.ReportAllocs()
	for b.Loop() {
		if !p.Decide("exec", s).Allowed {
			b.Fatal("no")
		}
	}
}

func TestSubagentsAndRelayedWordsGetLess(t *testing.T) {
	p := policy.New(policy.Settings{SpawnDepth: 2})
	own := tool.Scope{Owner: true}
	with := func(change func(*tool.Scope)) tool.Scope { s := own; change(&s); return s }
	child, grandchild := with(func(s *tool.Scope) { s.Depth = 1 }), with(func(s *tool.Scope) { s.Depth = 2 })
	relayed := with(func(s *tool.Scope) { s.Relayed = true })
	for _, c := range []struct {
		name  string
		scope tool.Scope
		want  bool
	}{
		{"message", own, true}, {"gateway", own, true}, {"sessions_send", own, true},
		{"message", child, false}, {"gateway", child, false}, {"sessions_send", child, false}, {"sessions_spawn", child, true},
		{"exec", child, true},
		{"sessions_spawn", grandchild, false}, {"subagents", grandchild, false}, {"read", grandchild, true},
		{"message", relayed, false}, {"gateway", relayed, false}, {"sessions_spawn", relayed, true}, {"exec", relayed, true},
	} {
		if d := p.Decide(c.name, c.scope); d.Allowed != c.want {
			t.Errorf("%s at depth %d, relayed %v: %v (%s), want %v", c.name, c.scope.Depth, c.scope.Relayed, d.Allowed, d.Why, c.want)
		}
	}
}
