package markup

import (
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"one":                             "one",
		"**bold** _it_ `code`":            "bold it code",
		"[l](https://example.com)":        "l (https://example.com)",
		"<https://example.com>":           "https://example.com",
		"https://example.com":             "https://example.com",
		"# h\n\ntext":                     "h\n\ntext",
		"- a\n- b\n  - c":                 "- a\n- b\n  - c",
		"2. a\n3. b":                      "2. a\n3. b",
		"> q\n> r":                        "> q\n> r",
		"```go\nx := 1\n\ty\n```":         "x := 1\n\ty",
		"unclosed **bold and `code":       "unclosed **bold and `code",
		"\\*escaped\\*":                   "*escaped*",
		"a\nb":                            "a\nb",
		"a < b && c > d </b> &amp;":       "a < b && c > d </b> &amp;",
		"x\x00\x1b[31my":                  "x[31my",
		"| a | b |\n|---|---|\n| 1 | 2 |": "| a | b |\n|---|---|\n| 1 | 2 |",
		"👨‍👩‍👧‍👦 שלום":                    "👨‍👩‍👧‍👦 שלום",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// FuzzPlain: it takes anything, and what it makes is text.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"- a\n\n  > b\n\n      c", "[a][b]\n\n[b]: c", "1) x\n\t2) y", "***a** b*", "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Plain(s); !utf8.ValidString(got) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
