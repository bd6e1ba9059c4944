package titles_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A chat is named in the background after its first answer, and never one that a
// person named.
func TestChatsAreNamed(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	r.Shutdown()
	path := filepath.Join(string(r.Dir), "hearth.json")
	raw, err := os.ReadFile(path)
	var settings map[string]any
	if err != nil || json.Unmarshal(raw, &settings) != nil {
		t.Fatal(err)
	}
	delete(settings, "features") // tests have it off
	if raw, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Start()
	p := r.Connect()
	const named, own = "agent:main:chat:n1", "agent:main:chat:n2"
	p.Do(protocol.MethodSessionsSubscribe, struct{}{}, nil)
	p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: own, Label: "mine"}, nil)
	p.Say(own, "a", "hi")
	p.Say(named, "b", "hi")
	var c protocol.SessionsChanged
	p.Until("a title", func(e protocol.Event) bool {
		c = protocol.SessionsChanged{}
		return e.Event == protocol.EventSessionsChanged && json.Unmarshal(e.Payload, &c) == nil && c.Reason == "patch"
	})
	// The model says again what it was given.
	if c.SessionKey != named || c.Session.DerivedTitle != "echo: Person: hi" || c.Session.Label != "" {
		t.Errorf("named: %+v", c.Session)
	}
	var d protocol.SessionsDescribeResult
	p.Do(protocol.MethodSessionsDescribe, protocol.SessionKeyParams{Key: own}, &d)
	if d.Session.Label != "mine" || d.Session.DerivedTitle != "hi" {
		t.Errorf("a chat with a name of its own became %+v", d.Session)
	}
}
