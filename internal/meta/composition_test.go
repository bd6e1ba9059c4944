package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"testing"
)

// composition is how much stands in package gateway itself, which only puts the
// kernel and the features together.
type composition struct {
	files   int // of gateway/*.go, without tests
	lines   int
	methods int // of type Gateway
	fields  int // of type Gateway
}

// most is how much that may be.
var most = composition{files: 12, lines: 1200, methods: 9, fields: 14}

// maxContract is how many lines the contract of the features may have.
const maxContract = 300

// TestGatewayOnlyComposes: package gateway makes the parts of the kernel in groups,
// and the features of them; what those do stands elsewhere.
func TestGatewayOnlyComposes(t *testing.T) {
	var now composition
	contract := 0
	for _, f := range repository(t) {
		if !f.prod() {
			continue
		}
		for _, holder := range holders(f.ast) {
			t.Errorf("%s: type %s holds a *Gateway: pass it the parts of the kernel that it needs, by type", f.path, holder)
		}
		if f.dir == "gateway/host" {
			contract += f.lines
		}
		if f.dir == "gateway" {
			now.files++
			now.lines += f.lines
			now.count(f.ast)
		}
	}
	for what, n := range map[string]struct {
		now, most int
		instead   string
	}{
		"files": {now.files, most.files, "what Hearth can do is a folder in gateway/feature, what features stand on is a package beside it"},
		"lines": {now.lines, most.lines, "what has logic belongs to a package of the kernel or to its feature; here parts are made and passed"},
		"methods of Gateway": {now.methods, most.methods, "what is done with some of the parts is a function or type of the package " +
			"whose subject it is"},
		"fields of Gateway": {now.fields, most.fields, "a part of the kernel stands in one of the groups (base, access, guard, engine, " +
			"talk, runs, networks), what one feature needs alone is made by that feature"},
	} {
		if n.now > n.most {
			t.Errorf("package gateway has %d %s, %d are allowed: %s (docs/architecture.md)", n.now, what, n.most, n.instead)
		}
	}
	if contract > maxContract {
		t.Errorf("package gateway/host has %d lines, %d are allowed: it is the contract with the features; what some of them need is a "+
			"package of the kernel, what one needs stands in its folder", contract, maxContract)
	}
}

// count adds what a file declares of type Gateway.
func (c *composition) count(f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && isGateway(fn.Recv.List[0].Type) {
			c.methods++
		}
	}
	for name, st := range structs(f) {
		if name == "Gateway" {
			for _, field := range st.Fields.List {
				c.fields += max(1, len(field.Names))
			}
		}
	}
}

// holders are the types of a file with a field that is a *Gateway.
func holders(f *ast.File) (names []string) {
	for name, st := range structs(f) {
		if slices.ContainsFunc(st.Fields.List, func(field *ast.Field) bool { return isGateway(field.Type) }) {
			names = append(names, name)
		}
	}
	return names
}

// structs are those that a file declares.
func structs(f *ast.File) map[string]*ast.StructType {
	out := map[string]*ast.StructType{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if st, ok := spec.Type.(*ast.StructType); ok {
				out[spec.Name.Name] = st
			}
		}
		return true
	})
	return out
}

// isGateway reports *Gateway, also with the name of its package.
func isGateway(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := star.X.(type) {
	case *ast.Ident:
		return x.Name == "Gateway"
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && pkg.Name == "gateway" && x.Sel.Name == "Gateway"
	}
	return false
}

// TestHolders: fields are counted by their names, and a *Gateway is found with and
// without the name of its package.
func TestHolders(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package gateway
type Gateway struct { a, b int; base }
func (g *Gateway) one() {}
func (b base) two() {}
type own struct { g *Gateway }
type other struct { g *gateway.Gateway }
type none struct { g *client.Gateway; h Gateway }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	var c composition
	c.count(f)
	got := holders(f)
	slices.Sort(got)
	if c.fields != 3 || c.methods != 1 || !slices.Equal(got, []string{"other", "own"}) {
		t.Errorf("%+v, holders %q", c, got)
	}
}

// maxFuncFields is how many functions an Options, or any other struct, may have:
// beyond that it is a bag of closures, and interfaces with names say more.
const maxFuncFields = 8

// TestOptionsAreNoBags: no struct anywhere has more, whatever it is called.
func TestOptionsAreNoBags(t *testing.T) {
	files := repository(t)
	named := map[string]bool{} // types that are functions, by folder and name, and by package and name
	for _, f := range files {
		for _, s := range types(f.ast) {
			if _, ok := s.Type.(*ast.FuncType); ok {
				named[f.dir+"."+s.Name.Name], named[path.Base(f.dir)+"."+s.Name.Name] = true, true
			}
		}
	}
	for _, f := range files {
		if !f.prod() {
			continue
		}
		for name, st := range structs(f.ast) {
			if n := functions(st, f.dir, named); n > maxFuncFields {
				t.Errorf("%s.%s has %d functions, %d are allowed: take a type of the kernel, or a small interface that you declare",
					f.dir, name, n, maxFuncFields)
			}
		}
	}
}

// functions counts the fields that are functions, also by the name of a type of
// the same package or of another.
func functions(st *ast.StructType, dir string, named map[string]bool) (n int) {
	for _, field := range st.Fields.List {
		_, ok := field.Type.(*ast.FuncType)
		switch x := field.Type.(type) {
		case *ast.Ident:
			ok = named[dir+"."+x.Name]
		case *ast.SelectorExpr:
			pkg, isName := x.X.(*ast.Ident)
			ok = isName && named[pkg.Name+"."+x.Sel.Name]
		}
		if ok {
			n += max(1, len(field.Names))
		}
	}
	return n
}
