package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// untried are the readers that do not end by themselves, that must not be tried
// on the machine of a developer, and that only say their arguments.
var untried = []string{"yes", "sleep", "date", "hostname", "printf", "echo", "true", "false", "test", "["}

// options are those that a program says that it has, and all the letters.
func options(t *testing.T, path string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, path, "--help").CombinedOutput()
	found := regexp.MustCompile(`--[a-z][a-z0-9-]+=?`).FindAllString(string(out), -1)
	for c := 'A'; c <= 'z'; c++ {
		if c <= 'Z' || c >= 'a' {
			found = append(found, "-"+string(c))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

const parts = 8

// TestSec_A_EXEC_09_WritersAreNoReaders tries every option of every reader of
// this machine, with and without a value: what changes a file is said by the plan.
// They are thousands of programs, so a run tries an eighth; HEARTH_SEED says which,
// "all" is all.
func TestSec_A_EXEC_09_WritersAreNoReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some thousand programs")
	}
	seed := cmp.Or(os.Getenv("HEARTH_SEED"), strconv.Itoa(time.Now().Nanosecond()%parts))
	part, err := strconv.Atoi(seed)
	if err != nil && seed != "all" {
		t.Fatalf("HEARTH_SEED=%s: a number, or all", seed)
	}
	t.Logf("HEARTH_SEED=%s", seed)
	r, n := resolver(t), 0
	var tries sync.WaitGroup
	turns := make(chan struct{}, 4)
	for name, c := range classes {
		path, err := exec.LookPath(name)
		if c != reader || err != nil || slices.Contains(untried, name) {
			continue
		}
		for _, o := range options(t, path) {
			tried := [][]string{{name, o, "in", "out"}}
			if len(o) == 2 {
				tried = append(tried, []string{name, o + "out", "in"})
			}
			for _, argv := range tried {
				if n++; seed != "all" && n%parts != part%parts {
					continue
				}
				turns <- struct{}{}
				tries.Go(func() {
					defer func() { <-turns }()
					tryReader(t, r, path, argv)
				})
			}
		}
	}
	tries.Wait()
}

// tryReader runs one command in a folder of its own and compares the folder with
// what the plan said.
func tryReader(t *testing.T, r *Resolver, path string, argv []string) {
	dir := mustReal(t, t.TempDir())
	for name, text := range map[string]string{"in": "0 string a b\n", "out": "before\n", "d/e": "x\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	p, err := r.Resolve(t.Context(), Request{Argv: argv, Dir: dir})
	if err != nil || !p.Known || len(p.Writes) > 0 {
		return // it is said already, or asked each time
	}
	before := snapshot(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LANG=C"}
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // most of them are nonsense
	if after := snapshot(t, dir); after != before {
		t.Errorf("%q changed files, and the plan says nothing of it:\n%s\n%s", argv, before, after)
	}
}

// snapshot is what is in a folder.
func snapshot(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", strings.TrimPrefix(path, dir), sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return b.String()
}
