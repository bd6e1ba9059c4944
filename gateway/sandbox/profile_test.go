package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("paths of macOS")
	}
	base := realPath(t.TempDir())
	got := profile(Rules{Write: []string{base + `/a "b"`, base + "/state/work"}, Read: []string{base + "/tools"},
		Hide: []string{base + "/state", base + "/.ssh"}})
	got = strings.ReplaceAll(got, base, "")
	for _, want := range []string{
		"(deny file-write*)\n",
		`(allow file-read* file-write* (subpath "/a \"b\""))` + "\n",
		`(allow file-read* (subpath "/tools"))` + "\n",
		`(deny file-read* file-write* (require-all (subpath "/state") (require-not (subpath "/state/work"))))` + "\n",
		`(deny file-read* file-write* (subpath "/.ssh"))` + "\n",
		"(deny network*)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Index(got, "(allow file-read* file-write*") > strings.Index(got, "(deny file-read* file-write*") {
		t.Error("the last line wins, so what is hidden comes last")
	}
	if open := profile(Rules{Network: true}); strings.Contains(open, "(deny network*)") {
		t.Error(open)
	}
}

func TestGrants(t *testing.T) {
	base := realPath(t.TempDir())
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(base, filepath.FromSlash(n)))
		}
		return out
	}
	for _, n := range at("home/a", "home/.ssh", "home/.local/share/hearth/work", "home/.local/bin", "etc") {
		if err := os.MkdirAll(n, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "home", ".ssh"), filepath.Join(base, "home", "link")); err != nil {
		t.Skip("no links here")
	}
	hidden := at("home/.ssh", "home/.local/share/hearth", "home/.aws")
	for _, c := range []struct{ paths, want []string }{
		{at("etc", "etc"), at("etc")},
		{at("home/a"), at("home/a")},
		{at("home"), at("home/.local/bin", "home/a")},
		{at("home/.ssh", "home/link", "home/none"), nil},
		{at("home/.local/share/hearth/work"), at("home/.local/share/hearth/work")}, // named itself
		{[]string{"relative", ""}, nil},
	} {
		if got := grants(c.paths, hidden); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.paths, got, c.want)
		}
	}
}

// A path that is there always comes out the same, and nothing hidden is ever
// granted.
func FuzzCarve(f *testing.F) {
	base := realPath(f.TempDir())
	for _, d := range []string{"a/b/c", "a/d", "e"} {
		if err := os.MkdirAll(filepath.Join(base, filepath.FromSlash(d)), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.Add("a", "a/b")
	f.Add("a/b/../d", "a//d")
	f.Add("", "e")
	f.Fuzz(func(t *testing.T, path, hide string) {
		if strings.ContainsRune(path+hide, 0) || strings.Contains(path+hide, "..") {
			t.Skip()
		}
		p, h := filepath.Join(base, path), filepath.Join(base, hide)
		for _, g := range grants([]string{p}, []string{h}) {
			if g == h || within(h, g) || !(g == p || within(g, p)) {
				t.Errorf("%q without %q grants %q", p, h, g)
			}
		}
	})
}
