package typescript

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"
)

// normal is the program as esbuild prints it. Two texts with one normal form
// are one program.
func normal(code string, loader api.Loader) (string, bool) {
	r := api.Transform("async function __cell() {"+code+"\n}", api.TransformOptions{
		Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent, TreeShaking: api.TreeShakingFalse,
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true}}`,
	})
	return string(r.Code), len(r.Errors) == 0
}

var parameterProperty = regexp.MustCompile(`constructor\([^)]*\b(private|public|protected|readonly)\b`)

func lines(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool { return strings.TrimSpace(l) == ";" })
}

// checkAgainst compares what Transform makes of code with what esbuild makes
// of it, and the lines and columns of what stays with those of code.
func checkAgainst(t *testing.T, code string) {
	t.Helper()
	want, ok := normal(code, api.LoaderTS)
	if !ok {
		t.Fatalf("esbuild refuses the program:\n%s", code)
	}
	js, err := Transform(t.Context(), code)
	if err != nil {
		t.Fatalf("Transform: %v\n%s", err, code)
	}
	got, ok := normal(js, api.LoaderJS)
	if !ok {
		t.Fatalf("esbuild refuses the result:\n%s", js)
	}
	// A statement that went leaves a semicolon; esbuild writes a constructor
	// with parameter properties before the fields.
	wantLines, gotLines := lines(want), lines(got)
	if parameterProperty.MatchString(code) {
		slices.Sort(wantLines)
		slices.Sort(gotLines)
	}
	if diff := cmp.Diff(wantLines, gotLines); diff != "" {
		t.Errorf("(-esbuild +ours):\n%s", diff)
	}
	if strings.Count(js, "\n") != strings.Count(code, "\n") {
		t.Errorf("the lines moved:\n%s", js)
	}
}

// imports and exports are no part of a program; the page's files have both.
var (
	importRE = regexp.MustCompile(`(?ms)^import\b.*?;$`)
	exportRE = regexp.MustCompile(`(?m)^export (default )?`)
)

// TestOraclePage erases the types of the page's own sources.
func TestOraclePage(t *testing.T) {
	files, root := 0, "../../../frontend/src"
	if r := os.Getenv("TSROOT"); r != "" {
		root = r
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".ts") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		code := importRE.ReplaceAllStringFunc(string(data), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
		code = exportRE.ReplaceAllString(code, "")
		if strings.Contains(code, "import(") || strings.Contains(code, "import.meta") || strings.Contains(code, "\nexport") || strings.Contains(code, "\n} from") {
			code = strings.NewReplacer("import(", "load(", "import.meta", "meta").Replace(code)
		}
		if _, ok := normal(code, api.LoaderTS); !ok {
			return nil
		}
		files++
		t.Run(path, func(t *testing.T) { checkAgainst(t, code) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d files were compared", files)
	}
}
