package sections_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/sections"
)

// The keys of a value are found wherever they stand in it, under their whole path.
func TestKeysInsideAValue(t *testing.T) {
	for _, c := range []struct{ path, value, want, keys string }{
		{"models.providers.x.apiKey", `"sk-1234567890"`, `"keychain:models.providers.x.apiKey"`, "models.providers.x.apiKey "},
		{"models.providers.x", `{apiKey: "sk-1234567890", baseUrl: "http://h/v1"}`,
			`{"apiKey":"keychain:models.providers.x.apiKey","baseUrl":"http://h/v1"}`, "models.providers.x.apiKey "},
		{"models", `{providers: {a: {apiKey: "sk-1234567890"}, b: {apiKey: "${FROM_ENV}"}}}`,
			`{"providers":{"a":{"apiKey":"keychain:models.providers.a.apiKey"},"b":{"apiKey":"${FROM_ENV}"}}}`, "models.providers.a.apiKey "},
		{"gateway.port", `18789`, `18789`, ""},
		{"models.providers.x.models[0]", `{id: "m"}`, `{id: "m"}`, ""},
	} {
		got, found, err := sections.All(networks()).HoistAt(c.path, c.value)
		keys := ""
		for _, h := range found {
			keys += h.Path + " "
		}
		if err != nil || got != c.want || keys != c.keys {
			t.Errorf("%s: %s, %q, %v", c.path, got, keys, err)
		}
	}
}
