package meta

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testNamed is a test's name in docs/compat.md.
var testNamed = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)")

// TestCompatNamesRealTests: a table that promises tests which were renamed or
// removed is worse than none. Files that it names must be there too.
func TestCompatNamesRealTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/compat.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range repository(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				there[fn.Name.Name] = true
			}
		}
	}
	found := testNamed.FindAllStringSubmatch(string(page), -1)
	if len(found) < 100 {
		t.Fatalf("only %d tests are named; has the notation changed?", len(found))
	}
	for _, m := range found {
		if !there[m[1]] {
			t.Errorf("docs/compat.md names %s, which does not exist", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`([a-z_]+(?:/[a-z_]+)*\\.go)`").FindAllStringSubmatch(string(page), -1) {
		at := m[1]
		if !strings.HasPrefix(at, "app/") {
			at = "gateway/" + at
		}
		if _, err := os.Stat(filepath.Join("../..", at)); err != nil {
			t.Errorf("docs/compat.md names %s, which does not exist", at)
		}
	}
	for i, line := range strings.Split(string(page), "\n") {
		if n := strings.Count(line, "|"); strings.HasPrefix(line, "|") && n != 5 && n != 4 {
			t.Errorf("docs/compat.md:%d: a row of %d columns", i+1, n-1)
		}
	}
}
