package file

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// obeyed are files that later prompts or programs go by.
var obeyed = strings.Fields(`AGENTS.md SOUL.md HEARTBEAT.md BOOTSTRAP.md IDENTITY.md USER.md TOOLS.md MEMORY.md agents.MD sub/CLAUDE.md sub/AGENTS.md .cursorrules
	Makefile sub/Makefile package.json conftest.py setup.py pyproject.toml build.rs build.zig CMakeLists.txt justfile Rakefile Dockerfile vite.config.ts
	.github/workflows/ci.yml .venv/bin/python node_modules/left-pad/index.js .claude/settings.json GEMINI.md`)

// TestSec_A_SKILL_11_WhatIsObeyedLater: an answer that has read text from outside
// asks before it changes such a file, with the difference; every other tells it.
func TestSec_A_SKILL_11_WhatIsObeyedLater(t *testing.T) {
	for _, name := range append([]string{"notes.md", "sub/USER.md", "src/main.go", "memory/2031-01-02.md"}, obeyed...) {
		free := name == "notes.md" || name == "sub/USER.md" || name == "src/main.go" || strings.HasPrefix(name, "memory/")
		for _, outside := range []bool{true, false} {
			w := newWorld(t)
			var told []string
			set, err := tool.NewSet(New(Options{
				Finder: safepath.Finder{Home: w.home, Private: []string{w.state}},
				Permit: w.permit(), Undo: w, Outside: func(tool.Call) bool { return outside },
				Told: func(_ tool.Call, rel string) { told = append(told, rel) },
			})...)
			if err != nil {
				t.Fatal(err)
			}
			w.tools = set
			w.put(name, "before\n")
			r := w.run("edit", m{"path": name, "oldText": "before", "newText": "EVIL"})
			if asked := len(w.asks) == 1; asked != (outside && !free) || r.IsError != asked {
				t.Errorf("%s, after text from outside %v: asked %v, %s", name, outside, asked, r.Text)
			} else if asked && (!strings.Contains(w.asks[0].Diff, "+EVIL") || !strings.Contains(w.asks[0].Diff, "-before") ||
				w.asks[0].Digest == [32]byte{}) {
				t.Errorf("%s: the question shows %q", name, w.asks[0].Diff)
			} else if asked && w.get(name) != "before\n" {
				t.Errorf("%s was changed all the same", name)
			}
			if !outside && !free != (len(told) == 1) {
				t.Errorf("%s: told %q", name, told)
			}
		}
	}
}

// permit notes what is asked and refuses.
func (w *world) permit() func(_ context.Context, _ tool.Call, a Ask) error {
	return func(_ context.Context, _ tool.Call, a Ask) error {
		w.asks = append(w.asks, a)
		return errors.New("the owner said no")
	}
}
