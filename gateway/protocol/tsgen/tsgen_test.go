package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/shapes.ts")

// TestShapes covers the mapping on a package made for it.
func TestShapes(t *testing.T) {
	src, err := load("testdata", "shapes", "base")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range src.main.decls {
		got, err := emitOne(src, d)
		if err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		b.WriteString(got)
	}
	golden := filepath.Join("testdata", "shapes.ts")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("TypeScript differs from %s (-want +got), run with -update when that is right:\n%s", golden, diff)
	}
}

// TestRefusesWhatItCannotSay: a wrong guess would be worse than a failed build.
func TestRefusesWhatItCannotSay(t *testing.T) {
	src, err := load("testdata", "odd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range src.main.decls {
		if got, err := emitOne(src, d); err == nil {
			t.Errorf("%s was translated to %q; want an error", d.name, got)
		}
	}
}

func emitOne(src *source, d decl) (string, error) {
	var b bytes.Buffer
	err := src.emitDecl(&b, d)
	return b.String(), err
}

func TestSurfaceNamesEveryMethodAndEvent(t *testing.T) {
	rows := methodShapes()
	if err := sameNames("method", rows[1:], methodNames()); err == nil {
		t.Error("a method without a row was not noticed")
	}
	if err := sameNames("method", append(rows, shape{method: "no.such"}), methodNames()); err == nil {
		t.Error("a row without a method was not noticed")
	}
}

// TestUpToDate keeps the committed file and the Go types together.
func TestUpToDate(t *testing.T) {
	if err := run(true); err != nil {
		t.Error(err)
	}
}

func TestDeterministic(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	a, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		b, err := generate(root)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(a), string(b)); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
	}
}
