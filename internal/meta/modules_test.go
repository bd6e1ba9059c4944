package meta

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxModules is for all programs together; those of a messaging network are in
// hearth-channels only.
const maxModules = 65

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

// TestDependenciesAreWhereThePageSays: a room that a row names imports one of the
// row's modules.
func TestDependenciesAreWhereThePageSays(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for _, f := range repository(t) {
		imports[f.dir] = append(imports[f.dir], f.imports()...)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\| ([^|]+) \\|").FindAllStringSubmatch(string(doc), -1) {
		modules := quoted.FindAllStringSubmatch(row[1], -1)
		for _, room := range quoted.FindAllStringSubmatch(row[2], -1) {
			if !rooms.MatchString(room[1]) {
				continue
			}
			if !slices.ContainsFunc(imports[room[1]], func(path string) bool {
				return slices.ContainsFunc(modules, func(m []string) bool { return path == m[1] || strings.HasPrefix(path, m[1]+"/") })
			}) {
				t.Errorf("docs/dependencies.md says that `%s` imports %s, which it does not", room[1], row[1])
			}
		}
	}
}

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	rooms  = regexp.MustCompile(`^(app|build|discovery|gateway)(/[a-z]+)*$`)
)

// TestDependenciesOfTestsAreInNoProgram: what the page lists for tests and
// measurements only is imported by nothing that people run.
func TestDependenciesOfTestsAreInNoProgram(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "\n## In tests and measurements only")
	if !ok {
		t.Fatal("the page has no such part")
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	modules := modulesInTables(part)
	if len(modules) == 0 {
		t.Fatal("the part names no module")
	}
	for _, f := range repository(t) {
		if !f.prod() || strings.HasSuffix(path.Base(f.dir), "test") {
			continue
		}
		for _, m := range modules {
			if slices.ContainsFunc(f.imports(), func(p string) bool { return p == m || strings.HasPrefix(p, m+"/") }) {
				t.Errorf("%s imports %s, which docs/dependencies.md lists for tests only", f.path, m)
			}
		}
	}
}

// modulesInTables are the names in the first cells of the page's tables.
func modulesInTables(page string) []string {
	var out []string
	for _, cell := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range quoted.FindAllStringSubmatch(cell[1], -1) {
			out = append(out, name[1])
		}
	}
	return out
}

func TestDirectModules(t *testing.T) {
	got := directModules("module m\n\nrequire example.com/one v1.0.0\n\nrequire (\n\texample.com/two v1.0.0\n" +
		"\texample.com/three v1.0.0 // indirect\n)\n")
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
