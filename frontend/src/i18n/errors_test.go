package i18n

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what errors say in English into the catalogue")

// TestErrorsAreInTheCatalogue: what the gateway and the command line say when
// something goes wrong is what translators see. A key is made of the English text, so
// that a text that changes has to be translated anew.
func TestErrorsAreInTheCatalogue(t *testing.T) {
	texts := map[string]string{}
	for _, root := range []string{"../../../gateway", "../../../app/cli", "../../../app/dial"} {
		readSource(t, root, texts)
	}
	var b bytes.Buffer
	b.WriteString("{")
	for i, text := range slices.Sorted(maps.Keys(texts)) {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		fmt.Fprintf(&b, "%s\n  %q: ", strings.Repeat(",", min(i, 1)), texts[text])
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("\n}\n")
	if *update {
		if err := os.WriteFile("en/errors.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("en/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Fatalf("en/errors.json is not what errors say: go test ./frontend/src/i18n -run %s -update, then the same keys in the other languages",
			t.Name())
	}
}

// readSource collects the texts of a tree of packages, with their keys.
func readSource(t *testing.T, root string, texts map[string]string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, e := range forPeople(n) {
				if text, letters := template(e); letters >= 10 && strings.Contains(text, " ") {
					sum := fnv.New32a()
					_, _ = sum.Write([]byte(text))
					texts[text] = fmt.Sprintf("e%08x", sum.Sum32()) // a number would come first in JavaScript
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// nextStep is in the text of an error that says what a person can do. Other errors
// are parts of sentences, or for logs.
var nextStep = regexp.MustCompile("; |`")

// forPeople are the expressions of a node that people read.
func forPeople(n ast.Node) (out []ast.Expr) {
	switch n := n.(type) {
	case *ast.CallExpr:
		name, last := "", ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name, last = f.Name, f.Name
		case *ast.SelectorExpr:
			last = f.Sel.Name
			if pkg, ok := f.X.(*ast.Ident); ok {
				name = pkg.Name + "." + f.Sel.Name
			}
		}
		switch {
		case len(n.Args) == 0:
		case last == "ok" || last == "warn" || last == "fail": // of the doctor
			return n.Args
		case name == "protocol.Invalid", name == "usage":
			return n.Args[:1]
		case name == "protocol.Unavailable" && len(n.Args) > 1:
			return n.Args[1:2]
		case name == "errors.New", name == "fmt.Errorf":
			if text, _ := template(n.Args[0]); nextStep.MatchString(text) {
				return n.Args[:1]
			}
		}
	case *ast.CompositeLit:
		if id, ok := n.Type.(*ast.Ident); ok && id.Name == "failure" {
			return n.Elts
		}
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Message", "What", "Advice", "message", "hint"}, id.Name) {
			return []ast.Expr{n.Value}
		}
	}
	return nil
}

var verb = regexp.MustCompile(`%(?:%|[-+# 0]*\d*(?:\.\d+)?(?:\[\d+\])?[a-zA-Z])|\x00`)

var command = regexp.MustCompile("`[^`]*`")

// template is a text with {1} for what is put in, and how many letters it has itself
// that are not what somebody types.
func template(e ast.Expr) (text string, letters int) {
	n := 0
	text = verb.ReplaceAllStringFunc(constant(e), func(v string) string {
		if v == "%%" {
			return "%"
		}
		n++
		return fmt.Sprintf("{%d}", n)
	})
	for _, r := range command.ReplaceAllString(slot.ReplaceAllString(text, ""), "") {
		if r >= 'a' && r <= 'z' {
			letters++
		}
	}
	return strings.TrimSpace(text), letters
}

// constant is an expression's text, with NUL for what is known only at run time.
func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return constant(e.X) + constant(e.Y)
	case *ast.ParenExpr:
		return constant(e.X)
	case *ast.KeyValueExpr:
		return ""
	}
	return "\x00"
}
