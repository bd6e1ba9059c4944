package sections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/feature/hooks"
)

// TestSec_A_NET_24_HookSecretsApart: a secret that opens two doors is refused, by
// the names of both, and hooks without one do not open.
func TestSec_A_NET_24_HookSecretsApart(t *testing.T) {
	for text, want := range map[string]string{
		`{gateway: {auth: {token: "0123456789abcdef0"}}, hooks: {token: "0123456789abcdef0"}}`: "the same as gateway.auth.token",
		`{hooks: {token: "0123456789abcdef0", mappings: [{match: {path: "a"}, messageTemplate: "x",
			signature: {kind: "github", secret: "0123456789abcdef0"}}]}}`: "the same as hooks.token",
		`{hooks: {enabled: true}}`: "hooks.enabled needs hooks.token",
		`{hooks: {enabled: true, mappings: [{match: {path: "a"}, messageTemplate: "x", signature: {kind: "github"}}]}}`: "secret is missing",
		`{hooks: {mappings: [{messageTemplate: "x", signature: {kind: "github", secret: "abc"}}]}}`:                     "needs match.path",
		`{hooks: {path: "/"}}`:          "may not be",
		`{hooks: {path: "/api/hooks"}}`: "something else",
		`{hooks: {defaultSessionKey: "main", allowedSessionKeyPrefixes: ["hook:"]}}`: "does not allow",
		`{hooks: {mappings: [{match: {path: "a"}}]}}`:                                "needs messageTemplate",
		`{hooks: {mappings: [{action: "wake"}]}}`:                                    "needs textTemplate",
	} {
		s := open(t, place(t, text)).Snapshot()
		found := false
		for _, p := range s.Problems() {
			found = found || strings.Contains(p.Message, want)
		}
		if !found {
			t.Errorf("%s: %+v, want %q", text, s.Problems(), want)
		}
		if hooks.Section.Of(s.Config).Enabled {
			t.Errorf("%s opens hooks", text)
		}
	}
}

// A mapping that is never reached is told, at its place, and stays what it is.
func TestHookMappingsInVain(t *testing.T) {
	s := open(t, place(t, `{hooks: {mappings: [{match: {path: "a"}, messageTemplate: "x"}, {match: {path: "wake"}, messageTemplate: "x"},
		{match: {path: "b"}, messageTemplate: "x"}, {match: {path: "a", source: "s"}, messageTemplate: "x"}]}}`)).Snapshot()
	if n := len(hooks.Section.Of(s.Config).Mappings); !s.Valid || n != 4 {
		t.Errorf("%d of 4 mappings are used: %+v", n, s.Issues)
	}
	var told []string
	for _, w := range s.Warnings {
		told = append(told, w.Path+": "+w.Message)
	}
	want := []string{
		"hooks.mappings[1]: this mapping is never reached: wake is a hook of Hearth's own; give it another match.path",
		"hooks.mappings[3]: this mapping is never reached: hooks.mappings[0] takes all calls that it matches; put it before that one, or " +
			"give it another match.path",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}
