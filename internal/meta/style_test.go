package meta

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFileLines     = 600
	maxFunctionLines = 80
)

func packageDocs(files []*file) []string {
	missing := map[string]bool{}
	for _, f := range files {
		if _, seen := missing[f.dir]; !seen && !f.test {
			missing[f.dir] = true
		}
	}
	for _, f := range files {
		doc := f.ast.Doc.Text()
		if !f.test && (strings.HasPrefix(doc, "Package ") || strings.HasPrefix(doc, "Command ")) {
			missing[f.dir] = false
		}
	}
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(missing)) {
		if missing[dir] {
			out = append(out, dir+" has no package comment; say what it owns and what it does not")
		}
	}
	return out
}

func noInit(files []*file) []string {
	var out []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, f.at(fn)+": init(): what a program does must not depend on what it imports")
			}
		}
	}
	return out
}

func noSleep(files []*file) []string {
	var out []string
	for _, f := range files {
		if !f.test {
			continue
		}
		for _, c := range f.calls("time", "Sleep") {
			out = append(out, f.at(c)+": time.Sleep: wait for a condition, or use testing/synctest")
		}
	}
	return out
}

func noBackground(files []*file) []string {
	var out []string
	for _, f := range files {
		if f.main() {
			continue
		}
		for _, c := range f.calls("context", "Background", "TODO") {
			out = append(out, f.at(c)+": a context that nobody ends: take it as a parameter (tests: t.Context())")
		}
	}
	return out
}

func fileSize(files []*file) []string {
	var out []string
	for _, f := range files {
		if f.lines > maxFileLines {
			out = append(out, fmt.Sprintf("%s has %d lines, the limit is %d (aim for 400)", f.path, f.lines, maxFileLines))
		}
	}
	return out
}

func functionSize(files []*file) []string {
	var out []string
	for _, f := range files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
					out = append(out, fmt.Sprintf("%s: %s has %d lines, the limit is %d (aim for 60)", f.at(fn), fn.Name.Name, n, maxFunctionLines))
				}
			}
		}
	}
	return out
}

// noGlobals finds assignments to package variables. A table that is only read
// is fine.
func noGlobals(files []*file) []string {
	names := map[string]bool{} // folder + " " + name
	specs := map[any]bool{}    // what the parser links a name to
	for _, f := range files {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || f.test {
				continue
			}
			for _, s := range g.Specs {
				specs[s] = true
				for _, n := range s.(*ast.ValueSpec).Names {
					names[f.dir+" "+n.Name] = true
				}
			}
		}
	}
	var out []string
	for _, f := range files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			for _, target := range written(n) {
				id := root(target)
				// Without a link the name is declared in another file of the package.
				if id != nil && names[f.dir+" "+id.Name] && (id.Obj == nil || specs[id.Obj.Decl]) {
					out = append(out, f.at(n)+": changes the package variable "+id.Name+"; let a value own that state")
				}
			}
			return true
		})
	}
	return out
}

// written returns what a statement assigns to.
func written(n ast.Node) []ast.Expr {
	switch s := n.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			return s.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{s.X}
	}
	return nil
}

// root is the variable under an index, a field or a pointer.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

var (
	secretName    = regexp.MustCompile(`(?i)(token|secret|password|signature|apikey)$`)
	secretPlaces  = []string{"gateway/pairing", "gateway/server", "gateway/secret"} // where strangers' words arrive
	unsafeCompare = map[string][]string{"bytes": {"Equal", "Compare"}, "strings": {"EqualFold", "Compare"}}
)

// constantTime finds comparisons of two secrets that stop at the first byte
// that differs. Comparing with a constant or nil tells nothing.
func constantTime(files []*file) []string {
	consts := constants(files)
	secretPair := func(a, b ast.Expr) bool {
		return (named(a) || named(b)) && !constant(a, consts) && !constant(b, consts)
	}
	var out []string
	for _, f := range files {
		if f.test || !slices.Contains(secretPlaces, f.dir) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if ok && (b.Op == token.EQL || b.Op == token.NEQ) && secretPair(b.X, b.Y) {
				out = append(out, f.at(b)+": compares secrets with "+b.Op.String()+"; use crypto/subtle")
			}
			return true
		})
		for pkg, names := range unsafeCompare {
			for _, c := range f.calls(pkg, names...) {
				if len(c.Args) == 2 && secretPair(c.Args[0], c.Args[1]) {
					out = append(out, f.at(c)+": compares secrets; use crypto/subtle")
				}
			}
		}
	}
	return out
}

// constants are the names of all constants, in any package.
func constants(files []*file) map[string]bool {
	out := map[string]bool{"nil": true}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					for _, n := range s.(*ast.ValueSpec).Names {
						out[n.Name] = true
					}
				}
			}
		}
	}
	return out
}

func named(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return secretName.MatchString(x.Name)
	case *ast.SelectorExpr:
		return secretName.MatchString(x.Sel.Name)
	}
	return false
}

func constant(e ast.Expr, consts map[string]bool) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return consts[x.Name]
	case *ast.SelectorExpr:
		return consts[x.Sel.Name]
	}
	return false
}
