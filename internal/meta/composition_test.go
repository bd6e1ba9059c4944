package meta

import (
	"encoding/json"
	"go/ast"
	"os"
	"strings"
	"testing"
)

// composition is how much stands in package gateway itself, which only puts the
// kernel and the features together.
type composition struct {
	Files   int `json:"files"`   // of gateway/*.go, without tests; the aim is 12
	Lines   int `json:"lines"`   // the aim is 1,200
	Methods int `json:"methods"` // of type Gateway; the aim is 9
	Fields  int `json:"fields"`  // of type Gateway; the aim is 14
	Holders int `json:"holders"` // other types with a *Gateway; the aim is none
}

// TestGatewayOnlyComposes: testdata/composition.json holds what package gateway
// still has from earlier days. The numbers may only become smaller.
func TestGatewayOnlyComposes(t *testing.T) {
	raw, err := os.ReadFile("testdata/composition.json")
	if err != nil {
		t.Fatal(err)
	}
	var allowed, now composition
	if err := json.Unmarshal(raw, &allowed); err != nil {
		t.Fatal(err)
	}
	for _, f := range repository(t) {
		if f.dir == "gateway" && f.prod() {
			now.Files++
			now.Lines += f.lines
			now.count(f.ast)
		}
	}
	for what, n := range map[string][2]int{
		"files": {now.Files, allowed.Files}, "lines": {now.Lines, allowed.Lines}, "methods of Gateway": {now.Methods, allowed.Methods},
		"fields of Gateway": {now.Fields, allowed.Fields}, "types that hold a *Gateway": {now.Holders, allowed.Holders},
	} {
		switch {
		case n[0] > n[1]:
			t.Errorf("package gateway has %d %s, %d are allowed: what Hearth can do is a folder in gateway/feature, "+
				"what features stand on is a package beside it (docs/architecture.md)", n[0], what, n[1])
		case n[0] < n[1]:
			t.Logf("package gateway has %d %s, testdata/composition.json allows %d: make the number smaller", n[0], what, n[1])
		}
	}
}

// count adds what a file declares.
func (c *composition) count(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && isGateway(n.Recv.List[0].Type) {
				c.Methods++
			}
		case *ast.TypeSpec:
			st, ok := n.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range st.Fields.List {
				if n.Name.Name == "Gateway" {
					c.Fields += max(1, len(field.Names))
				} else if isGateway(field.Type) {
					c.Holders++
				}
			}
		}
		return true
	})
}

func isGateway(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Gateway"
}

// maxFuncFields is how many functions an Options may have: beyond that it is a
// bag of closures, and interfaces with names say more.
const maxFuncFields = 8

// TestOptionsAreNoBags: testdata/closures.json names the Options that have more
// from earlier days.
func TestOptionsAreNoBags(t *testing.T) {
	raw, err := os.ReadFile("testdata/closures.json")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	if err := json.Unmarshal(raw, &allowed); err != nil {
		t.Fatal(err)
	}
	for _, f := range repository(t) {
		if !f.prod() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !strings.HasSuffix(spec.Name.Name, "Options") {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				name, n := f.dir+"."+spec.Name.Name, functions(st)
				if n > max(maxFuncFields, allowed[name]) {
					t.Errorf("%s has %d functions, %d are allowed: take a type of the kernel, or a small interface that you declare",
						name, n, maxFuncFields)
				} else if n < allowed[name] {
					t.Logf("%s has %d functions, testdata/closures.json allows %d: make the number smaller", name, n, allowed[name])
				}
			}
			return true
		})
	}
}

func functions(st *ast.StructType) (n int) {
	for _, field := range st.Fields.List {
		if _, ok := field.Type.(*ast.FuncType); ok {
			n += max(1, len(field.Names))
		}
	}
	return n
}
