package sections_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/feature/shell"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

func TestToolsExec(t *testing.T) {
	s := read(`{ tools: { exec: { host: "gateway", pathPrepend: ["~/go/bin"], backgroundMs: 500, timeoutSec: 60, notifyOnExit: false,
		sandbox: { backend: "off", network: true, read: ["/srv/data"], write: ["~/site"] } } } }`)
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	want := execution.Configured{PathPrepend: []string{"~/go/bin"}, Sandbox: execution.Confinement{
		Backend: "off", Network: true, Read: []string{"/srv/data"}, Write: []string{"~/site"}}}
	if d := cmp.Diff(want, execution.Section.Of(s.Config)); d != "" {
		t.Error(d)
	}
	if got := shell.Section.Of(s.Config); got != (shell.Configured{BackgroundMs: 500, TimeoutSec: 60}) {
		t.Errorf("%+v", got)
	}
	if d := execution.Section.Default.Sandbox; d.Backend != "auto" || d.Network || shell.Section.Default.BackgroundMs != 10_000 {
		t.Errorf("%+v", d)
	}
	refused(t, map[string]string{
		`{ tools: { exec: { host: "node" } } }`:                 "gateway",
		`{ tools: { exec: { sandbox: { write: ["here"] } } } }`: "whole path",
		`{ tools: { exec: { pathPrepend: ["bin"] } } }`:         "whole path",
		`{ tools: { exec: { sandbox: { backend: "on" } } } }`:   "auto",
		`{ tools: { exec: { timeoutSec: 0 } } }`:                "1",
		`{ tools: { sessions: { visibility: "all" } } }`:        "agent",
	})
}

func TestToolRules(t *testing.T) {
	s := read(`{ tools: { profile: "coding", allow: ["Read", "group:fs", "web_*"], deny: ["exec", "group:mcp"],
		byProvider: { "ollama/small": { profile: "minimal" } }, toolsBySender: { "telegram:42": { deny: ["*"] } },
		exec: { security: "deny", ask: "always" } }, approvals: { expireSeconds: 60 } }`)
	if len(s.Issues) > 0 {
		t.Fatal(s.Issues)
	}
	got := policy.Section.Of(s.Config)
	want := policy.Layer{Profile: "coding", Allow: []string{"read", "group:fs", "web_*"}, Deny: []string{"exec", "group:mcp"}}
	if d := cmp.Diff(want, got.Layer); d != "" {
		t.Error(d)
	}
	if got.ByProvider["ollama/small"].Profile != "minimal" || got.BySender["telegram:42"].Deny[0] != "*" {
		t.Errorf("%+v", got)
	}
	if how := approval.SettingsOf(s.Config); how.Security != "deny" || how.Ask != "always" || how.Life.Seconds() != 60 {
		t.Errorf("%+v", how)
	}
}

// The settings of a fresh install ask, and nothing turns asking off for good.
func TestSec_A_EXEC_01_SettingsAsk(t *testing.T) {
	if d := approval.CommandsSection.Of(read(`{}`).Config); d != (approval.Commands{Security: "allowlist", Ask: "on-miss"}) {
		t.Errorf("%+v", d)
	}
	refused(t, map[string]string{
		`{ tools: { exec: { ask: "never" } } }`:          "ask",
		`{ tools: { deny: ["group:shell"] } }`:           "no such group",
		`{ tools: { deny: ["["] } }`:                     "no name of a tool",
		`{ approvals: { expireSeconds: 3600 } }`:         "600",
		`{ tools: { profile: "everything" } }`:           "profile",
		`{ tools: { byProvider: { x: { deny: "all" }}}}`: "list",
	})
}
