package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolRules(t *testing.T) {
	c, issues, _ := channelsOf(t, `{ tools: { profile: "coding", allow: ["Read", "group:fs", "web_*"], deny: ["exec"],
		byProvider: { "ollama/small": { profile: "minimal" } }, toolsBySender: { "telegram:42": { deny: ["*"] } },
		exec: { security: "deny", ask: "always" } }, approvals: { expireSeconds: 60 } }`)
	if len(issues) > 0 {
		t.Fatal(issues)
	}
	want := ToolRules{Profile: "coding", Allow: []string{"read", "group:fs", "web_*"}, Deny: []string{"exec"}}
	if diff := cmp.Diff(want, c.Tools.ToolRules); diff != "" {
		t.Error(diff)
	}
	if c.Tools.ByProvider["ollama/small"].Profile != "minimal" || c.Tools.BySender["telegram:42"].Deny[0] != "*" ||
		c.Tools.Exec.ExecApproval != (ExecApproval{"deny", "always"}) || c.Approvals.ExpireSeconds != 60 {
		t.Errorf("%+v", c.Tools)
	}
}

// The settings of a fresh install ask, and nothing turns asking off for good.
func TestSec_A_EXEC_01_SettingsAsk(t *testing.T) {
	if d := Default().Tools.Exec.ExecApproval; d != (ExecApproval{"allowlist", "on-miss"}) {
		t.Errorf("%+v", d)
	}
	for text, want := range map[string]string{
		`{ tools: { exec: { ask: "never" } } }`:          "ask",
		`{ tools: { deny: ["group:shell"] } }`:           "no such group",
		`{ tools: { deny: ["["] } }`:                     "no name of a tool",
		`{ approvals: { expireSeconds: 3600 } }`:         "600",
		`{ tools: { profile: "everything" } }`:           "profile",
		`{ tools: { byProvider: { x: { deny: "all" }}}}`: "list",
	} {
		_, issues, _ := channelsOf(t, text)
		if len(issues) == 0 || !strings.Contains(strings.ToLower(issues[0].String()), strings.ToLower(want)) {
			t.Errorf("%s: %v", text, issues)
		}
	}
}
