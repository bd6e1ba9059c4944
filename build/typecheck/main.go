// Command typecheck reads every package of ours as another system compiles it,
// with its tests, and says what does not fit together. go vet does that as well,
// and much more, which needs to be done again only where the files differ:
// -differing lists those packages instead.
//
// It takes the system from GOOS and GOARCH. Our packages are read from their
// sources, one after the other; of others it reads what the compiler exported,
// which is there already when a program was built for that system.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	differing := flag.Bool("differing", false, "list the packages that have other files than on this system")
	flag.Parse()
	run := check
	if *differing {
		run = differ
	}
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// pkg is what go list says of a package, of its test as well.
type pkg struct {
	ImportPath, Dir, Export            string
	Module                             *struct{ Main bool }
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports                            []string
	ImportMap                          map[string]string
}

// ours leaves out the program of a test, whose only file go test writes.
func (p *pkg) ours() bool {
	return p.Module != nil && p.Module.Main && !strings.HasSuffix(p.ImportPath, ".test")
}

// list runs go list for a system, "" for this one.
func list(system []string, args ...string) ([]*pkg, error) {
	fields := "-json=ImportPath,Dir,Export,Module,GoFiles,TestGoFiles,XTestGoFiles,Imports,ImportMap"
	cmd := exec.Command("go", append([]string{"list", fields}, args...)...)
	cmd.Env = append(os.Environ(), system...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, said.Bytes())
	}
	var pkgs []*pkg
	for d := json.NewDecoder(bufio.NewReader(bytes.NewReader(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list said: %w", err)
		}
		pkgs = append(pkgs, &p)
	}
}

// differ lists the packages whose files are not those of this system.
func differ(out io.Writer) error {
	here, err := list([]string{"GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}, "./...")
	if err != nil {
		return err
	}
	there, err := list(nil, "./...")
	if err != nil {
		return err
	}
	files := map[string][]string{}
	for _, p := range here {
		files[p.ImportPath] = p.files()
	}
	for _, p := range there {
		if !slices.Equal(files[p.ImportPath], p.files()) {
			fmt.Fprintln(out, p.ImportPath)
		}
	}
	return nil
}

func (p *pkg) files() []string { return slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) }

// check reads all packages of ours and fails when one does not fit together.
func check(out io.Writer) error {
	pkgs, err := list(nil, "-deps", "-test", "./...") // each after what it imports
	if err != nil {
		return err
	}
	compiled, err := exports(pkgs)
	if err != nil {
		return err
	}
	c := checker{fset: token.NewFileSet(), read: map[string]*types.Package{}, parsed: map[string]*ast.File{}, exports: map[string]string{}}
	for _, p := range compiled {
		c.exports[p.ImportPath] = p.Export
	}
	c.others = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) })
	n := 0
	for _, p := range pkgs {
		if p.ours() {
			n++
			c.check(p)
		}
	}
	for _, err := range c.wrong {
		fmt.Fprintln(out, err)
	}
	if len(c.wrong) > 0 {
		return fmt.Errorf("%d mistakes for %s", len(c.wrong), cmp.Or(os.Getenv("GOOS"), runtime.GOOS))
	}
	fmt.Fprintf(out, "%d packages and tests fit together\n", n)
	return nil
}

// exports are the others that ours import, with what the compiler exported of them.
func exports(pkgs []*pkg) ([]*pkg, error) {
	known := map[string]bool{"unsafe": true, "C": true}
	for _, p := range pkgs {
		if p.ours() {
			known[p.ImportPath] = true
		}
	}
	var others []string
	for _, p := range pkgs {
		if !p.ours() {
			continue
		}
		for _, path := range p.Imports {
			if !known[path] {
				known[path] = true
				others = append(others, path)
			}
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	return list(nil, append([]string{"-export"}, others...)...)
}

// checker reads packages in the order of their imports.
type checker struct {
	fset    *token.FileSet
	read    map[string]*types.Package // ours, by import path, tests with theirs behind a space
	parsed  map[string]*ast.File
	exports map[string]string // of others: files of what they export
	others  types.Importer
	wrong   []error
}

func (c *checker) check(p *pkg) {
	var files []*ast.File
	for _, name := range p.GoFiles { // go list names those of the test here as well
		f, err := c.parse(filepath.Join(p.Dir, name))
		if err != nil {
			c.wrong = append(c.wrong, err)
			return
		}
		files = append(files, f)
	}
	conf := types.Config{
		Importer: imports{c, p.ImportMap},
		Sizes:    types.SizesFor("gc", cmp.Or(os.Getenv("GOARCH"), runtime.GOARCH)),
		Error:    func(err error) { c.wrong = append(c.wrong, err) },
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c.read[p.ImportPath], _ = conf.Check(path, c.fset, files, nil) // its error is one that was kept
}

func (c *checker) parse(name string) (*ast.File, error) {
	if f := c.parsed[name]; f != nil {
		return f, nil
	}
	f, err := parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution)
	c.parsed[name] = f
	return f, err
}

// imports are those of one package: a test sees others as they are for it.
type imports struct {
	c       *checker
	renamed map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i.c.read[cmp.Or(i.renamed[path], path)]; p != nil {
		return p, nil
	}
	return i.c.others.Import(path)
}
