package control_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// TestConfigPatchKnowsModels: the tool gateway does not propose a model that cannot
// be asked: each message after it would fail.
func TestConfigPatchKnowsModels(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	patch := func(path string, value any) (string, int) {
		res, asked := p.Use("gateway", map[string]any{"action": "config.patch", "path": path, "value": value, "reason": "better"}, "deny")
		return gatewaytest.ResultText(res), len(asked)
	}
	for _, c := range []struct {
		path  string
		value any
	}{
		{"agents.defaults.model", "envp/huge"},
		{"agents.defaults.model", map[string]any{"primary": "chat/echo", "fallbacks": []string{"claude/echo", "envp/huge"}}},
		{"agents.defaults.model.primary", "envp/huge"},
		{"agents.defaults.imageModel", "envp/huge"},
	} {
		if said, asked := patch(c.path, c.value); asked != 0 || !strings.Contains(said, "envp/huge cannot be asked") {
			t.Errorf("%s %v: asked %d times: %s", c.path, c.value, asked, said)
		}
	}
	if said, asked := patch("agents.defaults.model", "claude/echo"); asked != 1 {
		t.Errorf("a model that is there: asked %d times: %s", asked, said)
	}
}
