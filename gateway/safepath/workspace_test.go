//go:build unix

package safepath_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// A workspace is found by its name once. What stands there later, put by
// whomever, is refused in words, and the old one works again when it is back.
func TestSec_A_FILE_03_TheWorkspaceIsReplaced(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(home, "Documents", "tax"))
	for name, replace := range map[string]func(ws string) error{
		"a link":         func(ws string) error { return os.Symlink(home, ws) },
		"a link to it":   func(ws string) error { return os.Symlink(ws+".was", ws) },
		"another folder": func(ws string) error { return os.Mkdir(ws, 0o755) },
		"a file":         func(ws string) error { return os.WriteFile(ws, nil, 0o600) },
		"the folder above": func(ws string) error {
			dir := filepath.Dir(ws)
			if err := os.Rename(dir, dir+".was"); err != nil {
				return err
			}
			return os.Symlink(home, dir)
		},
	} {
		base := filepath.Join(home, "projects", name)
		ws := filepath.Join(base, "ws")
		put(t, filepath.Join(ws, "Documents", "tax"))
		var held safepath.Workspaces
		f := safepath.Finder{Home: home, Workspaces: &held}
		find := func(raw string) error {
			p, err := f.Find(ws, raw)
			if err == nil {
				p.Close()
			}
			return err
		}
		if err := find("Documents/tax"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(ws, ws+".was"); err != nil {
			t.Fatal(err)
		}
		if err := replace(ws); err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{"Documents/tax", "new", filepath.Join(ws, "Documents", "tax")} {
			if err := find(raw); !errors.Is(err, safepath.ErrReplaced) {
				t.Errorf("%s, %s: %v", name, raw, err)
			}
		}
		if _, _, err := held.Hold(ws); !errors.Is(err, safepath.ErrReplaced) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "the folder above" {
			if err := errors.Join(os.RemoveAll(ws), os.Rename(ws+".was", ws), find("Documents/tax")); err != nil {
				t.Errorf("%s, back again: %v", name, err)
			}
		}
		held.Close()
	}
}

// A workspace that its owner removed is made anew, and one behind a link of the
// owner's is one.
func TestWorkspaceIsMadeAgain(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, link := filepath.Join(home, "ws"), filepath.Join(home, "link")
	if err := os.Symlink("ws", link); err != nil {
		t.Fatal(err)
	}
	var held safepath.Workspaces
	defer held.Close()
	f := safepath.Finder{Home: home, Workspaces: &held}
	for range 3 {
		p, err := f.Find(ws, "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Replace([]byte("x"), 0o644, nil); err != nil {
			t.Error(err)
		}
		p.Close()
		if err := os.RemoveAll(ws); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if real, _, err := held.Hold(link); err != nil || real != ws {
			t.Errorf("%s %v", real, err)
		}
	}
}

// A file in the workspace that is a file of somewhere else too, by a hard link,
// is asked for. All of its names in the workspace: it is not.
func TestSec_A_FILE_02_HardLinksOutAreAsked(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(home, "ws")
	for _, name := range []string{"Documents/tax", "ws/a", "ws/sub/b"} {
		put(t, filepath.Join(home, filepath.FromSlash(name)))
	}
	for to, at := range map[string]string{"Documents/tax": "ws/tax", "ws/a": "ws/sub/deep"} {
		if err := os.Link(filepath.Join(home, to), filepath.Join(home, at)); err != nil {
			t.Fatal(err)
		}
	}
	f := safepath.Finder{Home: home}
	for name, want := range map[string]safepath.Verdict{"tax": safepath.Ask, "a": safepath.Free, "sub/deep": safepath.Free,
		"sub/b": safepath.Free,
		"none":  safepath.Free} {
		for _, change := range []bool{false, true} {
			p, err := f.Find(ws, name)
			if err != nil {
				t.Fatal(err)
			}
			if v, why := p.Judge(change); v != want {
				t.Errorf("%s: %v %s", name, v, why)
			}
			if h, _, err := p.Open(); name != "none" && err != nil {
				t.Errorf("%s, after it was judged: %v", name, err)
			} else if err == nil {
				_ = h.Close()
			}
			p.Close()
		}
	}
	// It takes the place of a harmless one between the look and the opening.
	p, err := f.Find(ws, "sub/b")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if v, _ := p.Judge(false); v != safepath.Free {
		t.Error(v)
	}
	if err := os.Rename(filepath.Join(ws, "tax"), filepath.Join(ws, "sub", "b")); err != nil {
		t.Fatal(err)
	}
	if h, _, err := p.Open(); !errors.Is(err, safepath.ErrMoved) {
		t.Errorf("%v %v", h, err)
	}
}
