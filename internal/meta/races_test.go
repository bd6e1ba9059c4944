package meta

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWithoutRaces: what build/test runs without the race detector starts nothing of
// its own beside itself.
func TestWithoutRaces(t *testing.T) {
	script, err := os.ReadFile("../../build/checks.sh")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^WITHOUT_RACES=\((.*)\)$`).FindSubmatch(script)
	if list == nil {
		t.Fatal("build/checks.sh has no WITHOUT_RACES")
	}
	named := strings.Fields(strings.ReplaceAll(string(list[1]), "./", ""))
	seen := map[string]bool{}
	for _, f := range repository(t) {
		if !slices.Contains(named, f.dir) {
			continue
		}
		seen[f.dir] = true
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: begins something at once: take the package out of WITHOUT_RACES in build/checks.sh", f.at(n))
			case *ast.SelectorExpr:
				if n.Sel.Name == "Go" || n.Sel.Name == "Parallel" {
					t.Errorf("%s: %s: take the package out of WITHOUT_RACES in build/checks.sh", f.at(n), n.Sel.Name)
				}
			}
			return true
		})
	}
	for _, name := range named {
		if !seen[name] {
			t.Errorf("build/checks.sh names %s, which is not there", name)
		}
	}
}
