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
		readSource(t, root, ofErrors, texts)
	}
	inCatalogue(t, "errors.json", texts)
}

// inCatalogue compares texts with those of a file of English, which -update writes.
func inCatalogue(t *testing.T, file string, texts map[string]string) {
	t.Helper()
	file = "en/" + file
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
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Fatalf("%s is not what the programs say: go test ./frontend/src/i18n -run %s -update, then the same keys in the other languages",
			file, t.Name())
	}
}

// readSource collects the texts of a tree of packages, with their keys. chosen are the
// expressions of a node that people read.
func readSource(t *testing.T, root string, chosen func(file string, n ast.Node) []ast.Expr, texts map[string]string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasSuffix(name, "test") || d.Name() == "scripted"): // servers and models that tests talk to
			return filepath.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, e := range chosen(filepath.ToSlash(name), n) {
				text, letters := template(e)
				if letters >= leastOf(name) && (strings.Contains(text, " ") || single.MatchString(filepath.ToSlash(name))) {
					texts[text] = key(text)
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

// key is made of the text, so that one that changes is translated anew.
func key(text string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(text))
	return fmt.Sprintf("e%08x", sum.Sum32()) // a number would come first in JavaScript
}

// nextStep is in the text of an error that says what a person can do. Other errors
// are parts of sentences, or for logs.
var nextStep = regexp.MustCompile("; |`|[.] [A-Z]|could not be reached for")

// ofErrors are what a node says when something goes wrong.
func ofErrors(file string, n ast.Node) (out []ast.Expr) {
	if strings.HasSuffix(file, "sandbox/profile.go") { // macOS reads that
		return nil
	}
	if sentences.MatchString(file) {
		out = ofSentences(n)
	}
	return append(out, ofFailures(file, n)...)
}

// ofFailures are errors, problems, and what is told of a run.
func ofFailures(file string, n ast.Node) (out []ast.Expr) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if wording.MatchString(file + ":" + n.Name.Name) {
			return returned(n)
		}
	case *ast.ReturnStmt:
		if whole.MatchString(file) {
			return n.Results
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if i < len(n.Rhs) && (toldFields[lastName(to)] || whole.MatchString(file)) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	case *ast.ValueSpec:
		for i, name := range n.Names {
			told := strings.HasSuffix(name.Name, "Text") && strings.Contains(file, "gateway/session/") ||
				strings.HasSuffix(name.Name, "Advice") && strings.Contains(file, "app/cli/")
			if i < len(n.Values) && told {
				out = append(out, n.Values[i])
			}
		}
		return out
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
		case name == "append" && whole.MatchString(file):
			return n.Args[1:]
		case last == "ok", last == "warn", last == "fail": // of the doctor
			return n.Args
		case last == "add" && strings.HasPrefix(lastName(n.Args[0]), "Check"): // likewise
			return n.Args
		case last == "note", name == "v.Warn": // of settings
			return n.Args[:1]
		case name == "config.Notice": // of settings
			return n.Args[:1]
		case last == "Notice" || name == "by.tell": // of a conversation
			return n.Args[1:]
		case name == "s.nearest": // of an allowance
			return n.Args[:1]
		case last == "because" && len(n.Args) > 2: // of a run
			return n.Args[2:3]
		case name == "protocol.Invalid", name == "usage":
			return n.Args[:1]
		case name == "protocol.Unavailable" && len(n.Args) > 1:
			return n.Args[1:2]
		case name == "v.Doubt": // of settings that a person types
			return n.Args[:1]
		case name == "d.issue" && strings.HasSuffix(file, "config/decode.go"): // likewise, apart from what no field can write
			if text, _ := template(n.Args[1]); !strings.Contains(text, ", found ") {
				return n.Args[1:2]
			}
		case name == "errors.New", name == "fmt.Errorf":
			if strings.HasSuffix(file, "config/text_kinds.go") {
				return n.Args[:1]
			}
			if text, _ := template(n.Args[0]); nextStep.MatchString(text) {
				return n.Args[:1]
			}
		}
	case *ast.CompositeLit:
		if id, ok := n.Type.(*ast.Ident); ok && id.Name == "failure" || whole.MatchString(file) {
			return n.Elts
		}
	case *ast.KeyValueExpr:
		if toldFields[lastName(n.Key)] {
			return []ast.Expr{n.Value}
		}
	}
	return nil
}

