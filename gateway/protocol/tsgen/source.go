package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// source is the Go that is translated: the packages' exported declarations in
// file and line order.
type source struct {
	pkgs map[string]*pkg // by package name, as selectors use it
	main *pkg
}

type pkg struct {
	name    string
	structs map[string]*ast.StructType
	decls   []decl
	consts  map[string][]string // values of typed string constants, by type name
}

// decl is one exported type or constant.
type decl struct {
	name  string
	doc   string
	typ   ast.Expr // a type declaration; nil for a constant
	group string   // the comment above a block, on its first constant
	// of a constant:
	first bool // of its block
	value string
	named string // its type's name, "" when untyped
}

// load parses the packages in the folders, the first of which is the one that
// is emitted.
func load(root string, dirs ...string) (*source, error) {
	s := &source{pkgs: map[string]*pkg{}}
	for _, dir := range dirs {
		p, err := parsePackage(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		s.pkgs[p.name] = p
		if s.main == nil {
			s.main = p
		}
	}
	return s, nil
}

func parsePackage(dir string) (*pkg, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, n := range names { // Glob sorts, so the output has one order
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, n, b, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	p := &pkg{name: files[0].Name.Name, structs: map[string]*ast.StructType{}, consts: map[string][]string{}}
	values := constants(fset, files)
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				p.add(g, values)
			}
		}
	}
	return p, nil
}

func (p *pkg) add(g *ast.GenDecl, values map[string]constValue) {
	for i, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if st, ok := s.Type.(*ast.StructType); ok {
				p.structs[s.Name.Name] = st
			}
			// A generic type has no wire shape of its own; fields that use it have.
			if s.Name.IsExported() && s.TypeParams == nil {
				p.decls = append(p.decls, decl{name: s.Name.Name, doc: firstText(s.Doc, g.Doc, s.Comment), typ: s.Type})
			}
		case *ast.ValueSpec:
			if g.Tok != token.CONST {
				continue
			}
			for _, n := range s.Names {
				v, ok := values[n.Name]
				if !ok || !n.IsExported() {
					continue
				}
				c := decl{name: n.Name, doc: firstText(s.Doc, s.Comment), value: v.literal, named: v.named}
				if i == 0 {
					c.group, c.first = firstText(g.Doc), true
				}
				p.decls = append(p.decls, c)
				if v.named != "" {
					p.consts[v.named] = append(p.consts[v.named], v.literal)
				}
			}
		}
	}
}

type constValue struct{ literal, named string }

// constants evaluates the packages' constants. Imports are not followed: no
// constant of the wire depends on one, and this keeps the command quick.
func constants(fset *token.FileSet, files []*ast.File) map[string]constValue {
	conf := types.Config{
		Importer:         noImports{},
		Error:            func(error) {}, // about the imports
		IgnoreFuncBodies: true,
	}
	p, _ := conf.Check("p", fset, files, nil)
	out := map[string]constValue{}
	for _, name := range p.Scope().Names() {
		c, ok := p.Scope().Lookup(name).(*types.Const)
		if !ok {
			continue
		}
		v := constValue{}
		switch c.Val().Kind() {
		case constant.String:
			v.literal = quote(constant.StringVal(c.Val()))
		case constant.Int:
			v.literal = c.Val().ExactString()
		default:
			continue
		}
		if n, ok := c.Type().(*types.Named); ok {
			v.named = n.Obj().Name()
		}
		out[name] = v
	}
	return out
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	p.MarkComplete()
	return p, nil
}

func firstText(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if t := strings.TrimSpace(g.Text()); t != "" {
			return t
		}
	}
	return ""
}
