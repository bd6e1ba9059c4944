package config

import (
	"strings"
	"testing"
)

func TestSkillSettings(t *testing.T) {
	f := open(t, place(t, `{ skills: { allowBundled: [], load: { extraDirs: ["~/more"], watchDebounceMs: 500 }, install: { nodeManager: "pnpm" },
		entries: { a: { enabled: false, apiKey: "canary-7f3a9c-1", env: { MY_KEY: "canary-7f3a9c-2", OTHER: { source: "env", id: "X" } }, config: { endpoint: "e" } } } } }`), Options{})
	s := f.Snapshot().Config.Skills
	e := s.Entries["a"]
	if s.AllowBundled == nil || len(s.AllowBundled) != 0 || s.Load.ExtraDirs[0] != "~/more" || !s.Load.Watch ||
		s.Install.NodeManager != "pnpm" || e.Enabled == nil || *e.Enabled {
		t.Errorf("%+v", s)
	}
	if v, ok := e.Env["MY_KEY"].Literal(); !ok || v.Reveal() != "canary-7f3a9c-2" {
		t.Error("a variable is missing")
	}
	if _, ok := e.Env["OTHER"].Ref(); !ok {
		t.Error("a reference is missing")
	}
	r, err := f.Snapshot().Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{*r.Raw, string(r.Parsed), string(r.Config)} {
		if strings.Contains(text, "canary-7f3a9c") {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	copied := f.Snapshot().Config.Clone()
	*copied.Skills.Entries["a"].Enabled = true
	if *e.Enabled {
		t.Error("a copy shares what can be changed")
	}
}

func TestSkillMistakes(t *testing.T) {
	for _, text := range []string{
		`{ skills: { load: { extraDirs: ["relative"] } } }`, `{ skills: { install: { nodeManager: "curl" } } }`,
		`{ skills: { entries: { a: { env: { "A=B": "x" } } } } }`, `{ skills: { limits: { maxSkillsInPrompt: 0 } } }`,
	} {
		if s, err := Inspect(place(t, text), Options{}); err != nil || s.Valid {
			t.Errorf("%s was taken: %v", text, err)
		}
	}
}
