package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t *testing.T, s string) *document {
	t.Helper()
	d, err := parse(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d
}

// TestEdits reads testdata/edits/*.txt: the text, then steps "> set path value",
// "> unset path" or "> merge patch", each followed by the text it must give.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/edits/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split("\n"+string(b), "\n> ")
			src := parts[0][1:] + "\n"
			for i, p := range parts[1:] {
				step, want, _ := strings.Cut(p, "\n")
				if i < len(parts)-2 {
					want += "\n"
				}
				src = runStep(t, src, step)
				if diff := cmp.Diff(want, src); diff != "" {
					t.Fatalf("after %q:\n%s", step, diff)
				}
			}
		})
	}
}

func runStep(t *testing.T, src, step string) string {
	t.Helper()
	f := strings.SplitN(step, " ", 3)
	var ops []op
	if f[0] == "merge" {
		ops = mergeOps(mustParse(t, src).root, mustParse(t, strings.TrimPrefix(step, "merge ")).root, nil)
	} else {
		p, err := ParsePath(f[1])
		if err != nil {
			t.Fatal(err)
		}
		ops = []op{{path: p}}
		if f[0] == "set" {
			ops[0].value = mustParse(t, f[2]).root
		}
	}
	out, err := edited(src, ops)
	if err != nil {
		t.Fatalf("%s: %v", step, err)
	}
	return out
}

func TestEditOneLine(t *testing.T) {
	for _, c := range []struct{ in, step, want string }{
		{`{}`, `set a 1`, "{\n  a: 1,\n}"},
		{`{"a":1}`, `set b 2`, `{"a":1, "b": 2}`},
		{`{a:1}`, `set b.c {d:[1,2]}`, `{a:1, b: { c: { d: [1, 2] } }}`},
		{`{a:1,}`, `set b 2`, `{a:1, b: 2}`},
		{`{a:1,b:2}`, `unset b`, `{a:1}`},
		{`{a:1, b:2}`, `unset a`, `{b:2}`},
		{`{a:1, /* of b */ b:2}`, `unset a`, `{ /* of b */ b:2}`},
		{`{a:1}`, `unset a`, `{}`},
		{`{a:1}`, `unset b.c`, `{a:1}`},
		{`{a:0x10}`, `set a 16`, `{a:0x10}`},
		{`{a:0x10}`, `set a 17`, `{a:17}`},
		{`{a:[1,2]}`, `set a[2] 3`, `{a:[1,2, 3]}`},
		{`{a:[1,2]}`, `set a[1] "x"`, `{a:[1,"x"]}`},
		{`{a:[1,2]}`, `set a.- 3`, `{a:[1,2, 3]}`},
		{`{a:[1,2,3]}`, `unset a[1]`, `{a:[1,3]}`},
		{`{a:[]}`, `set a[0] {x:1}`, `{a:[{ x: 1 }]}`},
		{`{a:1}`, `set b[0].c 1`, `{a:1, b: [{ c: 1 }]}`},
		{`{a:1}`, `set ["x.y"] 1`, `{a:1, "x.y": 1}`},
		{"\ufeff{a:1}", `set a 2`, "\ufeff{a:2}"},
		{`{a:{b:1,c:2}}`, `merge {a:{b:null,d:3},e:{f:null,g:4}}`, `{a:{c:2, d: 3}, e: { g: 4 }}`},
		{`{a:[1]}`, `merge {a:{b:1}}`, "{a:{\n  b: 1,\n}}"},
		{`{a:1}`, `merge {a:null,b:null}`, `{}`},
	} {
		if got := runStep(t, c.in, c.step); got != c.want {
			t.Errorf("%s in %s:\n got %s\nwant %s", c.step, c.in, got, c.want)
		}
	}
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct{ in, path, want string }{
		{`{a:1}`, "a.b", "a holds a number, so nothing can be set below it"},
		{`{a:[1]}`, "a[2]", "a is a list of 1; use [0] to [1], the last adds one"},
		{`{a:[1]}`, "a.x", "a is a list of 1"},
		{`{}`, "a[1]", "the list before [1] is shorter"},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mustParse(t, c.in).set(p, &node{kind: kindNull})
		var pe *PathError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %v", c.path, c.in, err)
		}
	}
}

func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"18789": "18789", "true": "true", "{a:1}": "{a:1}", `"x"`: `"x"`, "ollama/llama3.2": `"ollama/llama3.2"`,
		"": `""`, "1.2.3": `"1.2.3"`, "say \"hi\"": `"say \"hi\""`,
	} {
		if got := Literal(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// A path that nobody reads is told from one that is only not set.
func TestUnknownPath(t *testing.T) {
	for path, want := range map[string]string{
		"gateway.prot": "gateway.prot: this key is not known and has no effect; did you mean port?", "nonsense.deep.er": "nonsense: this key " +
			"is not known and has no effect; it is kept as it is",
		"gateway.port": "", "agents.defaults.model": "", "models.providers.mine.baseUrl": "", "models.providers.openai.apiKey": "", "": "",
		"a..b": "",
	} {
		if got := Unknown(path, Options{Sections: standSections()}); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}
