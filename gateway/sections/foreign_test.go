package sections_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/sections"
	sessionpolicy "github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// place makes a private folder with a settings file in it.
func place(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hearth.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *config.File {
	t.Helper()
	f, err := config.Open(path, config.Options{Sections: sections.All(networks())})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

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
		s := open(t, place(t, `{ agents: { defaults: { timeoutSeconds: 77 } }, `+text+` }`)).Snapshot()
		if !s.Valid || rules.RunsSection.Of(s.Config).TimeoutSeconds != 77 {
			t.Errorf("%s: %v", text, s.Issues)
		}
		if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0].Message, says) {
			t.Errorf("%s: %v", text, s.Warnings)
		}
		c := s.Config
		if reach.Section.Of(c).Bind != reach.Loopback || approval.CommandsSection.Of(c).Security != "allowlist" {
			t.Errorf("%s: %+v", text, reach.Section.Of(c))
		}
	}
}

// A file with mistakes that was never in use is used as far as it goes, and may be
// corrected step by step; a mistake that is new is refused like any other.
func TestAFileIsNeverRefusedAsAWhole(t *testing.T) {
	path := place(t, `{ agents: { defaults: { timeoutSeconds: 77 } }, gateway: { port: "many" }, session: { dmScope: "per-moon" } }`)
	f := open(t, path)
	s := f.Snapshot()
	if s.Valid || s.Origin != config.FromPart || rules.RunsSection.Of(s.Config).TimeoutSeconds != 77 ||
		sessionpolicy.Section.Of(s.Config).Keys.DMScope != sessionpolicy.ScopeMain {
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
	if s := f.Snapshot(); !s.Valid || s.Origin != config.FromFile ||
		rules.RunsSection.Of(s.Config).TimeoutSeconds != 78 || reach.Section.Of(s.Config).Port != 1 {
		t.Errorf("%+v", s)
	}
}

// Keys that stand twice, as in an example of OpenClaw's, are named; both objects
// count, so that no rule is lost, until a person has decided.
func TestKeysThatStandTwice(t *testing.T) {
	path := place(t, `{ tools: { deny: ["exec"] }, agents: { defaults: { timeoutSeconds: 1, timeoutSeconds: 77 } },
		tools: { profile: "coding" } }`)
	s := open(t, path).Snapshot()
	if s.Valid || s.Origin != config.FromPart || len(s.Issues) != 1 || !strings.Contains(s.Issues[0].Message, "already set") {
		t.Fatalf("%+v", s.Issues)
	}
	r, runs := policy.Section.Of(s.Config), rules.RunsSection.Of(s.Config)
	if runs.TimeoutSeconds != 77 || r.Profile != "coding" || len(r.Deny) != 1 {
		t.Errorf("%+v %+v", r, runs)
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
		s := open(t, place(t, text)).Snapshot()
		if deny := policy.Section.Of(s.Config).Deny; s.Valid || len(deny) != want {
			t.Errorf("%s: %+v", text, deny)
		}
	}
}
