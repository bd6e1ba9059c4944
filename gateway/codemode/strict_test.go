package codemode

import (
	"strings"
	"testing"
)

// What a model got wrong is told without Go's words.
func TestWrongArgumentsAreToldInWords(t *testing.T) {
	for args, want := range map[string]string{
		`{"code":3}`: "code must be text, not a number", `{"code":"1","language":[]}`: "language must be text, not a list",
		`[]`: "must be an object, not a list", `{"code":"1","x":2}`: `no argument "x"`, `{`: "not readable as JSON",
	} {
		_, bad := readInput([]byte(args), []string{JavaScript})
		if bad == nil || !strings.Contains(bad.Message, want) || strings.Contains(bad.Message, "json:") {
			t.Errorf("%s: %+v", args, bad)
		}
	}
}
