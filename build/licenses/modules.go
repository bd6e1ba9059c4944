package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// program is an executable that people get.
type program struct{ pkg, tags, cgo string }

func programs() []program {
	return []program{
		{"./app/hearth", "", "0"},
		{"./app/channels", "goolm", "0"},
		{"./app/tray", "desktop", "1"},
		{".", "desktop,production,webkit2_41", "1"},
	}
}

// targets are the systems that build/package makes programs for.
func targets() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}
}

// carried are modules of which only bytes are taken, which the compiler does not
// know.
func carried() []string { return []string{"github.com/fastschema/qjs"} }

// modules adds what the programs are linked with.
func (n notices) modules(ctx context.Context, root string) error {
	const each = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}	{{.Dir}}	{{$.Dir}}{{end}}{{end}}`
	for _, target := range targets() {
		system, machine, _ := strings.Cut(target, "/")
		for _, p := range programs() {
			cgo := p.cgo
			if system == "windows" {
				cgo = "0"
			}
			env := []string{"GOOS=" + system, "GOARCH=" + machine, "CGO_ENABLED=" + cgo}
			if err := n.list(ctx, root, env, "-deps", "-tags", p.tags, "-f", each, p.pkg); err != nil {
				return err
			}
		}
	}
	// Nothing else has them unpacked.
	get := exec.CommandContext(ctx, "go", append([]string{"mod", "download"}, carried()...)...)
	get.Dir = root
	if said, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod download: %w: %s", err, said)
	}
	return n.list(ctx, root, nil, append([]string{"-m", "-f", "{{.Path}} {{.Version}}	{{.Dir}}	{{.Dir}}"}, carried()...)...)
}

func (n notices) list(ctx context.Context, root string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		part := strings.Split(lines.Text(), "\t")
		if len(part) != 3 {
			continue // Go's own package, or one of ours
		}
		if err := n.folder(part[0], part[1], part[2]); err != nil {
			return err
		}
	}
	return nil
}

// toolchain adds Go's runtime and standard library.
func (n notices) toolchain(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	root := strings.TrimSpace(string(out))
	return n.folder("the Go standard library", root, root)
}

var licence = regexp.MustCompile(`(?i)^(un)?licen[sc]e|^copying|^copyright|^notice|^patents`)

// folder adds what lies in a package's folder and in those above it, up to the
// module's own.
func (n notices) folder(name, top, dir string) error {
	found := 0
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, e := range entries {
			if e.IsDir() || !licence.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			n.add(name, string(text))
			found++
		}
		if dir == top || !strings.HasPrefix(dir, top) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if found == 0 {
		return fmt.Errorf("%s has no licence in %s: nothing may be handed on without one; look for it at the project, and for what its terms are",
			name, top)
	}
	return nil
}

// notices are the texts, each with what it is of.
type notices map[string][]string

func (n notices) add(name, text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	text = strings.Trim(strings.Join(lines, "\n"), "\n")
	if !slices.Contains(n[text], name) {
		n[text] = append(n[text], name)
	}
}

const rule = "================================================================================"

func (n notices) String() string {
	texts := make([]string, 0, len(n))
	for text, names := range n {
		slices.Sort(names)
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		if c := slices.Compare(n[a], n[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	b.WriteString("Hearth is made with the work of others. What its programs carry, and on which terms:\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(n[text], "\n"), rule, text)
	}
	return b.String()
}
