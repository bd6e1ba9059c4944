package plan

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSec_A_EXEC_09_ReadersStartNothing runs the system's own programs: what the
// tables call a reader or a writer, and git where it only looks, must start
// nothing, whatever arguments a plan calls known.
func TestSec_A_EXEC_09_ReadersStartNothing(t *testing.T) {
	needStrace(t)
	dir := mustReal(t, t.TempDir())
	for name, content := range map[string]string{"a": "x\ny\n", "b": "1\n2\n", "list": "a\x00b\x00", ".git/config": "[core]\n" +
		"\trepositoryformatversion = 0\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/.keep": "", ".git/objects/.keep": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := New(Options{Confined: true, Home: t.TempDir()})
	var commands []string
	dangerous := strings.Fields("kill pkill shred yes dd rm sync chmod chown chgrp truncate date hostname free")
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		if c := classes[name]; (c != reader && c != writer) || slices.Contains(dangerous, name) {
			continue
		}
		for _, args := range []string{"", "a", "a b", "-a a", "-l a b", "-r a", "-z a", "-o out a", "-n 1 a", "-s a", "-x a", "-c a", "--help",
			"--version", "-f a", "-i a", "-p a", "-v a", "--color=always a", "-0 a", "-C a", "--files0-from=list", "-t a out", "-u a", "--all"} {
			if name == "tail" && strings.Contains(args, "-f") || name == "sleep" {
				continue
			}
			commands = append(commands, strings.TrimSpace(name+" "+args))
		}
	}
	commands = append(commands, "git status", "git log", "git diff --stat", "git branch -a", "git ls-files", "git rev-parse --show-toplevel",
		"git tag", "git remote -v",
		"git status --porcelain --ignored", "git diff a", "git show", "git blame a", "git shortlog", "env LANG=C nice ls", "find . -name a",
		"sort -S 1 a", "find . -delete -name nothing")
	if testing.Short() {
		commands = commands[:200]
	}
	b := batch{Dir: dir, Env: []string{"PATH=" + r.SearchPath(), "HOME=" + r.home, "TMPDIR=" + dir}}
	var plans []Plan
	for _, command := range commands {
		p := plan(t, r, command, dir)
		if !p.Known {
			continue
		}
		path, argv := p.Exec()
		plans, b.Jobs = append(plans, p), append(b.Jobs, job{Path: path, Argv: argv})
	}
	t.Logf("%d of %d commands are known", len(plans), len(commands))
	for i, images := range trace(t.Context(), t, b) {
		for _, image := range images {
			ok := image == "/bin/sh"
			for _, pr := range plans[i].Programs {
				ok = ok || pr.Path == image || mustReal(t, image) == pr.Path
			}
			if !ok {
				t.Errorf("%q started %s", plans[i].request.Command, image)
			}
		}
		if plans[i].Shell == "" && len(images) == 0 {
			t.Errorf("%q started nothing at all", plans[i].request.Command)
		}
	}
}
