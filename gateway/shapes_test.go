package gateway_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Clients of OpenClaw sort commands by six categories, and complete arguments by
// value and label.
func TestCommandsAreOfOpenClawsShape(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	var res struct {
		Commands []struct {
			Name, Description, Category, Source, Scope string
			Args                                       []struct {
				Name, Description, Type string
				Choices                 []struct{ Value, Label string }
			}
		}
	}
	p.Do(protocol.MethodCommandsList, map[string]any{}, &res)
	chosen := 0
	for _, c := range res.Commands {
		if !slices.Contains([]string{"session", "options", "status", "management", "media", "tools"}, c.Category) {
			t.Errorf("/%s is of the category %q", c.Name, c.Category)
		}
		for _, a := range c.Args {
			if a.Name == "" || a.Description == "" || a.Type != "string" {
				t.Errorf("/%s: %+v", c.Name, a)
			}
			for _, v := range a.Choices {
				chosen++
				if v.Value == "" || v.Label == "" {
					t.Errorf("/%s: %+v", c.Name, a)
				}
			}
		}
	}
	if len(res.Commands) < 10 || chosen < 10 {
		t.Errorf("%d commands, %d choices", len(res.Commands), chosen)
	}
}

// What they read of a search's hit is there.
func TestHitsAreOfOpenClawsShape(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Send("notes", "k1", "Tea, then tea again")
	p.Ended("k1")
	var res struct {
		Results []map[string]json.RawMessage `json:"results"`
	}
	p.Do(protocol.MethodSessionsSearch, protocol.SessionsSearchParams{Query: "tea"}, &res)
	if len(res.Results) != 2 {
		t.Fatalf("%d hits", len(res.Results))
	}
	for _, h := range res.Results {
		var at int64
		var score float64
		if json.Unmarshal(h["timestamp"], &at) != nil || at < 1e12 {
			t.Errorf("timestamp %s", h["timestamp"])
		}
		if json.Unmarshal(h["score"], &score) != nil || score != 2 {
			t.Errorf("score %s", h["score"])
		}
		for _, key := range []string{"sessionKey", "sessionId", "messageId", "role", "snippet"} {
			if len(h[key]) < 3 {
				t.Errorf("%s is %s", key, h[key])
			}
		}
	}
}
