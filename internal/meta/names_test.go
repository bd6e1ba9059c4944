package meta

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// roles are names of types that mean the same in every package, of which each has
// one of its own.
var roles = map[string]string{
	"Options":  "what the package's constructor takes",
	"Settings": "what hearth.json says, as the package obeys it",
	"Error":    "how the package fails, for who decides by it",
	"Client":   "what asks a service, in that service's protocol",
	"Quirks":   "what one service does otherwise than the dialect says",
	"Tool":     "the tool that the package makes",
}

// forTests are packages that only tests and measurements use: what they play has
// the names of the real thing.
func forTests(dir string) bool {
	return strings.HasSuffix(dir, "test") || below(dir, []string{"gateway/provider/scripted", "gateway/channel/loopback", "build"})
}

// treeOf is the package tree that a folder belongs to: what stands directly below
// app, gateway or gateway/feature, with all that is in it.
func treeOf(dir string) string {
	parts, depth := strings.Split(dir, "/"), 2
	if feature(dir) != "" {
		depth = 3
	}
	return strings.Join(parts[:min(depth, len(parts))], "/")
}

// oneMeaning finds exported types of one name in several packages of a tree. An
// interface is declared where it is used, and an alias is the same type.
func oneMeaning(files []*file) (out []string) {
	places := map[string]map[string]string{} // tree and name → folder → where
	for _, f := range files {
		if !f.prod() || forTests(f.dir) {
			continue
		}
		for _, s := range types(f.ast) {
			_, isInterface := s.Type.(*ast.InterfaceType)
			if name := s.Name.Name; s.Name.IsExported() && !isInterface && !s.Assign.IsValid() && roles[name] == "" {
				key := treeOf(f.dir) + " " + name
				if places[key] == nil {
					places[key] = map[string]string{}
				}
				places[key][f.dir] = f.at(s)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(places)) {
		if where := slices.Sorted(maps.Values(places[key])); len(where) > 1 {
			tree, name, _ := strings.Cut(key, " ")
			out = append(out, tree+" has several types "+name+" ("+strings.Join(where, ", ")+
				"): give each thing its own word, use the one type, or make it an alias; docs/glossary.md has the words")
		}
	}
	return out
}

// types are those that a file declares at its top.
func types(f *ast.File) (out []*ast.TypeSpec) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				out = append(out, s.(*ast.TypeSpec))
			}
		}
	}
	return out
}

// startOrder finds where package gateway asks whether a part is there already. It
// makes the parts in an order in which each has what it needs; what a caller may
// leave out stands in Options and is filled in by New.
func startOrder(files []*file) (out []string) {
	for _, f := range files {
		if !f.prod() || f.dir != "gateway" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != token.EQL && b.Op != token.NEQ {
				return true
			}
			field, ok := b.X.(*ast.SelectorExpr)
			if null, isName := b.Y.(*ast.Ident); ok && isName && null.Name == "nil" && !slices.Contains(mayLack, field.Sel.Name) {
				out = append(out, f.at(b)+": asks whether "+field.Sel.Name+
					" is there: make it before what needs it and pass it; a feature that may be off is passed as an interface that does nothing")
			}
			return true
		})
	}
	return out
}

// mayLack are fields of package gateway's Options and arguments that may be nil:
// their comments say what that means.
var mayLack = []string{"Now", "Logger", "Farewell", "Err"}

func TestTreeOf(t *testing.T) {
	for dir, want := range map[string]string{"gateway/provider/wire": "gateway/provider", "gateway/feature/cron/x": "gateway/feature/cron",
		"gateway": "gateway", "discovery": "discovery", "app/tray/menu": "app/tray"} {
		if got := treeOf(dir); got != want {
			t.Errorf("%s belongs to %s, want %s", dir, got, want)
		}
	}
}
