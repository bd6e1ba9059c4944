package shell

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// Appendix A.6, each around a word that must stay.
var escapes = []string{
	"\x1b[2J", "\x1b[1A\x1b[2K", "\x1b]0;title\x07", "\x1b]8;;http://evil\x1b\\", "\x1b]52;c;ZXZpbA==\x07", "\x1b]1337;File=x\x07",
	"\x1b]50;x\x07",
	"\x1bPq#0;2\x1b\\", "\x1b[21t", "\x1b[6n", "\u009b31m", "\u0090x\u009c", "\x1bc", "\x0e", "\x0f", "\u202e", "\u2066", "\U000e0041",
	"\x1b(B", "\x00", "\x7f", "\a",
	"\ufeff", "\x1b[38;5;1m", "\x1b_x\x1b\\", "\x1b^x\x07", "\x1bXx\u009c",
}

func TestSec_A_TTY_01_OutputIsClean(t *testing.T) {
	for _, e := range escapes {
		if got := clean([]byte("a" + e + "b")); got != "ab" {
			t.Errorf("%q: %q", e, got)
		}
	}
	for in, want := range map[string]string{
		"10%\r20%\r100%\n":       "100%\n",
		"10%\r\ndone\r\n":        "10%\ndone\n",
		"abc\b\bX\n":             "aX\n",
		"\b\bx":                  "x",
		"Grüße 👩‍👧 日本\tx\n":      "Grüße 👩‍👧 日本\tx\n",
		"\x1b]0;never ended\nok": "\nok",
		"bad \xff byte":          "bad \uFFFD byte",
		"\x1b":                   "",
		"\x1b[":                  "",
		"\x1b[31":                "",
	} {
		if got := clean([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	long := strings.Repeat("0123456789", 10_000)
	for _, c := range []struct {
		o      process.Output
		length int
		cut    bool
		holds  string
	}{
		{process.Output{Head: []byte("x"), Total: 1}, 1, false, "x"},
		{process.Output{Head: []byte(long), Total: 100_000}, 2*shownBytes + 60, true, "50848 bytes in the middle are not shown …]"},
		{process.Output{Head: []byte(long), Tail: []byte(long), Dropped: 5, Total: 200_005}, 2*shownBytes + 90, true,
			"150853 bytes in the middle are not shown; 5 of them were not kept"},
		{process.Output{Head: []byte("\x00\x01"), Total: 7}, 40, false, "7 bytes that are not text"},
	} {
		text, cut := words(c.o)
		if cut != c.cut || len(text) > c.length || !strings.Contains(text, c.holds) {
			t.Errorf("%d bytes, %v: %.80q … want %q", len(text), cut, text[max(0, len(text)/2-60):], c.holds)
		}
	}
}

// Whatever a command prints: nothing is left that a terminal acts on.
func FuzzClean(f *testing.F) {
	for _, e := range escapes {
		f.Add([]byte("a" + e + "b\r\n"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := clean(b)
		if !utf8.ValidString(s) {
			t.Errorf("%q", s)
		}
		for _, r := range s {
			if r != '\n' && r != '\t' && (hidden(r) || r == 0x1b) {
				t.Errorf("%q holds %U", s, r)
			}
		}
		text, _ := words(process.Output{Head: b, Total: int64(len(b))})
		if len(text) > 2*shownBytes+200 {
			t.Errorf("%d bytes", len(text))
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, k := range []string{"Enter", "C-c", "M-x", "C-[", "C-", "-", "ctrl-d", "Up", "C-\x00"} {
		f.Add(k)
	}
	f.Fuzz(func(t *testing.T, name string) {
		seq, quiet, err := key(name)
		if err == nil && (seq == "" || quiet && strings.ContainsAny(seq, "\r\n")) {
			t.Errorf("%q: %q %v", name, seq, quiet)
		}
	})
}
