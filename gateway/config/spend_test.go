package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpend(t *testing.T) {
	s := open(t, place(t, `{
  models: { pricing: { "openai/gpt-5": { input: 1.25, output: 10 } }, providers: { x: { baseUrl: "https://x.example",
	models: [{ id: "m", cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 } }] } } },
}`), Options{}).Snapshot()
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	if diff := cmp.Diff(map[string]Price{"openai/gpt-5": {1.25, 10, 1.25, 1.25}}, s.Config.Models.Pricing); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Price{1, 2, 0.1, 0}, s.Config.Models.Providers["x"].Models[0].Cost); diff != "" {
		t.Error(diff)
	}
	for _, src := range []string{`{models:{pricing:{"a/b":{input:-1}}}}`, `{models:{pricing:{"a/b":3}}}`} {
		if s := open(t, place(t, src), Options{}).Snapshot(); len(s.Issues) == 0 {
			t.Errorf("%s is taken", src)
		}
	}
}
