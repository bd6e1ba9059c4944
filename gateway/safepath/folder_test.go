package safepath_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// One yes is about a folder of a person's files, and about nothing wider,
// hidden or secret. What a link leads to counts, not where the link is.
func TestSec_A_FILE_01_FoldersForOneYes(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"Documents/report.pdf", "Documents/.env", "Documents/prod.env", "Documents/server.KEY", "Documents/.hidden/a",
		"Documents/repo/.git/config",
		"Documents/mise.toml", "Documents/deep/er/a", "Documents2/a", ".config/app/a", "Library/Mail/a", "AppData/a", "snap/a", "todo",
		"state/audit", "work/a",
	} {
		put(t, filepath.Join(home, filepath.FromSlash(name)))
	}
	link := func(to, at string) {
		if err := os.Symlink(filepath.Join(home, to), filepath.Join(home, at)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	link("Documents2/a", "Documents/out")
	link(".config/app", "Documents/app")
	link("Documents", "Docs")
	f := safepath.Finder{Home: home, Private: []string{filepath.Join(home, "state")}}
	for path, want := range map[string]string{
		"Documents/report.pdf":       "Documents",
		"Documents/../Documents2/a":  "Documents2",
		"Documents/deep/er/a":        "Documents/deep/er",
		"Documents/deep":             "Documents/deep", // its list
		"Documents":                  "Documents",
		"Documents/is not there":     "Documents",
		"Documents/no/such folder":   "",
		"Documents/out":              "Documents2",
		"Documents/app/a":            "",
		"Docs/report.pdf":            "Documents",
		"Documents/.env":             "",
		"Documents/prod.env":         "",
		"Documents/server.KEY":       "",
		"Documents/.hidden/a":        "",
		"Documents/repo/.git/config": "",
		"Documents/mise.toml":        "",
		".config/app/a":              "",
		"Library/Mail/a":             "",
		"AppData/a":                  "",
		"snap/a":                     "",
		"todo":                       "", // in the home itself
		".":                          "",
		"..":                         "",
		"state/audit":                "",
		"work/a":                     "", // the workspace
	} {
		p, err := f.Find(filepath.Join(home, "work"), filepath.Join(home, filepath.FromSlash(path)))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if want != "" {
			want = filepath.Join(home, filepath.FromSlash(want))
		}
		if got := p.Folder(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		p.Close()
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, path := range []string{"/etc/hostname", "/tmp/a", "/tmp/a/b/c/d", "/usr/share/doc/a", "/home/somebody/Documents/a", "/a", "/"} {
		for _, f := range []safepath.Finder{f, {}, {Home: "/"}} {
			p, err := f.FindAbs(path)
			if err != nil {
				continue
			}
			if got := p.Folder(); got != "" {
				t.Errorf("%s (home %q): %q", path, f.Home, got)
			}
			p.Close()
		}
	}
}

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
}
