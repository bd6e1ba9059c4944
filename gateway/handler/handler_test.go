package handler_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

func put(t *testing.T, dir, text string, files ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HOOK.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

const plain = "---\nname: %\ndescription: d\nmetadata: { \"openclaw\": { \"events\": [\"command:new\", \"command:nwe\"], " +
	"\"hookKey\": \"key-%\", \"requires\": { \"bins\": [\"no-such-program\"] } } }\n---\n"

func text(name string) string { return strings.ReplaceAll(plain, "%", name) }

func names(all []handler.Handler) (out []string) {
	for _, h := range all {
		out = append(out, string(h.Source)+" "+h.Name+" "+h.Agent+" "+h.File)
	}
	slices.Sort(out)
	return out
}

// Who takes whose place, what is run, and what is no handler.
func TestFind(t *testing.T) {
	managed, extra, ws, single := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	put(t, filepath.Join(managed, "one"), text("one"), "handler.js", "handler.sh")
	put(t, filepath.Join(extra, "one"), text("one"), "handler.js")
	put(t, filepath.Join(extra, "bundled"), text("bundled"), "index.ts", "handler.ts")
	put(t, filepath.Join(ws, "hooks", "one"), text("one"), "handler.js")
	put(t, filepath.Join(ws, "hooks", "two"), "---\nmetadata: { \"openclaw\": { \"events\": [\"message\"] } }\n---\n", "handler.py")
	put(t, filepath.Join(ws, "hooks", "empty"), text("empty"))
	put(t, filepath.Join(ws, "hooks", "bad"), "no front matter", "handler.js")
	put(t, single, text("single"), "index.js")
	all := handler.Places{
		Managed: managed, Extra: []string{extra, single}, Workspaces: map[string]string{"main": ws},
		Bundled: []skill.Hook{{Spec: skill.Spec{Name: "bundled", Key: "bundled"}}, {Spec: skill.Spec{Name: "log", Key: "log"}}},
	}.Find()
	want := []string{
		"openclaw-bundled log  ", "openclaw-managed bundled  handler.ts", "openclaw-managed one  handler.sh", "openclaw-managed single  index.js",
		"openclaw-workspace bad main ", "openclaw-workspace empty main ", "openclaw-workspace two main handler.py",
	}
	if got := names(all); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, h := range all {
		if (h.Name == "bad" || h.Name == "empty") != (h.Problem != "") {
			t.Errorf("%s: %q", h.Name, h.Problem)
		}
		if h.Name == "one" && (h.Key != "key-one" || !slices.Equal(h.Unknown(), []string{"command:nwe"}) || !h.Hears("command", "new") ||
			h.Hears("command", "stop") || len(h.SHA256) != 64) {
			t.Errorf("%+v", h)
		}
		if h.Name == "two" && (!h.Hears("message", "sent") || h.Hears("gateway", "startup")) {
			t.Errorf("%+v", h)
		}
	}
}

func TestJudge(t *testing.T) {
	world := func(has bool) skill.World {
		return skill.World{
			OS: "linux", Find: func(string) bool { return has }, Env: func(string) bool { return false },
			Config: func(string) bool { return false }, Entry: func(string) skill.Entry { return skill.Entry{} },
		}
	}
	yes, no := true, false
	h := handler.Handler{
		Hook:   skill.Hook{Spec: skill.Spec{Name: "h", Requires: skill.Requires{Bins: []string{"git"}}}, Events: []string{"command"}},
		Source: handler.Workspace, Form: handler.Script, SHA256: "abc",
	}
	for name, c := range map[string]struct {
		set     handler.Setting
		on, has bool
		want    string
	}{
		"nothing was said": {handler.Setting{}, true, true, handler.NotEnabledWS},
		"it was refused":   {handler.Setting{Enabled: &no, SHA256: "abc"}, true, true, handler.NotEnabled},
		"nobody looked":    {handler.Setting{Enabled: &yes}, true, true, handler.NotSeen},
		"other files":      {handler.Setting{Enabled: &yes, SHA256: "abd"}, true, true, handler.NotSeen},
		"a program lacks":  {handler.Setting{Enabled: &yes, SHA256: "abc"}, true, false, handler.Incomplete},
		"all are off":      {handler.Setting{Enabled: &yes, SHA256: "abc"}, false, true, handler.AllOff},
		"it runs":          {handler.Setting{Enabled: &yes, SHA256: "abc"}, true, true, ""},
	} {
		if s := handler.Judge(world(c.has), h, c.set, c.on); s.Blocked != c.want || s.Runs() != (c.want == "") {
			t.Errorf("%s: %q", name, s.Blocked)
		}
	}
}

// Who names only what never happens here is not run and says why; who names some of
// it runs and says so too.
func TestNeverTold(t *testing.T) {
	yes := true
	for _, c := range []struct{ events, blocked, says string }{
		{"message:dictated", "there is no event message:dictated", "dictated"},
		{"message:dictated command:nwe", "there is no event message:dictated; there is no event command:nwe", "nwe"},
		{"message:dictated message:received", "", "dictated"},
		{"message:transcribed", "", ""},
		{"message", "", ""},
	} {
		h := handler.Handler{Hook: skill.Hook{Events: strings.Fields(c.events)}, Form: handler.Builtin}
		s := handler.Judge(skill.World{Entry: func(string) skill.Entry { return skill.Entry{} }}, h, handler.Setting{Enabled: &yes}, true)
		if s.Blocked != c.blocked || !strings.Contains(s.NeverTold(), c.says) || (c.says == "") != (s.NeverTold() == "") {
			t.Errorf("%s: %q, %q", c.events, s.Blocked, s.NeverTold())
		}
	}
}

// What a handler says is bounded, and what is no object says nothing.
func TestReadReply(t *testing.T) {
	for said, want := range map[string]int{"": 0, "hello": 0, `{"messages":["a","b"]}`: 2, " {} ": 0, `["a"]`: 0,
		`{"messages":[` + strings.Repeat(`"a",`, 50) + `"a"]}`: 10} {
		if r, err := handler.ReadReply([]byte(said)); err != nil || len(r.Messages) != want {
			t.Errorf("%q: %+v %v", said, r, err)
		}
	}
	if _, err := handler.ReadReply([]byte(`{"messages":`)); err == nil {
		t.Error("half an object is one")
	}
	long, err := handler.ReadReply([]byte(`{"messages":["` + strings.Repeat("ä", 4000) + `"]}`))
	if err != nil || len(long.Messages[0]) > 4010 {
		t.Errorf("%d %v", len(long.Messages[0]), err)
	}
}
