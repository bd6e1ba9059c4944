package i18n

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// TestWhatThingsAreIsInTheCatalogue: what commands, tools and our skills do, what a
// person does at a network and what its settings are, and why Hearth is not certain what
// a command will do, is what translators see. Keys are made as those of errors.
func TestWhatThingsAreIsInTheCatalogue(t *testing.T) {
	texts := map[string]string{}
	readSource(t, "../../../gateway/feature", ofCommands, texts)
	readSource(t, "../../../gateway/channel", ofNetworks, texts)
	readSource(t, "../../../gateway/approval/plan", ofDoubts, texts)
	for _, root := range []string{"feature", "approval", "launch", "tool/shell", "sandbox"} {
		readSource(t, "../../../gateway/"+root, ofWarnings, texts)
	}
	readSource(t, "../../../gateway/provider", ofModels, texts)
	readSource(t, "../../../gateway/tool/policy", ofPolicy, texts)
	for _, root := range []string{"feature", "command", "approval/words", "provider/choice", "session", "systemprompt"} {
		readSource(t, "../../../gateway/"+root, ofReplies, texts)
	}
	readSource(t, "../../../gateway/safepath", ofPlaces, texts)
	readSource(t, "../../../gateway/tool/file", ofPlaces, texts)
	readSource(t, "../../../app/cli", said, texts)
	for _, tool := range append(glob(t, "../../../gateway/tool/*/*.md"), glob(t, "../../../gateway/feature/cron/*.md")...) {
		line, _, _ := strings.Cut(tool, "\n")
		if m := sentence.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			texts[m[1]] = key(m[1])
		}
	}
	for _, skill := range glob(t, "../../../skills/*/SKILL.md") {
		m := describes.FindStringSubmatch(skill)
		if m == nil {
			t.Fatalf("a skill describes itself in another way: %.80s", skill)
		}
		s, err := strconv.Unquote(m[1])
		if err != nil {
			t.Fatal(err)
		}
		texts[s] = key(s)
	}
	inCatalogue(t, "about.json", texts)
}

// sentence is what says what a tool is for, as the page has it (text/purpose.ts).
var sentence = regexp.MustCompile("^(.*?[.!?])(?:\\s+[\\p{Lu}`]|\\s*$)")

var describes = regexp.MustCompile(`(?m)^description: (".*")$`)

// glob are the texts of files.
func glob(t *testing.T, pattern string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// ofCommands is what a slash command does.
func ofCommands(_ string, n ast.Node) []ast.Expr {
	if lit, ok := n.(*ast.CompositeLit); ok && isA(lit.Type, "command", "Spec") {
		return fields(lit, "Description")
	}
	return nil
}

// ofPolicy is why a tool may not be used.
func ofPolicy(_ string, n ast.Node) []ast.Expr {
	switch x := n.(type) {
	case *ast.FuncDecl:
		if isNamed(x.Name, "below", "restricted") {
			return returned(x)
		}
	case *ast.CompositeLit:
		if name, ok := x.Type.(*ast.Ident); ok && name.Name == "Decision" {
			return fields(x, "Why")
		}
	}
	return nil
}

// ofNetworks is what the Kind of a network tells people.
func ofNetworks(_ string, n ast.Node) (out []ast.Expr) {
	if f, ok := n.(*ast.FuncDecl); ok && isNamed(f.Name, "Answer", "Answers", "Lacks") { // what is wrong with what was typed
		return returned(f)
	}
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	list, isList := lit.Type.(*ast.ArrayType)
	switch {
	case isA(lit.Type, "channel", "Kind"):
		for _, e := range fields(lit, "SetUp") {
			if steps, ok := e.(*ast.CompositeLit); ok {
				out = append(out, steps.Elts...)
			}
		}
		return append(out, fields(lit, "First", "CalledAs", "LogOut")...)
	case isList && isA(list.Elt, "channel", "Setting"):
		for _, e := range lit.Elts {
			if setting, ok := e.(*ast.CompositeLit); ok {
				out = append(out, fields(setting, "About", "Unset", "Help")...)
			}
		}
	}
	return out
}

// fields are the values of some of a literal's.
func fields(lit *ast.CompositeLit, names ...string) (out []ast.Expr) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && isNamed(kv.Key, names...) {
			out = append(out, kv.Value)
		}
	}
	return out
}

// ofDoubts are whole sentences, as people are warned.
func ofDoubts(_ string, n ast.Node) []ast.Expr {
	var code, words ast.Expr
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "doubt" && len(n.Args) == 2 {
			code, words = n.Args[0], n.Args[1]
		}
	case *ast.CompositeLit:
		if isNamed(n.Type, "Doubt") && len(n.Elts) == 2 {
			code, words = n.Elts[0], n.Elts[1]
		}
	case *ast.KeyValueExpr:
		if isNamed(n.Key, "doubt") { // of a wrapper
			return []ast.Expr{n.Value}
		}
	}
	if words == nil {
		return nil
	}
	d := plan.Doubt{Code: constant(code), Words: constant(words)}
	return []ast.Expr{&ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(d.Sentence())}}
}

// ofWarnings are the other sentences of a question: what a person should know before a
// yes, and why a script is not shown.
func ofWarnings(file string, n ast.Node) (out []ast.Expr) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if isNamed(n.Name, "Pinning") {
			return returned(n)
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			switch name := lastName(to); {
			case i >= len(n.Rhs):
			case name == "Warnings", name == "Words":
				out = append(out, elements(n.Rhs[i])...)
			case name == "Why", name == "NoSandbox", name == "words" && strings.Contains(file, "gateway/sandbox/"):
				out = append(out, n.Rhs[i])
			case name == "out" && strings.HasSuffix(file, "approval/plan/words.go"):
				out = append(out, elements(n.Rhs[i])...)
			}
		}
	case *ast.KeyValueExpr:
		if isNamed(n.Key, "Warnings", "Words") {
			return elements(n.Value)
		}
	}
	return out
}

// elements are those of a list that is written out, or what is appended to one.
func elements(e ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return e.Elts
	case *ast.CallExpr:
		if isNamed(e.Fun, "append") && len(e.Args) > 0 {
			return e.Args[1:]
		}
	}
	return nil
}

// ofModels is the name of the model that Hearth itself is.
func ofModels(_ string, n ast.Node) []ast.Expr {
	if lit, ok := n.(*ast.CompositeLit); ok && isNamed(lit.Type, "Entry") {
		return fields(lit, "Name")
	}
	return nil
}

// ofPlaces is why a person is asked about a file.
func ofPlaces(_ string, n ast.Node) (out []ast.Expr) {
	f, ok := n.(*ast.FuncDecl)
	if !ok || !isNamed(f.Name, "Judge", "Heeds", "judge") {
		return nil
	}
	for _, e := range returned(f) {
		if why := constant(e); strings.Contains(why, " ") {
			out = append(out, &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote("It is asked because " + why + ".")})
		}
	}
	return out
}

// said is what the command line says by its method say.
func said(_ string, n ast.Node) []ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "say" {
		return nil
	}
	if inner, ok := call.Args[0].(*ast.CallExpr); ok && isA(inner.Fun, "fmt", "Sprintf") {
		return inner.Args[:1]
	}
	return call.Args[:1]
}

// isA reports whether a type is that of a package.
func isA(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && isNamed(sel.X, pkg) && sel.Sel.Name == name
}

func isNamed(e ast.Expr, names ...string) bool {
	id, ok := e.(*ast.Ident)
	return ok && slices.Contains(names, id.Name)
}
