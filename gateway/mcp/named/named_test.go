package named

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type line struct {
	Command, Dir string
	Args         []string
}

// A program that is started by a path may read what it is made of and what its
// command line names; folders as wide as the home have to be named for it.
func TestServersMayReadWhatTheirCommandLineNames(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	for _, file := range []string{"loose.mjs", "node_modules/x/package.json", "Documents/a.txt", "proj/package.json", "proj/dist/own.mjs",
		"proj/node_modules/@mcp/memory/dist/index.js", "plain/run.py", "venv/pyvenv.cfg", "venv/bin/serve"} {
		if err := os.MkdirAll(filepath.Dir(at(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(file), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(at("proj/node_modules/.bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../@mcp/memory/dist/index.js", at("proj/node_modules/.bin/memory")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, at("Documents/all")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    line
		want string
	}{
		{line{Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", at("Documents")}}, "Documents"},
		{line{Command: "npx", Args: []string{"-y", "x", "~/Documents", "--dir=" + at("plain")}}, "Documents plain"},
		{line{Command: "node", Args: []string{at("proj/dist/own.mjs")}}, "proj"},
		{line{Command: "node", Args: []string{at("loose.mjs")}}, "loose.mjs node_modules"},
		{line{Command: at("proj/node_modules/.bin/memory")}, "proj/node_modules"},
		{line{Command: "sh", Args: []string{"-c", "echo starting; exec node '" + at("proj/node_modules/@mcp/memory/dist/index.js") + "'"}},
			"proj/node_modules"},
		{line{Command: at("venv/bin/serve")}, "venv"},
		{line{Command: "python3", Args: []string{"run.py"}, Dir: at("plain")}, "plain"},
		{line{Command: "x", Args: []string{home, "~/", "/", "/etc", "/home", at("missing"), "Documents", at("Documents/all")}}, ""},
	} {
		var got []string
		for _, p := range Paths(home, c.s.Dir, c.s.Command, c.s.Args) {
			rel, err := filepath.Rel(home, p)
			if err != nil || strings.HasPrefix(rel, "..") {
				t.Errorf("%+v reaches %s", c.s, p)
			}
			got = append(got, rel)
		}
		if fmt.Sprint(strings.Join(got, " ")) != c.want {
			t.Errorf("%s %q: %q, want %q", c.s.Command, c.s.Args, got, c.want)
		}
	}
}