// leastOf is how many letters of its own a text of a file has at least: what is said of
// a run is short.
func leastOf(file string) int {
	if replying.MatchString(filepath.ToSlash(file)) {
		return 3
	}
	if short.MatchString(filepath.ToSlash(file)) {
		return 5
	}
	return 10
}

// short are files whose texts are short ones.
var short = regexp.MustCompile(`gateway/(session/\w+|modelcheck/words|provider/(failover/reason|exhausted)|spend/allowance)\.go$`)

// returned is what a function returns and what it sets something to.
func returned(f *ast.FuncDecl) (out []ast.Expr) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			out = append(out, n.Results...)
		case *ast.AssignStmt:
			out = append(out, n.Rhs...)
		}
		return true
	})
	return out
}

// toldFields are fields and variables whose texts people are told.
var toldFields = map[string]bool{
	"Message": true, "message": true, "What": true, "what": true, "Advice": true, "advice": true, "hint": true,
	"Error": true, "Reason": true, "Problem": true, "problem": true,
}

// single are files of whose texts some are one word.
var single = regexp.MustCompile(`gateway/(spend/allowance|session/context|systemprompt/parts|feature/chat/why)\.go$`)

// wording are functions that return words: why a run went as it did, what a conversation is
// told of its model, and why a tool is not there.
var wording = regexp.MustCompile(`:(choiceOf|describe|Found|helpOf)$|session/failover\.go:notice$|failover/reason\.go:Words$|` +
	`feature/nodes/nodes\.go:rule$`)

// whole are files all of whose texts are told.
var whole = regexp.MustCompile(`gateway/(provider/explain\w*|modelcheck/words|feature/cron/(alert|command))\.go$`)

// sentences are files whose whole sentences are told, those of others being for models, logs
// or who writes from a network.
var sentences = regexp.MustCompile(`gateway/(provider/(look|detect|exhausted|view)|provider/(choice|foreign)/\w+|session/(settle|recover)` +
	`|feature/(database|update|incidents)/\w+|method/errors|move/words|channel/(hub/status|telegram/(telegram|webhook|receive))` +
	`|channel/\w+/client/(client|sync|login|own|backup|rooms|trust|verify|verify_end|send)|task/\w+|job/loop` +
	`|secret/(lookup/keep|keeper/elsewhere)|sandbox/sandbox_other|taint/taint|spend/budget/wait` +
	`|schedule/words|startup/startup|when/when)\.go$`)

// ofSentences are whole sentences wherever they stand, apart from what is logged.
func ofSentences(n ast.Node) (out []ast.Expr) {
	var all []ast.Expr
	switch n := n.(type) {
	case *ast.ReturnStmt:
		all = n.Results
	case *ast.AssignStmt:
		all = n.Rhs
	case *ast.ValueSpec:
		all = n.Values
	case *ast.KeyValueExpr:
		all = []ast.Expr{n.Value}
	case *ast.CompositeLit:
		all = n.Elts
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); !ok || !slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Errorf", "New"}, f.Sel.Name) {
			all = n.Args
		}
	}
	for _, e := range all {
		if text, _ := template(e); wholeSentence.MatchString(text) {
			out = append(out, e)
		}
	}
	return out
}

var wholeSentence = regexp.MustCompile(`^[A-Z{].* .* .*([.]$|[.] [A-Z` + "`" + `])`)

// lastName is what a field or a variable is called.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
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
	case *ast.CallExpr:
		if isA(e.Fun, "fmt", "Sprintf") && len(e.Args) > 0 {
			return constant(e.Args[0])
		}
	}
	return "\x00"
}
