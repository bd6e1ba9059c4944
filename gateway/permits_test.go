package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	srv := httptest.NewServer(http.HandlerFunc(puppet))
	t.Cleanup(srv.Close)
	r := &rig{t: t, dir: statedir.Dir(t.TempDir()), url: srv.URL, env: func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}}
	writeConfig(t, r.dir, srv.URL, "chat/puppet")
	r.start()
	p := r.connect()
	p.patch(map[string]any{"agents": map[string]any{
		"defaults": map[string]any{"workspace": filepath.Join(home, "Hearth")},
		"list":     []any{map[string]any{"id": "main"}, map[string]any{"id": "other", "workspace": filepath.Join(home, "Documents", "agent")}},
	}})
	read := func(id, path string) { p.send("main", id, `run:@read {"path":"~/`+path+`"}`) }
	decide := func(a protocol.Approval, scope string) {
		p.call(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, HearthScope: scope}, new(protocol.OKResult))
	}

	read("first", "Documents/one")
	a := asked(p, 1)
	if a.Request.HearthTitle != "Read one in ~/Documents" || a.Request.HearthFolder != "~/Documents" ||
		!slices.Contains(a.Request.HearthScopes, "folder") {
		t.Fatalf("%+v", a.Request)
	}
	decide(a, "folder")
	if said := p.ended("first").Message.Text(); !strings.Contains(said, "words of Documents/one") {
		t.Errorf("the model hears %q", said)
	}
	read("second", "Documents/deep/two")
	if said := p.ended("second").Message.Text(); !strings.Contains(said, "words of Documents/deep/two") {
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
		p.send(c.key, id, "run:"+c.call)
		a := asked(p, i+2)
		if a.Request.HearthFolder != c.folder || slices.Contains(a.Request.HearthScopes, "folder") != (c.folder != "") {
			t.Errorf("%s: %q, %v", c.call, a.Request.HearthFolder, a.Request.HearthScopes)
		}
		decide(a, "deny")
		if said := p.ended(id).Message.Text(); strings.Contains(said, "words of") {
			t.Errorf("%s: the model hears %q", c.call, said)
		}
	}
	var rules protocol.ApprovalRules
	p.call(protocol.MethodApprovalsRules, nil, &rules)
	if raw, _ := json.Marshal(rules); len(rules.Rules) != 1 || rules.Rules[0].Title != "Read files in ~/Documents" ||
		rules.Rules[0].Dir != filepath.Join(home, "Documents") {
		t.Errorf("%s", raw)
	}
}
