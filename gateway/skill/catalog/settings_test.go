package catalog_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{catalog.Section}})
}

func TestSkillSettings(t *testing.T) {
	s0 := read(`{ skills: { allowBundled: [], load: { extraDirs: ["~/more"], watchDebounceMs: 500 }, install: { nodeManager: "pnpm" },
		entries: { a: { enabled: false, apiKey: "canary-7f3a9c-1", env: { MY_KEY: "canary-7f3a9c-2", OTHER: { source: "env",
			id: "X" } }, config: { endpoint: "e" } } } } }`)
	s := catalog.Section.Of(s0.Config)
	e := s.Entries["a"]
	if s.AllowBundled == nil || len(s.AllowBundled) != 0 || s.ExtraDirs[0] != "~/more" || !s.Watch || s.NodeManager != "pnpm" ||
		e.Enabled == nil || *e.Enabled {
		t.Errorf("%+v", s)
	}
	if v, ok := e.Env["MY_KEY"].Literal(); !ok || v.Reveal() != "canary-7f3a9c-2" {
		t.Error("a variable is missing")
	}
	if _, ok := e.Env["OTHER"].Ref(); !ok {
		t.Error("a reference is missing")
	}
	r, err := s0.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{*r.Raw, string(r.Parsed), string(r.Config)} {
		if strings.Contains(text, "canary-7f3a9c") {
			t.Errorf("a secret is shown: %s", text)
		}
	}
}

func TestSkillMistakes(t *testing.T) {
	for _, text := range []string{
		`{ skills: { load: { extraDirs: ["relative"] } } }`, `{ skills: { install: { nodeManager: "curl" } } }`,
		`{ skills: { entries: { a: { env: { "A=B": "x" } } } } }`, `{ skills: { limits: { maxSkillsInPrompt: 0 } } }`,
	} {
		if s := read(text); s.Valid {
			t.Errorf("%s was taken", text)
		}
	}
}
