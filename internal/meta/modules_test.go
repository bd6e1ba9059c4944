package meta

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const maxModules = 40

// TestDependenciesAreExplained: whoever adds a dependency says in
// docs/dependencies.md what it is for and why this one.
func TestDependenciesAreExplained(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	doc := read("docs/dependencies.md")
	modules := directModules(read("go.mod"))
	if len(modules) > maxModules {
		t.Errorf("%d direct modules, the limit is %d", len(modules), maxModules)
	}
	var page struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(read("frontend/package.json")), &page); err != nil {
		t.Fatal(err)
	}
	names := modules
	for _, m := range []map[string]string{page.Dependencies, page.DevDependencies} {
		for n := range m {
			names = append(names, n)
		}
	}
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
		if !strings.Contains(doc, "`"+n+"`") {
			t.Errorf("docs/dependencies.md does not say what `%s` is for", n)
		}
	}
	for _, n := range modulesInTables(doc) {
		if !known[n] {
			t.Errorf("docs/dependencies.md says what `%s` is for, which is no direct dependency", n)
		}
	}
}

// modulesInTables are the names in the first cells of the page's tables.
func modulesInTables(page string) []string {
	var out []string
	for _, cell := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell[1], -1) {
			out = append(out, name[1])
		}
	}
	return out
}

func TestDirectModules(t *testing.T) {
	got := directModules("module m\n\nrequire example.com/one v1.0.0\n\nrequire (\n\texample.com/two v1.0.0\n\texample.com/three v1.0.0 // indirect\n)\n")
	if strings.Join(got, " ") != "example.com/one example.com/two" {
		t.Errorf("direct modules: %v", got)
	}
}

func directModules(gomod string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+( // indirect)?$`).FindAllStringSubmatch(gomod, -1) {
		if m[2] == "" {
			out = append(out, m[1])
		}
	}
	return out
}
