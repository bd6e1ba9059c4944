package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolsExec(t *testing.T) {
	c, issues, _ := channelsOf(t, `{ tools: { exec: { host: "gateway", pathPrepend: ["~/go/bin"], backgroundMs: 500, timeoutSec: 60, notifyOnExit: false,
		sandbox: { backend: "off", network: true, read: ["/srv/data"], write: ["~/site"] } } } }`)
	if len(issues) > 0 {
		t.Fatal(issues)
	}
	want := ToolsExec{
		ExecApproval: defaultExecApproval(), PathPrepend: []string{"~/go/bin"}, BackgroundMs: 500, TimeoutSec: 60,
		Sandbox: ExecSandbox{Backend: "off", Network: true, Read: []string{"/srv/data"}, Write: []string{"~/site"}},
	}
	if diff := cmp.Diff(want, c.Tools.Exec); diff != "" {
		t.Error(diff)
	}
	if d := Default().Tools.Exec; d.Sandbox.Backend != "auto" || d.Sandbox.Network || d.BackgroundMs != 10_000 {
		t.Errorf("%+v", d)
	}
	for text, want := range map[string]string{
		`{ tools: { exec: { host: "node" } } }`:                 "gateway",
		`{ tools: { exec: { sandbox: { write: ["here"] } } } }`: "whole path",
		`{ tools: { exec: { pathPrepend: ["bin"] } } }`:         "whole path",
		`{ tools: { exec: { sandbox: { backend: "on" } } } }`:   "auto",
		`{ tools: { exec: { timeoutSec: 0 } } }`:                "1",
	} {
		if _, issues, _ := channelsOf(t, text); len(issues) == 0 || !strings.Contains(issues[0].String(), want) {
			t.Errorf("%s: %v", text, issues)
		}
	}
}
