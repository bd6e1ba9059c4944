package mcp

import (
	"strings"
	"testing"
)

// A program that was refused something in the sandbox says where that comes from.
func TestServersSayThatTheSandboxMayBeWhy(t *testing.T) {
	s := Server{ID: "files", Confined: true}
	for _, words := range []string{"EACCES: permission denied, scandir '/x'", "PermissionError: [Errno 13] Permission denied: '/x'",
		"mkdir: Operation not permitted"} {
		if hint := s.confined(words); !strings.Contains(hint, "sandbox") || !strings.Contains(hint, "hearth mcp allow files --read") {
			t.Errorf("%q: %q", words, hint)
		}
	}
	if hint := s.confined("ENOENT: no such file"); hint != "" {
		t.Error(hint)
	}
	s.Confined = false
	if hint := s.confined("EACCES"); hint != "" {
		t.Error(hint)
	}
}
