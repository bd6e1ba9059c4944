package notify

import (
	"strings"
	"testing"
	"unicode"
)

func TestSec_A_UI_09_NotesArePlainAndShort(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31m\u202eevil\u2066 b\r\nc\x00":  "a[31mevil b\nc",
		"one\n\n\ntwo\nthree\nfour":             "one\ntwo\nthree…",
		strings.Repeat("x", 60):                 strings.Repeat("x", 39) + "…",
		"  a \t b  ":                            "a b",
		"\u200b\u200d\ufeff\u3164":              "",
		"<b>bold</b> <a href='x'>&amp;</a> 🦊 é": "<b>bold</b> <a href='x'>&amp;</a> 🦊 é",
	} {
		if got := Plain(in, 40, 3); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("a\u202e\n\x1b]0;x\x07\n\n\nb", 5, 2)
	f.Fuzz(func(t *testing.T, s string, chars, lines int) {
		if chars < 1 || lines < 1 || chars > 1000 || lines > 50 {
			return
		}
		got := Plain(s, chars, lines)
		if n := len([]rune(got)); n > chars+1 {
			t.Errorf("%d characters of %d", n, chars)
		}
		if strings.Count(got, "\n") >= lines {
			t.Errorf("%q has more than %d lines", got, lines)
		}
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q holds %U", got, r)
			}
		}
	})
}
