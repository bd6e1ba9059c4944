package chat

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A reply names every rule and every state in words, none by its code.
func TestWhyHasWordsForEveryRule(t *testing.T) {
	for _, code := range constants(t, "WhyRule") {
		if got := ruleWords(protocol.WhyReason{Rule: protocol.WhyRule(code), Detail: "…"}); strings.HasPrefix(got, code+":") {
			t.Errorf("%s: %q", code, got)
		}
	}
	for _, code := range constants(t, "ReceiptState") {
		if got := stateWords(protocol.ReceiptState(code)); got == code {
			t.Errorf("%s has no words", code)
		}
	}
}

// constants are the values of a type's constants in package protocol.
func constants(t *testing.T, of string) (out []string) {
	t.Helper()
	sources, err := filepath.Glob("../../protocol/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of {
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, value)
			}
			return true
		})
	}
	if len(out) < 5 {
		t.Fatalf("%d constants of %s: %v", len(out), of, out)
	}
	return out
}
