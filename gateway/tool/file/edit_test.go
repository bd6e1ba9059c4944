package file

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestEdit(t *testing.T) {
	w := newWorld(t)
	w.put("f", "a\nb\nc\nd\ne\nf\ng\nh\n")
	r := w.ok("edit", m{"path": "f", "edits": []m{{"oldText": "g\n", "newText": "G\n"}, {"oldText": "b", "newText": "B"}}})
	want := details{Path: filepath.Join(w.work, "f"), FirstChangedLine: 2, Added: 2, Removed: 2,
		Diff: "--- f\n+++ f\n@@ -1,8 +1,8 @@\n a\n-b\n+B\n c\n d\n e\n f\n-g\n+G\n h\n"}
	if d := cmp.Diff(want, detailsOf(t, r)); d != "" {
		t.Error(d)
	}
	if r.Text != "Made 2 edits in f (+2 −2 lines, from line 2)." {
		t.Error(r.Text)
	}
	for _, args := range []m{
		{"path": "f", "oldText": "a\n", "newText": "1\n"},
		{"path": "f", "old_string": "1\n", "new_string": "2\n"},
		{"path": "f", "edits": `[{"oldText":"2\n","newText":"3\n"}]`},
		{"path": "f", "edits": m{"oldText": "3\n", "newText": "4\n"}},
	} {
		w.ok("edit", args)
	}
	if got := w.get("f"); !strings.HasPrefix(got, "4\nB\n") {
		t.Error(got)
	}
	w.put("r", "x x x")
	w.ok("edit", m{"path": "r", "old_string": "x", "new_string": "yy", "replace_all": true})
	if got := w.get("r"); got != "yy yy yy" {
		t.Error(got)
	}
}

// TestEditMismatch compares what a model is told with testdata/mismatch.golden.
func TestEditMismatch(t *testing.T) {
	w := newWorld(t)
	src := "package main\n\nfunc main() {\n\tname := \"x\"\n\tprintln(name)  \n\tprintln(“hi” — bye)\n}\n\nfunc other() {\n\tprintln(1)\n" +
		"\tprintln(1)\n}\n"
	var b strings.Builder
	for _, tc := range []struct {
		name  string
		edits []m
	}{
		{"twice", []m{{"oldText": "println(1)", "newText": "x"}}},
		{"many", []m{{"oldText": "n", "newText": "x"}}},
		{"trailing blanks", []m{{"oldText": "println(name)\n\tprintln(“hi”", "newText": "x"}}},
		{"indent", []m{{"oldText": "    name := \"x\"\n    println(name)", "newText": "x"}}},
		{"quotes", []m{{"oldText": "\tprintln(\"hi\" - bye)", "newText": "x"}}},
		{"other words", []m{{"oldText": "func other() {\n\tprintln(2)\n}", "newText": "x"}}},
		{"one word", []m{{"oldText": "printl(nam)", "newText": "x"}}},
		{"nothing like it", []m{{"oldText": "SELECT * FROM t", "newText": "x"}}},
		{"second of two", []m{{"oldText": "package main", "newText": "package x"}, {"oldText": "func mane() {", "newText": "x"}}},
		{"overlap", []m{{"oldText": "func main() {", "newText": "x"}, {"oldText": "main() {\n", "newText": "y"}}},
		{"empty", []m{{"oldText": "", "newText": "x"}}},
		{"same", []m{{"oldText": "x", "newText": "x"}}},
		{"none", nil},
	} {
		w.put("main.go", src)
		r := w.run("edit", m{"path": "main.go", "edits": tc.edits})
		if !r.IsError || w.get("main.go") != src {
			t.Errorf("%s: %s", tc.name, r.Text)
		}
		b.WriteString("## " + tc.name + "\n" + r.Text + "\n\n")
	}
	golden := filepath.Join("testdata", "mismatch.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

// TestDiffGivesTheOtherText applies diffs with a few lines of code of its own.
func TestDiffGivesTheOtherText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "d\n"}), 0, 30)
		last := rapid.SampledFrom([]string{"", "x"})
		a := strings.Join(lines.Draw(t, "a"), "") + last.Draw(t, "endA")
		b := strings.Join(lines.Draw(t, "b"), "") + last.Draw(t, "endB")
		d := makeDiff("f", a, b)
		if got := patched(a, d.text); got != b {
			t.Fatalf("%q became %q, want %q, by\n%s", a, got, b, d.text)
		}
	})
}

func patched(a, diff string) string {
	if diff == "" {
		return a
	}
	lines, at := splitLines(a), 0
	var out []string
	ops := strings.SplitAfter(diff, "\n")[2:]
	for i, l := range ops {
		if strings.HasPrefix(l, "@@") {
			from := 0
			for _, c := range strings.TrimPrefix(l, "@@ -") {
				if c < '0' || c > '9' {
					break
				}
				from = from*10 + int(c-'0')
			}
			if !strings.Contains(strings.Fields(l)[1], ",0") {
				from--
			}
			out, at = append(out, lines[at:from]...), from
			continue
		}
		if l == "" || l[0] == '\\' {
			continue
		}
		text := l[1:]
		if i+1 < len(ops) && strings.HasPrefix(ops[i+1], "\\") {
			text = strings.TrimSuffix(text, "\n")
		}
		if l[0] != '-' {
			out = append(out, text)
		}
		if l[0] != '+' {
			at++
		}
	}
	return strings.Join(append(out, lines[at:]...), "")
}

func TestDiffOfVeryMuch(t *testing.T) {
	a, b := strings.Repeat("a\nx\n", 3000), strings.Repeat("b\ny\n", 3000)
	d := makeDiff("f", a, b)
	if d.added != 6000 || d.removed != 6000 || len(d.text) > maxDiff+100 {
		t.Errorf("+%d -%d, %d bytes", d.added, d.removed, len(d.text))
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc", "b", "x\ny")
	f.Add("a\r\n\r\n", "\n", "")
	f.Fuzz(func(t *testing.T, text, before, after string) {
		got, err := apply(text, []replacement{{OldText: toLF(before), NewText: toLF(after)}})
		if before == "" || err != nil {
			return
		}
		want := strings.Replace(toLF(text), toLF(before), toLF(after), 1)
		if toLF(got) != toLF(want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func BenchmarkRead10MB(b *testing.B) {
	w := newWorld(b)
	w.put("big", strings.Repeat("0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQR\n", 10<<20/56))
	for b.Loop() {
		w.ok("read", m{"path": "big"})
	}
}

func BenchmarkEdit1MB(b *testing.B) {
	w := newWorld(b)
	text := strings.Repeat("0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQR\n", 1<<20/56)
	w.put("big", text[:len(text)/2]+"here: 0\n"+text[len(text)/2:])
	from, to := "here: 0", "here: 1"
	for b.Loop() {
		w.ok("edit", m{"path": "big", "oldText": from, "newText": to})
		from, to = to, from
	}
}
