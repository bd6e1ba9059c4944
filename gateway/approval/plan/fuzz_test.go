package plan

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

// FuzzResolve: no text makes it panic, a doubt has words, what is shown is plain,
// and a known text means the same after a printer wrote it anew.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{
		"ls", "ls -la | head -n 5 && cat 'a b' >out 2>&1", "cat <<E\n$(pwned)\nE", "nice -n 5 env LANG=C timeout 3 ls", "f() { ls; }; f", "((((",
		"a=(b c)", "ls \\\n -l",
		"if a; then b; fi", "ls `pwned`", "\"ls\" 'a'\\''b' \"\\$x\"", "find . -exec ls {} \\;", "cd x && ./y", "[ a != b ]", "ls # x", "{ ls; }",
		"! ! ls", "$'\\x41'", "ls\u00a0", "ls &",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	r := New(Options{Confined: true, Home: f.TempDir()})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, bash bool) {
		req := Request{Command: text, Dir: dir}
		if bash {
			req.Shell = "/bin/bash"
		}
		p, err := r.Resolve(t.Context(), req)
		if err != nil {
			return
		}
		for _, line := range append(p.Lines(), p.Words()) {
			if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == 0x202e || c == 0x200b }) {
				t.Errorf("%q is shown as %q", text, line)
			}
		}
		if !p.Known {
			if len(p.Doubts) == 0 || p.Doubts[0].Words == "" {
				t.Errorf("%q: no reason", text)
			}
			return
		}
		lang := syntax.LangPOSIX
		if bash {
			lang = syntax.LangBash
		}
		file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var printed bytes.Buffer
		if err := syntax.NewPrinter().Print(&printed, file); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		req.Command = printed.String()
		if strings.TrimSpace(req.Command) == "" {
			return
		}
		again, err := r.Resolve(t.Context(), req)
		if err != nil {
			t.Fatalf("%q: %v", req.Command, err)
		}
		if !again.Known || !cmp.Equal(p.Programs, again.Programs) || !slices.Equal(p.Writes, again.Writes) {
			t.Errorf("%q and %q are not the same: %v %v", text, req.Command, p.Programs, again.Programs)
		}
	})
}

// FuzzShow: what is shown is never ambiguous.
func FuzzShow(f *testing.F) {
	f.Add("a\u00a0", `a\u{a0}`)
	f.Add("сору", "copy")
	f.Add(`\\u{5c}`, `\\u{5c}u{5c}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "")
		if (Show(a) == Show(b)) != (a == b) {
			t.Errorf("%q and %q are shown as %q and %q", a, b, Show(a), Show(b))
		}
	})
}
