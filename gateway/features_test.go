package gateway_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestEachFeatureCanBeAbsent: with one feature switched off Hearth starts and
// answers, without complaint and without the feature's methods.
func TestEachFeatureCanBeAbsent(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	first := r.Connect()
	whole := first.Hello().Features.Methods
	for name, tools := range toolsOf {
		for _, tool := range tools {
			if !slices.Contains(toolNames(first), tool) {
				t.Errorf("%s has no tool %s", name, tool)
			}
		}
	}
	for _, name := range r.Gateway.FeatureNames(t.Context()) {
		t.Run(name, func(t *testing.T) {
			r.Shutdown()
			switchOff(r, name)
			r.Start()
			p := r.Connect()
			without := p.Hello().Features.Methods
			for _, m := range without {
				if !slices.Contains(whole, m) {
					t.Errorf("%s is there without it only", m)
				}
			}
			for _, tool := range toolsOf[name] {
				if slices.Contains(toolNames(p), tool) {
					t.Errorf("the tool %s is there without it", tool)
				}
			}
			health := p.Hello().Snapshot.Health
			for _, problem := range health.Hearth.Problems {
				if problem.Code == "FEATURE" {
					t.Error(problem.Message)
				}
			}
			if name == "chat" { // a message can still come in another way
				p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: "agent:main:other", Message: "hello", IdempotencyKey: name},
					nil)
				if end := p.Ended(name); end.State != "final" {
					t.Errorf("a message without it: %+v", end)
				}
				return
			}
			if end := p.Say("agent:main:main", name, "hello"); end.State != "final" {
				t.Errorf("a message without it: %+v", end)
			}
		})
	}
}

// toolsOf are the tools of features that have hardly anything else.
var toolsOf = map[string][]string{
	"files": {"read", "write", "edit", "apply_patch"}, "shell": {"exec", "process"}, "messaging": {"message"}, "chat": {"update_plan"},
	"subagents": {"sessions_spawn", "subagents"}, "web": {"web_fetch", "web_search"}, "image": {"image"}, "nodes": {"nodes", "canvas"},
}

// toolNames are the names of all tools that there are.
func toolNames(p *gatewaytest.Peer) (names []string) {
	var list protocol.ToolsCatalog
	p.Do(protocol.MethodToolsCatalog, protocol.ToolsCatalogParams{}, &list)
	for _, group := range list.Groups {
		for _, tool := range group.Tools {
			names = append(names, tool.ID)
		}
	}
	return names
}

// switchOff has the gateway start without a feature, "" for none.
func switchOff(r *gatewaytest.Rig, feature string) {
	r.T.Helper()
	path := filepath.Join(string(r.Dir), "hearth.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		r.T.Fatal(err)
	}
	var settings map[string]any
	if err := json.Unmarshal(raw, &settings); err != nil {
		r.T.Fatal(err)
	}
	settings["features"] = map[string]bool{feature: false}
	if raw, err = json.Marshal(settings); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// TestMethodsStandInTheListOnce: every method is one feature's, and stands in the
// table that says who may call it.
func TestMethodsStandInTheListOnce(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, m := range protocol.Methods() {
		known[m.Name] = true
	}
	for _, m := range gatewaytest.New(t, "chat/echo").Gateway.Methods() {
		switch {
		case seen[m.Name]:
			t.Errorf("%s is two features'", m.Name)
		case !known[m.Name]:
			t.Errorf("%s is not in protocol.Methods", m.Name)
		}
		seen[m.Name] = true
	}
	if len(seen) != len(known) {
		t.Errorf("%d methods, the table has %d", len(seen), len(known))
	}
}
