package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..")

// What is handed on says whose it is and on which terms: everything that the
// programs are linked with today, and nothing that they were.
func TestNoticesAreThoseOfWhatIsInside(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, "frontend", "node_modules")); err != nil {
		t.Skip("the page's packages are not installed; build/test installs them")
	}
	if err := run(t.Context(), root, true); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(written)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"\nthe Go standard library\n", "\nQuickJS-ng ", "\ngithub.com/fastschema/qjs ", "\nhighlight.js ", "\nsvelte ", "\nmarked ", "\nvirtua ",
		"\ngo.etcd.io/bbolt ", "\ngithub.com/getlantern/systray ", "\ngithub.com/wailsapp/wails/v2 ", "\ngithub.com/wailsapp/go-webview2 ",
	} {
		if !strings.Contains(string(text), name) {
			t.Errorf("%q is missing", strings.TrimSpace(name))
		}
	}
}

// Nothing comes in whose terms nobody knows.
func TestNothingWithoutALicence(t *testing.T) {
	top := t.TempDir()
	inner := filepath.Join(top, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	all := notices{}
	if err := all.folder("example.com/new v1.0.0", top, inner); err == nil ||
		!strings.Contains(err.Error(), "example.com/new v1.0.0 has no licence") {
		t.Errorf("a module without a licence: %v", err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(top, "licenses.go"), "package x") // code is none
	if all.folder("example.com/new v1.0.0", top, inner) == nil {
		t.Error("a file of Go was taken for a licence")
	}
	write(filepath.Join(top, "LICENCE.md"), "of the module \r\n\n")
	write(filepath.Join(inner, "COPYING"), "of the part")
	if err := all.folder("example.com/new v1.0.0", top, inner); err != nil || all["of the module"] == nil || all["of the part"] == nil {
		t.Errorf("%v, %v", all, err)
	}
}

// A package of the page that brings no text says which licence it has, and it is
// one that needs no more; others are not taken.
func TestPagePackages(t *testing.T) {
	frontend := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(frontend, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("package.json", `{"dependencies": {"one": "1"}, "devDependencies": {"tool": "1"}}`)
	write("node_modules/one/package.json", `{"version": "1.2.3", "license": "MIT", "dependencies": {"two": "1", "@types/x": "1"}}`)
	write("node_modules/two/package.json", `{"version": "4.5.6", "license": "ISC"}`)
	write("node_modules/two/LICENSE", "the words of two")
	all := notices{}
	if err := all.page(frontend); err != nil {
		t.Fatal(err)
	}
	if text := all.String(); !strings.Contains(text, "one 1.2.3\n") || !strings.Contains(text, "two 4.5.6\n") ||
		strings.Contains(text, "tool") {
		t.Error(text)
	}
	write("node_modules/one/package.json", `{"version": "1.2.3", "license": "SEE LICENSE IN nowhere"}`)
	if err := (notices{}).page(frontend); err == nil || !strings.Contains(err.Error(), "one 1.2.3") {
		t.Errorf("a package with terms of its own: %v", err)
	}
}
