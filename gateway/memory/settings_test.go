package memory_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/memory"
)

func settings(text string) *config.Snapshot {
	all := config.Sections{memory.SearchSection, memory.Section, memory.StartupSection}
	return config.Read(`{ agents: { defaults: `+text+` } }`, config.Options{Sections: all})
}

func TestSettings(t *testing.T) {
	s := settings(`{
		memorySearch: { provider: "ollama", model: "nomic-embed-text", remote: { baseUrl: "https://v.example/v1/", apiKey: "keychain:v" },
			chunking: { tokens: 100, overlap: 0 }, query: { maxResults: 3, minScore: 0.5, hybrid: { vectorWeight: 1, textWeight: 0 } } },
		startupContext: { applyOn: ["new"], dailyMemoryDays: 3, maxFileChars: 10, maxTotalChars: 20 },
	}`)
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	got := memory.SearchSection.Of(s.Config)
	if got.Provider != "ollama" || got.Remote.BaseURL != "https://v.example/v1" || got.Tokens != 100 || got.Overlap != 0 ||
		got.MaxResults != 3 || got.MinScore != 0.5 || got.VectorWeight != 1 || got.TextWeight != 0 {
		t.Errorf("%+v", got)
	}
	if f := s.Config.SecretFields(); f[len(f)-1].Path != memory.RemoteKeyPath || f[len(f)-1].Setting.IsZero() {
		t.Errorf("%+v", f)
	}
	want := memory.StartupSettings{Enabled: true, ApplyOn: []string{"new"}, DailyMemoryDays: 3, MaxFileChars: 10, MaxTotalChars: 20}
	if d := cmp.Diff(want, memory.StartupSection.Of(s.Config)); d != "" {
		t.Error(d)
	}
}

func TestSettingsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ startupContext: { applyOn: ["now"] } }`:       "new, reset",
		`{ startupContext: { dailyMemoryDays: 15 } }`:    "14",
		`{ memorySearch: { provider: "openai" } }`:       "need a model",
		`{ memorySearch: { provider: "a/b" } }`:          "name of a model service",
		`{ memorySearch: { query: { minScore: 2 } } }`:   "at most",
		`{ memorySearch: { remote: { baseUrl: "x" } } }`: "http://",
	} {
		if s := settings(text); len(s.Issues) == 0 || !strings.Contains(s.Issues[0].String(), want) {
			t.Errorf("%s: %v", text, s.Issues)
		}
	}
}
