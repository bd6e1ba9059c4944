package meta

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hearth-assistant/hearth"

// file is one Go file of the repository.
type file struct {
	path  string // from the root, with slashes
	dir   string
	test  bool // a _test.go file, or of the package that tests share
	lines int
	ast   *ast.File
	fset  *token.FileSet
}

func (f *file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// main reports whether the file belongs to a program, which is where contexts
// and flags begin.
func (f *file) main() bool { return f.ast.Name.Name == "main" }

// prod files are what people run: not tests, not the tools in build/.
func (f *file) prod() bool { return !f.test && !strings.HasPrefix(f.path, "build/") }

// imports returns the file's import paths; ours without the module's name.
func (f *file) imports() []string {
	var out []string
	for _, s := range f.ast.Imports {
		p := strings.Trim(s.Path.Value, `"`)
		if p == module {
			p = "."
		}
		out = append(out, strings.TrimPrefix(p, module+"/"))
	}
	return out
}

// localName is the name under which the file knows a package, "" when it does
// not import it.
func (f *file) localName(pkg string) string {
	for _, s := range f.ast.Imports {
		if strings.Trim(s.Path.Value, `"`) != pkg {
			continue
		}
		if s.Name != nil {
			return s.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// calls returns the calls of pkg.name in the file.
func (f *file) calls(pkg string, names ...string) []*ast.CallExpr {
	local := f.localName(pkg)
	if local == "" {
		return nil
	}
	var out []*ast.CallExpr
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
			for _, name := range names {
				if sel.Sel.Name == name {
					out = append(out, call)
				}
			}
		}
		return true
	})
	return out
}

// uses returns where the file names something of a package, but for some names.
func (f *file) uses(pkg string, but ...string) []ast.Node {
	local := f.localName(pkg)
	if local == "" {
		return nil
	}
	if local == "v2" {
		local = path.Base(path.Dir(pkg))
	}
	var out []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && !slices.Contains(but, sel.Sel.Name) {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
				out = append(out, sel)
			}
		}
		return true
	})
	return out
}

func parse(fset *token.FileSet, name string, src []byte) (*file, error) {
	a, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &file{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go") || path.Dir(name) == wholeGateway,
		lines: strings.Count(string(src), "\n"), ast: a, fset: fset}, nil
}

// repository parses every Go file that is ours.
func repository(t *testing.T) []*file {
	t.Helper()
	root := filepath.Join("..", "..")
	fset := token.NewFileSet()
	var files []*file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipped(rel, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parse(fset, rel, src)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found only %d Go files below %s", len(files), root)
	}
	return files
}

func skipped(rel, name string) bool {
	switch rel {
	case "build/cache", "build/bin", "frontend/node_modules", "frontend/dist":
		return true
	}
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// rule looks at all files and returns what breaks it, one line each.
type rule struct {
	name  string
	check func([]*file) []string
}

func rules() []rule {
	return []rule{
		{"imports go one way", importDirection},
		{"tests of a whole gateway stand outside of it", testDirection},
		{"one room owns each library", libraryOwners},
		{"packages say what they own", packageDocs},
		{"no init functions", noInit},
		{"tests do not sleep", noSleep},
		{"contexts come from main", noBackground},
		{"package variables do not change", noGlobals},
		{"files stay small", fileSize},
		{"functions stay small", functionSize},
		{"A-SEC-12 randomness is crypto/rand", strongRandom},
		{"random tests can be repeated", repeatable},
		{"secrets are compared in constant time", constantTime},
		{"A-SSRF-07 one way out", oneWayOut},
		{"a network is known to its folder", networksApart},
		{"comments cite what is there", citations},
		{"an exported type's name has one meaning in its tree", oneMeaning},
		{"nothing asks whether a part was made already", startOrder},
	}
}

func TestHouse(t *testing.T) {
	files := repository(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, line := range r.check(files) {
				t.Error(line)
			}
		})
	}
}

// TestRulesCanFail gives every rule something that it must refuse.
func TestRulesCanFail(t *testing.T) {
	long := strings.Repeat("\n", maxFileLines+1)
	bad := map[string]struct{ path, src string }{
		"imports go one way": {"gateway/session/a.go",
			"package session\nimport _ \"" + module + "/gateway/server\""},
		"tests of a whole gateway stand outside of it": {"gateway/feature/cron/a_test.go",
			"package cron\nimport _ \"" + module + "/gateway/gatewaytest\""},
		"one room owns each library": {"gateway/session/a.go",
			"package session\nimport _ \"go.etcd.io/bbolt\""},
		"packages say what they own":       {"gateway/session/a.go", "package session"},
		"no init functions":                {"gateway/session/a.go", "package session\nfunc init() {}"},
		"comments cite what is there":      {"gateway/session/a.go", "package session\n// x is long (messages.md, “Lanes”).\nvar x int"},
		"a network is known to its folder": {"gateway/session/a.go", "package session\nconst id = \"Telegram\""},
		"tests do not sleep": {"gateway/session/a_test.go",
			"package session\nimport tt \"time\"\nfunc f() { tt.Sleep(1) }"},
		"contexts come from main": {"gateway/session/a.go",
			"package session\nimport \"context\"\nvar c = context.Background()"},
		"package variables do not change": {"gateway/session/a.go",
			"package session\nvar m = map[int]int{}\nfunc f() { m[1] = 2 }"},
		"files stay small":     {"gateway/session/a.go", "package session" + long},
		"functions stay small": {"gateway/session/a.go", "package session\nfunc f() {" + long + "}"},
		"A-SEC-12 randomness is crypto/rand": {"gateway/session/a.go",
			"package session\nimport _ \"math/rand/v2\""},
		"random tests can be repeated": {"gateway/session/a_test.go",
			"package session\nimport \"math/rand/v2\"\nvar r = rand.New(rand.NewPCG(1, 2))"},
		"secrets are compared in constant time": {"gateway/pairing/a.go",
			"package pairing\nfunc f(a, b struct{ Token string }) bool { return a.Token == b.Token }"},
		"an exported type's name has one meaning in its tree": {"gateway/session/a.go", "package session\ntype Entry struct{}"},
		"nothing asks whether a part was made already":        {"gateway/a.go", "package gateway\nvar no = g.store == nil"},
		"A-SSRF-07 one way out": {"gateway/session/a.go",
			"package session\nimport \"net/http\"\nvar c = http.Client{Transport: &http.Transport{}}"},
	}
	for _, r := range rules() {
		src, ok := bad[r.name]
		if !ok {
			t.Errorf("no example breaks the rule %q", r.name)
			continue
		}
		f, err := parse(token.NewFileSet(), src.path, []byte(src.src))
		if err != nil {
			t.Fatal(err)
		}
		other, err := parse(token.NewFileSet(), "gateway/session/policy/a.go", []byte("package policy\ntype Entry struct{}"))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.check([]*file{f, other})) == 0 {
			t.Errorf("the rule %q accepts:\n%.300s", r.name, src.src)
		}
	}
}
