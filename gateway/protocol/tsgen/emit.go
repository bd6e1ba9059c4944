package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

const header = `// Generated from gateway/protocol by "go run ./gateway/protocol/tsgen". Do not edit.
// A field is optional when Go leaves it out (omitempty, omitzero) and may be
// null when Go sends a null.
`

func (s *source) emit() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header)
	for _, d := range s.main.decls {
		if err := s.emitDecl(&b, d); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	if err := s.emitSurface(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (s *source) emitDecl(b *bytes.Buffer, d decl) error {
	if d.typ == nil {
		if d.first {
			b.WriteString("\n")
		}
		if d.group != "" {
			fmt.Fprintf(b, "// %s\n", strings.ReplaceAll(d.group, "\n", "\n// "))
		}
		comment(b, "", d.doc)
		fmt.Fprintf(b, "export const %s = %s;\n", d.name, d.value)
		return nil
	}
	switch t := d.typ.(type) {
	case *ast.StructType:
		fields, err := s.fields(s.main, t)
		if err != nil {
			return err
		}
		if fields == "" {
			return nil // nothing of it goes over the wire
		}
		b.WriteString("\n")
		comment(b, "", d.doc)
		fmt.Fprintf(b, "export interface %s {\n%s}\n", d.name, fields)
	case *ast.InterfaceType, *ast.FuncType:
		return nil // behaviour, not a shape
	default:
		ts := strings.Join(s.main.consts[d.name], " | ")
		if ts == "" {
			var err error
			if ts, err = s.tsType(s.main, t); err != nil {
				return err
			}
		}
		b.WriteString("\n")
		comment(b, "", d.doc)
		fmt.Fprintf(b, "export type %s = %s;\n", d.name, ts)
	}
	return nil
}

// fields lists a struct's wire fields; embedded structs are flattened, as
// encoding/json does.
func (s *source) fields(p *pkg, st *ast.StructType) (string, error) {
	var b bytes.Buffer
	for _, f := range st.Fields.List {
		name, opts := jsonTag(f)
		if len(f.Names) == 0 && name == "" {
			ep, est, err := s.embedded(p, f.Type)
			if err != nil {
				return "", err
			}
			inner, err := s.fields(ep, est)
			if err != nil {
				return "", err
			}
			b.WriteString(inner)
			continue
		}
		if name == "-" || name == "" {
			continue // not on the wire
		}
		ts, err := s.tsType(p, f.Type)
		if err != nil {
			return "", fmt.Errorf("field %s: %w", name, err)
		}
		optional := strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		mark := ""
		if optional {
			mark = "?"
			if _, ok := f.Type.(*ast.StarExpr); ok {
				ts = strings.TrimSuffix(ts, " | null") // left out instead
			}
		}
		comment(&b, "  ", firstText(f.Doc, f.Comment))
		fmt.Fprintf(&b, "  %s%s: %s;\n", name, mark, ts)
	}
	return b.String(), nil
}

// jsonTag returns the field's wire name ("" without a tag) and its options.
func jsonTag(f *ast.Field) (name, opts string) {
	if f.Tag == nil {
		return "", ""
	}
	raw, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", ""
	}
	name, opts, _ = strings.Cut(reflect.StructTag(raw).Get("json"), ",")
	return name, opts
}

func (s *source) embedded(p *pkg, t ast.Expr) (*pkg, *ast.StructType, error) {
	var name string
	switch t := t.(type) {
	case *ast.Ident:
		name = t.Name
	case *ast.SelectorExpr:
		name = t.Sel.Name
		if x, ok := t.X.(*ast.Ident); ok {
			p = s.pkgs[x.Name]
		}
	}
	if p != nil && p.structs[name] != nil {
		return p, p.structs[name], nil
	}
	return nil, nil, fmt.Errorf("embedded type %s is not a struct that tsgen reads; name its package in generate", name)
}

// tsType translates the type of a field.
func (s *source) tsType(p *pkg, t ast.Expr) (string, error) {
	switch t := t.(type) {
	case *ast.Ident:
		return s.identType(p, t.Name)
	case *ast.StarExpr:
		in, err := s.tsType(p, t.X)
		return in + " | null", err
	case *ast.ArrayType:
		if id, ok := t.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "string", nil // base64
		}
		in, err := s.tsType(p, t.Elt)
		if strings.Contains(in, " ") {
			in = "(" + in + ")"
		}
		return in + "[]", err
	case *ast.MapType:
		in, err := s.tsType(p, t.Value)
		return "Record<string, " + in + ">", err
	case *ast.IndexExpr: // Patch[T]: absent, null or a value
		if id, ok := t.X.(*ast.Ident); !ok || id.Name != "Patch" {
			return "", fmt.Errorf("no TypeScript for the generic type %v", t.X)
		}
		in, err := s.tsType(p, t.Index)
		return in + " | null", err
	case *ast.SelectorExpr:
		if x, ok := t.X.(*ast.Ident); ok && x.Name == "json" && t.Sel.Name == "RawMessage" {
			return "unknown", nil
		}
		return "", fmt.Errorf("no TypeScript for %v.%s", t.X, t.Sel.Name)
	}
	return "", fmt.Errorf("no TypeScript for %T", t)
}

func (s *source) identType(p *pkg, name string) (string, error) {
	switch name {
	case "string":
		return "string", nil
	case "bool":
		return "boolean", nil
	case "any":
		return "unknown", nil
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64":
		return "number", nil
	}
	for _, d := range s.main.decls {
		if d.name == name && d.typ != nil && p == s.main {
			return name, nil
		}
	}
	return "", fmt.Errorf("no TypeScript for %s", name)
}

func comment(b *bytes.Buffer, indent, doc string) {
	if doc == "" {
		return
	}
	doc = strings.ReplaceAll(doc, "*/", "* /")
	lines := strings.Split(doc, "\n")
	if len(lines) == 1 {
		fmt.Fprintf(b, "%s/** %s */\n", indent, doc)
		return
	}
	fmt.Fprintf(b, "%s/**\n", indent)
	for _, l := range lines {
		fmt.Fprintf(b, "%s%s\n", indent, strings.TrimRight(" * "+l, " "))
	}
	fmt.Fprintf(b, "%s */\n", indent)
}

// quote is a TypeScript string literal; Go's own escapes are a subset of it.
func quote(s string) string { return strconv.Quote(s) }
