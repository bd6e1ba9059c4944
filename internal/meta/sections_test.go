package meta

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
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
