package main

import (
	"os"
	"strings"
	"testing"
)

// What only one system has is missed on another, in packages and in tests, and a
// package with other files there is listed.
func TestOtherSystems(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		wrong string
		lists string
	}{
		{"whole", map[string]string{"a.go": "func F() { g() }", "b_linux.go": "func g() {}", "b_windows.go": "func g() {}"}, "", "x\n"},
		{"a package", map[string]string{"a.go": "func F() { g() }", "b_linux.go": "func g() {}"}, "undefined: g", "x\n"},
		{"a test", map[string]string{"a.go": "func F() {}", "b_linux.go": "func g() {}", "a_test.go": "var _ = g"}, "undefined: g", "x\n"},
		{"a test outside", map[string]string{"a.go": "", "a_linux.go": "func G() {}", "sub/b.go": "",
			"sub/b_test.go": "import \"x\"\nvar _ = x.G"},
			"undefined: x.G", "x\n"},
		{"the same everywhere", map[string]string{"a.go": "func F() {}", "a_test.go": "var _ = F"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GOOS", "windows")
			t.Setenv("GOARCH", "amd64")
			t.Setenv("GOFLAGS", "")
			write(t, "go.mod", "module x\n\ngo 1.26\n")
			for name, text := range c.files {
				write(t, name, "package x\n\n"+text+"\n")
			}
			var out strings.Builder
			if err := check(&out); (err != nil) != (c.wrong != "") || !strings.Contains(out.String(), c.wrong) {
				t.Errorf("%v: %s", err, &out)
			}
			out.Reset()
			if err := differ(&out); err != nil || out.String() != c.lists {
				t.Errorf("%v: %q differ", err, &out)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if strings.HasPrefix(name, "sub/") {
		if err := os.MkdirAll("sub", 0o700); err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(text, "package x\n", "package sub\n", 1)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
