package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/sections"
)

// TestEverySectionIsListed: the settings that a package declares as a
// config.Settings stand in gateway/sections, or the file's reader does not know
// their keys.
func TestEverySectionIsListed(t *testing.T) {
	var list []string // "mcp.Section", as the list names them
	files := repository(t)
	for _, f := range files {
		if f.dir == "gateway/sections" && f.prod() {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if of, ok := s.X.(*ast.Ident); ok {
						list = append(list, of.Name+"."+s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	all := " " + strings.Join(list, " ") + " "
	found := 0
	for _, f := range files {
		if !f.prod() || !strings.HasPrefix(f.dir, "gateway/") {
			continue
		}
		for _, name := range sectionsOf(f.ast) {
			found++
			if !strings.Contains(all, " "+path.Base(f.dir)+"."+name+" ") {
				t.Errorf("%s declares the settings %s, and gateway/sections does not list them", f.path, name)
			}
		}
	}
	if found == 0 {
		t.Error("no settings were found: this test looks for something else than there is")
	}
}

// sectionsOf are the variables of a file that are &config.Settings[…]{…}.
func sectionsOf(file *ast.File) (out []string) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, value := range v.Values {
				if isSettings(value) {
					out = append(out, v.Names[i].Name)
				}
			}
		}
	}
	return out
}

func isSettings(e ast.Expr) bool {
	u, ok := e.(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return false
	}
	lit, ok := u.X.(*ast.CompositeLit)
	if !ok {
		return false
	}
	index, ok := lit.Type.(*ast.IndexExpr)
	if !ok {
		return false
	}
	sel, ok := index.X.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Settings" || sel.Sel.Name == "Entries")
}

// TestConfigNamesNoFeaturesKey: gateway/config reads, keeps and shows the file, and
// none of its keys is known there: each stands in the section of who obeys it.
func TestConfigNamesNoFeaturesKey(t *testing.T) {
	all := sections.All(nil)
	known := map[string]bool{}
	add := func(path string) {
		known[path] = true
		root, _, _ := strings.Cut(path, ".")
		known[strings.TrimSuffix(root, "[]")] = true
	}
	for _, d := range all.Describe() {
		add(d.Path)
	}
	for _, name := range all.Names() {
		at, _, _ := strings.Cut(name, "/")
		add(at)
	}
	delete(known, "")
	if len(known) < 200 || !known["gateway.port"] || !known["session"] {
		t.Fatalf("only %d keys are known: this test looks for something else than there is", len(known))
	}
	for _, f := range repository(t) {
		if f.dir != "gateway/config" || !f.prod() {
			continue
		}
		for _, key := range keysIn(f.ast, known) {
			t.Errorf("%s names the key %q: what a key means belongs to the section of the feature or package that obeys it (settings.go "+
				"there), and gateway/sections lists that", f.path, key)
		}
	}
	text := "package config\nvar x = At(`gateway`, \"port\")\nvar y = \"session.mainKey\"\n"
	bad, err := parser.ParseFile(token.NewFileSet(), "bad.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := keysIn(bad, known); len(got) != 2 {
		t.Errorf("of two keys in a file %q were found", got)
	}
}

// keysIn are the texts of a file that are keys.
func keysIn(file *ast.File, keys map[string]bool) (out []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if word, err := strconv.Unquote(lit.Value); err == nil && keys[word] {
			out = append(out, word)
		}
		return true
	})
	return out
}
