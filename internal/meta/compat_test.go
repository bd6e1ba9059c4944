package meta

import (
	"go/ast"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testNamed is a test's name in docs/compat.md.
var testNamed = regexp.MustCompile("`(?:[a-z][a-z0-9/_]*: )?((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)")

// TestCompatNamesRealTests: a table that promises tests which were renamed or
// removed is worse than none. Files that it names must be there too.
func TestCompatNamesRealTests(t *testing.T) {
	page := namesRealTests(t, "compat.md")
	for _, m := range regexp.MustCompile("`([a-z_]+(?:/[a-z_]+)*\\.go)`").FindAllStringSubmatch(page, -1) {
		at := m[1]
		if !strings.HasPrefix(at, "app/") {
			at = "gateway/" + at
		}
		if _, err := os.Stat(filepath.Join("../..", at)); err != nil {
			t.Errorf("docs/compat.md names %s, which does not exist", at)
		}
	}
	packages := testPackages(t)
	for _, m := range regexp.MustCompile("`([a-z][a-z0-9/_]*: )?((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)").FindAllStringSubmatch(page, -1) {
		where, name := strings.TrimSuffix(m[1], ": "), m[2]
		if in := packages[name]; len(in) > 0 && !slices.Contains(in, where) {
			t.Errorf("docs/compat.md names %q: say `PACKAGE: %s` with one of %v, so that nobody has to guess which is meant", m[0][1:], name, in)
		}
	}
	for i, line := range strings.Split(page, "\n") {
		if n := strings.Count(line, "|"); strings.HasPrefix(line, "|") && n != 5 && n != 4 {
			t.Errorf("docs/compat.md:%d: a row of %d columns", i+1, n-1)
		}
	}
}

// testPackages are the packages of each test by its name, as docs/compat.md writes
// them: below gateway/ without it.
func testPackages(t *testing.T) map[string][]string {
	out := map[string][]string{}
	for _, f := range repository(t) {
		for name := range f.tests() {
			at := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(f.path)), "gateway/")
			if !slices.Contains(out[name], at) {
				out[name] = append(out[name], at)
			}
		}
	}
	return out
}

// namesRealTests reads a page of docs whose tests must be there.
func namesRealTests(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range repository(t) {
		for name := range f.tests() {
			there[name] = true
		}
	}
	found := testNamed.FindAllStringSubmatch(string(raw), -1)
	if len(found) < 100 {
		t.Fatalf("only %d tests are named in %s; has the notation changed?", len(found), name)
	}
	for _, m := range found {
		if !there[m[1]] {
			t.Errorf("docs/%s names %s, which does not exist", name, m[1])
		}
	}
	return string(raw)
}

// tests are the functions of a test file.
func (f *file) tests() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && !yield(fn.Name.Name) {
				return
			}
		}
	}
}
