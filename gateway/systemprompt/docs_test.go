package systemprompt

import (
	"os"
	"path/filepath"
	"testing"
)

// The manual is found around a program of a checkout, and nowhere else.
func TestDocsNear(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "build", "bin", "hearth")
	for _, name := range []string{"go.mod", "docs/configuration.md", "docs/architecture.md"} {
		if got := docsNear(program); got != "" {
			t.Errorf("before %s is there: %q", name, got)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := docsNear(program); got != filepath.Join(dir, "docs") {
		t.Errorf("got %q", got)
	}
	if got := docsNear(filepath.Join(dir, "a", "b", "c", "d", "e", "hearth")); got != "" {
		t.Errorf("too far away: %q", got)
	}
	if got := docsNear("hearth"); got != "" {
		t.Errorf("no path: %q", got)
	}
}

// The manual that was installed with the program is found, on every system.
func TestDocsOfAPackage(t *testing.T) {
	for at, program := range map[string]string{"usr/share/hearth/docs": "usr/bin/hearth", "Hearth/docs": "Hearth/hearth.exe",
		"Hearth.app/Contents/Resources/docs": "Hearth.app/Contents/MacOS/hearth"} {
		dir := t.TempDir()
		docs := filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(docs, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"configuration.md", "architecture.md"} {
			if got := docsNear(filepath.Join(dir, filepath.FromSlash(program))); got != "" {
				t.Errorf("%s: too soon: %q", at, got)
			}
			if err := os.WriteFile(filepath.Join(docs, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := docsNear(filepath.Join(dir, filepath.FromSlash(program))); got != docs {
			t.Errorf("%s: %q", at, got)
		}
	}
}
