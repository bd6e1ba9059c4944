package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModelCatalogueKeys(t *testing.T) {
	s := open(t, place(t, `{agents: {defaults: {models: {"a/one": {alias: "Big"}, "b/two": {}}}}}`), Options{}).Snapshot()
	if diff := cmp.Diff(map[string]CatalogueModel{"a/one": {Alias: "Big"}, "b/two": {}}, s.Config.Agents.Defaults.Models); diff != "" ||
		len(s.Issues)+len(s.Warnings) > 0 {
		t.Error(diff, s.Issues, s.Warnings)
	}
	for text, want := range map[string]string{
		`{agents: {defaults: {models: {"one": {}}}}}`:                                        "provider/model",
		`{agents: {defaults: {models: {"a/one": {alias: "x y"}}}}}`:                          "no spaces",
		`{agents: {defaults: {models: {"a/one": {alias: "Big"}, "b/two": {alias: "big"}}}}}`: "already the one of a/one",
		`{agents: {defaults: {models: ["a/one"]}}}`:                                          "object",
	} {
		if s := open(t, place(t, text), Options{}).Snapshot(); len(s.Issues) == 0 || !strings.Contains(s.Issues[0].Message, want) {
			t.Errorf("%s: %v", text, s.Issues)
		}
	}
}
