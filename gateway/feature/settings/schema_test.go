package settings_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/feature/settings"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sections"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// client calls the feature's methods with the settings of the product.
func client(t *testing.T) func(method, params string, to any) error {
	t.Helper()
	file, err := config.Open(filepath.Join(t.TempDir(), "hearth.json"), config.Options{Sections: sections.All(nil)})
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }
	f := settings.New(settings.Options{Settings: file, Now: now})
	return func(name, params string, to any) error {
		for _, m := range f.Methods {
			if m.Name != name {
				continue
			}
			v, err := m.Answer(t.Context(), &server.Caller{}, json.RawMessage(params))
			if err != nil {
				return err
			}
			b, err := json.Marshal(v)
			if err != nil {
				return err
			}
			return json.Unmarshal(b, to)
		}
		t.Fatalf("there is no method %s", name)
		return nil
	}
}

// TestConfigSchema: a client learns which keys there are, in the form of OpenClaw.
func TestConfigSchema(t *testing.T) {
	var got protocol.ConfigSchema
	if err := client(t)(protocol.MethodConfigSchema, `{}`, &got); err != nil {
		t.Fatal(err)
	}
	var schema config.Schema
	if err := json.Unmarshal(got.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	every := schema.Properties["agents"].Properties["defaults"].Properties["heartbeat"].Properties["every"]
	if schema.Type != "object" || every == nil || every.Type != "string" || string(every.Default) != `"0m"` {
		t.Errorf("%.300s", got.Schema)
	}
	if h := got.UIHints["agents.defaults.heartbeat.every"]; h.Group != "schedules" || h.Placeholder != "30m" || h.Help == "" || h.Order == 0 ||
		h.Feature != "heartbeat" {
		t.Errorf("%+v", h)
	}
	if !got.UIHints["mcp.servers.*.oauth.clientSecret"].Sensitive || len(got.Version) != 12 || got.GeneratedAt != "2026-11-22T12:00:00Z" {
		t.Errorf("%+v", got.UIHints["mcp.servers.*.oauth.clientSecret"])
	}
}

// TestConfigSchemaLookup: one place, with what is directly below it.
func TestConfigSchemaLookup(t *testing.T) {
	call := client(t)
	var got protocol.ConfigLookup
	if err := call(protocol.MethodConfigSchemaLookup, `{"path":"agents.defaults.heartbeat.target"}`, &got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.Schema), `"enum":["none","last","owner"]`) || got.ReloadKind != protocol.ReloadHot ||
		got.Children == nil || len(got.Children) != 0 || got.HintPath != "agents.defaults.heartbeat.target" {
		t.Errorf("%+v %s", got, got.Schema)
	}
	for path, want := range map[string]string{
		"agents.defaults.heartbeat":  "agents.defaults.heartbeat.every",
		"mcp.servers":                "mcp.servers.*",
		"mcp.servers.github":         "mcp.servers.*.command",
		"mcp.servers.*":              "mcp.servers.*.command",
		"mcp.servers.github.sandbox": "mcp.servers.*.sandbox.network",
		".":                          "mcp",
	} {
		var got protocol.ConfigLookup
		err := call(protocol.MethodConfigSchemaLookup, `{"path":"`+path+`"}`, &got)
		found := false
		for _, c := range got.Children {
			found = found || c.Path == want && c.HintPath == want && strings.HasSuffix(want, c.Key)
		}
		if err != nil || !found {
			t.Errorf("%s: %v %+v", path, err, got.Children)
		}
	}
	for _, path := range []string{"", "nothing.there", "agents.defaults.heartbeat.every.more", "mcp.servers[0]"} {
		if err := call(protocol.MethodConfigSchemaLookup, `{"path":"`+path+`"}`, &got); err == nil {
			t.Errorf("%q was found: %+v", path, got)
		}
	}
}
