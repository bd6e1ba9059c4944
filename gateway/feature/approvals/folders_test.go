package approvals_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// The question of trust: the first file in a folder asks, with the folder as a
// choice; the second is read. Changes, what is hidden, other agents' files and
// what a link leads to elsewhere still ask.
func TestSec_A_EXEC_08_AFolderIsTrusted(t *testing.T) {
	home := t.TempDir()
	put := func(name string) {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("words of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Documents/one", "Documents/deep/two", "Documents/.env", "Documents/agent/three", "Music/four"} {
		put(name)
	}
	if err := os.Symlink(filepath.Join(home, "Music", "four"), filepath.Join(home, "Documents", "link")); err != nil {
		t.Skip("no links here: ", err)
	}
	srv := httptest.NewServer(http.HandlerFunc(gatewaytest.Puppet))
	t.Cleanup(srv.Close)
	r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir()), ModelURL: srv.URL, Env: func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}}
	gatewaytest.WriteConfig(t, r.Dir, srv.URL, "chat/puppet")
	r.Start()
	p := r.Connect()
	p.Patch(map[string]any{"agents": map[string]any{
		"defaults": map[string]any{"workspace": filepath.Join(home, "Hearth")},
		"list":     []any{map[string]any{"id": "main"}, map[string]any{"id": "other", "workspace": filepath.Join(home, "Documents", "agent")}},
	}})
	read := func(id, path string) { p.Send("main", id, `run:@read {"path":"~/`+path+`"}`) }
	decide := func(a protocol.Approval, scope string) {
		p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, HearthScope: scope}, new(protocol.OKResult))
	}

	read("first", "Documents/one")
	a := gatewaytest.Question(p, 1)
	if a.Request.HearthTitle != "Read one in ~/Documents" || a.Request.HearthFolder != "~/Documents" ||
		!slices.Contains(a.Request.HearthScopes, "folder") {
		t.Fatalf("%+v", a.Request)
	}
	decide(a, "folder")
	if said := p.Ended("first").Message.Text(); !strings.Contains(said, "words of Documents/one") {
		t.Errorf("the model hears %q", said)
	}
	read("second", "Documents/deep/two")
	if said := p.Ended("second").Message.Text(); !strings.Contains(said, "words of Documents/deep/two") {
		t.Errorf("the model hears %q", said)
	}
	for i, c := range []struct{ key, call, folder string }{
		{"main", `@read {"path":"~/Documents/.env"}`, ""},
		{"main", `@read {"path":"~/Documents/agent/three"}`, ""},
		{"main", `@read {"path":"~/Documents/link"}`, "~/Music"},
		{"main", `@write {"path":"~/Documents/one","content":"x"}`, ""},
		{"agent:other:main", `@read {"path":"~/Documents/one"}`, "~/Documents"},
	} {
		id := "asks-" + string(rune('a'+i))
		p.Send(c.key, id, "run:"+c.call)
		a := gatewaytest.Question(p, i+2)
		if a.Request.HearthFolder != c.folder || slices.Contains(a.Request.HearthScopes, "folder") != (c.folder != "") {
			t.Errorf("%s: %q, %v", c.call, a.Request.HearthFolder, a.Request.HearthScopes)
		}
		decide(a, "deny")
		if said := p.Ended(id).Message.Text(); strings.Contains(said, "words of") {
			t.Errorf("%s: the model hears %q", c.call, said)
		}
	}
	var rules protocol.ApprovalRules
	p.Do(protocol.MethodApprovalsRules, nil, &rules)
	if raw, _ := json.Marshal(rules); len(rules.Rules) != 1 || rules.Rules[0].Title != "Read files in ~/Documents" ||
		rules.Rules[0].Dir != filepath.Join(home, "Documents") {
		t.Errorf("%s", raw)
	}
}
