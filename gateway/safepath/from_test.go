package safepath_test

import (
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// Relative paths begin in the folder that an editor works in. That gives no right
// to it: what is outside of the workspace is asked for, what is private is refused,
// and no path leads above the folder unseen.
func TestSec_A_FILE_01_AnEditorsFolderGivesNoRights(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, project, private := filepath.Join(top, "ws"), filepath.Join(top, "project"), filepath.Join(top, "private")
	for _, dir := range []string{ws, project, private, filepath.Join(ws, "sub")} {
		put(t, filepath.Join(dir, "a.txt"))
	}
	f := safepath.Finder{Home: top, Private: []string{private}}
	for _, c := range []struct {
		folder, raw, path string
		inside            bool
		want              safepath.Verdict
	}{
		{"", "a.txt", filepath.Join(ws, "a.txt"), true, safepath.Free},
		{project, "a.txt", filepath.Join(project, "a.txt"), false, safepath.Ask},
		{project, filepath.Join(ws, "a.txt"), filepath.Join(ws, "a.txt"), true, safepath.Free},
		{filepath.Join(ws, "sub"), "a.txt", filepath.Join(ws, "sub", "a.txt"), true, safepath.Free},
		{private, "a.txt", filepath.Join(private, "a.txt"), false, safepath.Never},
		{top, "private/a.txt", filepath.Join(private, "a.txt"), false, safepath.Never},
	} {
		p, err := f.FindFrom(ws, c.folder, c.raw)
		if err != nil {
			t.Errorf("%s in %s: %v", c.raw, c.folder, err)
			continue
		}
		if v, why := p.Judge(false); p.Path != c.path || p.Inside != c.inside || v != c.want {
			t.Errorf("%s in %s: %s, inside %v, %v %s", c.raw, c.folder, p.Path, p.Inside, v, why)
		}
		p.Close()
	}
	for _, raw := range []string{"../ws/a.txt", "x/../../private/a.txt"} {
		if p, err := f.FindFrom(ws, project, raw); err == nil {
			p.Close()
			t.Errorf("%s was followed", raw)
		}
	}
}
