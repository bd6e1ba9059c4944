package config

import (
	"os"
	"strings"
	"testing"
)

// What OpenClaw knows and Hearth does not have is said, and the safe choice is
// taken; the rest of the file holds.
func TestForeignValuesAreSaidAndTheFileIsUsed(t *testing.T) {
	for text, says := range map[string]string{
		`gateway: { bind: "auto" }`:                              "stays on this machine",
		`gateway: { auth: { mode: "password", password: "x" } }`: "a token is asked for",
		`gateway: { auth: { token: "1234" } }`:                   "this machine only",
		`tools: { exec: { security: "full" } }`:                  `no "full"`,
		`session: { scope: "global" }`:                           "per-sender",
	} {
		s := open(t, place(t, `{ agents: { defaults: { timeoutSeconds: 77 } }, `+text+` }`), Options{}).Snapshot()
		if !s.Valid || s.Config.Agents.Defaults.TimeoutSeconds != 77 {
			t.Errorf("%s: %v", text, s.Issues)
		}
		if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0].Message, says) {
			t.Errorf("%s: %v", text, s.Warnings)
		}
		c := s.Config
		if c.Gateway.Bind != BindLoopback || c.Gateway.Auth.Mode != AuthToken || c.Tools.Exec.Security != "allowlist" {
			t.Errorf("%s: %+v", text, c.Gateway)
		}
	}
}

// A file with mistakes that was never in use is used as far as it goes, and may be
// corrected step by step; a mistake that is new is refused like any other.
func TestAFileIsNeverRefusedAsAWhole(t *testing.T) {
	path := place(t, `{ agents: { defaults: { timeoutSeconds: 77 } }, gateway: { port: "many" }, session: { dmScope: "per-moon" } }`)
	f := open(t, path, Options{})
	s := f.Snapshot()
	if s.Valid || s.Origin != FromPart || s.Config.Agents.Defaults.TimeoutSeconds != 77 ||
		s.Config.Session.DMScope != Default().Session.DMScope {
		t.Fatalf("%+v", s)
	}
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0].Message, "used in part") || !strings.Contains(p[0].Message, "1 more") {
		t.Errorf("%v", p)
	}
	if _, err := f.SetPath(t.Context(), "agents.defaults.timeoutSeconds", "78"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SetPath(t.Context(), "session.reset", `{ mode: "never" }`); err == nil {
		t.Error("a new mistake was saved")
	}
	if _, err := f.SetPath(t.Context(), "session.dmScope", `"per-sun"`); err == nil {
		t.Error("a mistake was saved in the place of another")
	}
	for _, fix := range [][2]string{{"gateway.port", "1"}, {"session.dmScope", `"main"`}} {
		if _, err := f.SetPath(t.Context(), fix[0], fix[1]); err != nil {
			t.Fatal(err)
		}
	}
	if s := f.Snapshot(); !s.Valid || s.Origin != FromFile || s.Config.Agents.Defaults.TimeoutSeconds != 78 || s.Config.Gateway.Port != 1 {
		t.Errorf("%+v", s)
	}
}

// Keys that stand twice, as in an example of OpenClaw's, are named; both objects
// count, so that no rule is lost, until a person has decided.
func TestKeysThatStandTwice(t *testing.T) {
	path := place(t, `{ tools: { deny: ["exec"] }, agents: { defaults: { timeoutSeconds: 1, timeoutSeconds: 77 } },
		tools: { profile: "coding" } }`)
	s := open(t, path, Options{}).Snapshot()
	if s.Valid || s.Origin != FromPart || len(s.Issues) != 1 || !strings.Contains(s.Issues[0].Message, "already set") {
		t.Fatalf("%+v", s.Issues)
	}
	if c := s.Config; c.Agents.Defaults.TimeoutSeconds != 77 || c.Tools.Profile != "coding" || len(c.Tools.Deny) != 1 {
		t.Errorf("%+v %+v", c.Tools.ToolRules, c.Agents.Defaults.TimeoutSeconds)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), `profile: "coding"`) {
		t.Errorf("the file was touched: %s %v", b, err)
	}
}

// A rule about tools that cannot be read may have been a ban.
func TestSec_A_CFG_02_AMistakeAboutToolsForbidsThem(t *testing.T) {
	for text, want := range map[string]int{
		`{ tools: { deny: 7 } }`: 1,
		`{ agents: { list: [{ id: "main", tools: { allow: "x" } }] } }`: 1,
		`{ gateway: { port: "x" } }`:                                    0,
	} {
		if s := open(t, place(t, text), Options{}).Snapshot(); s.Valid || len(s.Config.Tools.Deny) != want {
			t.Errorf("%s: %+v", text, s.Config.Tools.Deny)
		}
	}
}
