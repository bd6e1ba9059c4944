package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// languageCase is one clause of the language's specification: a program, and
// the value that the clause asks for.
type languageCase struct {
	name, code, want string
	differs          string // why the engine gives something else, as is known
}

// languageCases reads a file of cases: "### clause", the program, then
// "=> value", or "=>! value | why the engine differs".
func languageCases(t *testing.T, file string) (cases []languageCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(data), "\n### ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		rest = strings.TrimRight(rest, "\n")
		at := strings.LastIndex(rest, "\n=>")
		if at < 0 {
			t.Fatalf("%s: %s has no value", file, name)
		}
		c := languageCase{name: name, code: rest[:at], want: strings.TrimSpace(rest[at+3:])}
		if known, ok := strings.CutPrefix(c.want, "!"); ok {
			c.want, c.differs, _ = strings.Cut(strings.TrimSpace(known), " | ")
		}
		if !json.Valid([]byte(c.want)) {
			t.Fatalf("%s: the value of %s is no JSON: %s", file, name, c.want)
		}
		cases = append(cases, c)
	}
	return cases
}

// TestLanguage runs every case through `hearth code run`, all of them in one
// go: none may crash the engine or hang it, and what is known to differ from
// the specification is listed as such, here and in docs/code-mode.md.
func TestLanguage(t *testing.T) {
	files, err := filepath.Glob("testdata/language/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/code-mode.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args, byFile := []string{"code", "run", "--no-tools", "--json"}, map[string]languageCase{}
	for _, file := range files {
		ext := ".js"
		if strings.HasSuffix(file, "typescript.txt") {
			ext = ".ts"
		}
		for i, c := range languageCases(t, file) {
			name := filepath.Join(dir, fmt.Sprintf("%s-%03d%s", strings.TrimSuffix(filepath.Base(file), ".txt"), i, ext))
			if err := os.WriteFile(name, []byte(c.code), 0o600); err != nil {
				t.Fatal(err)
			}
			args, byFile[name] = append(args, name), c
		}
	}
	if len(byFile) < 400 {
		t.Fatalf("only %d cases were found", len(byFile))
	}
	var out, errs bytes.Buffer
	Main(t.Context(), args, World{In: strings.NewReader(""), Out: &out, Err: &errs, Version: "test", Env: func(name string) string {
		if name == "HEARTH_HOME" {
			return filepath.Join(dir, "home")
		}
		return ""
	}})
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var res struct {
			File, Status, Error, Code string
			Value                     json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &res); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		c, ok := byFile[res.File]
		if !ok {
			t.Fatalf("a result of %s", res.File)
		}
		delete(byFile, res.File)
		right := res.Status == "completed" && equalJSON(t, []byte(c.want), res.Value)
		switch {
		case res.Code != "" && c.differs == "":
			t.Errorf("%s\n%s\nended with %s: %s", c.name, c.code, res.Code, res.Error)
		case right && c.differs != "":
			t.Errorf("%s: is right now; it need not be listed as one that is not", c.name)
		case !right && c.differs == "":
			t.Errorf("%s\n%s\ngave %s %s, want %s", c.name, c.code, res.Value, res.Error, c.want)
		case c.differs != "" && !bytes.Contains(doc, []byte(c.differs)):
			t.Errorf("%s: docs/code-mode.md does not say %q", c.name, c.differs)
		}
	}
	for _, c := range byFile {
		t.Errorf("%s has no result", c.name)
	}
	if t.Failed() {
		t.Logf("on standard error:\n%s", errs.String())
	}
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
