package gateway_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestEachFeatureCanBeAbsent: with one feature switched off Hearth starts and
// answers, without complaint. Each method, tool and slash command is gone with the
// feature that it belongs to, and none is there that was not there before.
func TestEachFeatureCanBeAbsent(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	whole := offered(r, r.Connect())
	gone := map[string][]string{} // by what is offered, the features without which it is not
	names := r.Gateway.FeatureNames(t.Context())
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r.Shutdown()
			switchOff(r, name)
			r.Start()
			p := r.Connect()
			without := offered(r, p)
			for what := range without {
				if !whole[what] {
					t.Errorf("the %s is there without it only", what)
				}
			}
			for what := range whole {
				if !without[what] {
					gone[what] = append(gone[what], name)
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
	for what := range whole {
		if len(gone[what]) != 1 {
			t.Errorf("the %s goes with %q, want one feature", what, gone[what])
		}
	}
	if len(whole) < 200 || len(names) < 30 {
		t.Errorf("%d methods, tools and commands of %d features: this test looks for something else than there is", len(whole), len(names))
	}
}

// offered is what a gateway has for its clients, models and people: methods, tools and
// slash commands.
func offered(r *gatewaytest.Rig, p *gatewaytest.Peer) map[string]bool {
	out := map[string]bool{}
	for _, m := range p.Hello().Features.Methods {
		out["method "+m] = true
	}
	for _, tool := range r.Gateway.ToolNames() {
		out["tool "+tool] = true
	}
	for _, c := range r.Gateway.Commands() {
		out["command "+c.Name] = true
	}
	return out
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
