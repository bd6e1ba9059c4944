package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// attacks are what a model, a tool or a file name may hold to take over the
// terminal that prints it, and what may be left of them.
var attacks = []struct{ name, in, want string }{
	{"colour", "a\x1b[31mred\x1b[0m", "ared"},
	{"hidden text", "\x1b[8mhidden\x1b[28m", "hidden"},
	{"cursor up and erase", "rm -rf /\x1b[1A\x1b[2Kls", "rm -rf /ls"},
	{"title", "\x1b]0;you are root\x07ok", "ok"},
	{"title ended by ST", "\x1b]2;t\x1b\\ok", "ok"},
	{"clipboard", "\x1b]52;c;cm0gLXJmIH4=\x07ok", "ok"},
	{"link", "\x1b]8;;http://evil\x1b\\bank\x1b]8;;\x1b\\", "bank"},
	{"working folder", "\x1b]7;file://evil/\x07ok", "ok"},
	{"notification", "\x1b]9;boo\x07\x1b]777;notify;a;b\x07ok", "ok"},
	{"picture", "\x1b]1337;File=inline=1:AAAA\x07ok", "ok"},
	{"sixel", "\x1bPq#0;2;0;0;0~~\x1b\\ok", "ok"},
	{"question to the terminal", "\x1bP$qm\x1b\\ok\x1b[c\x1b[6n", "ok"},
	{"other strings", "\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\ok", "ok"},
	{"8-bit forms", "\u009b31mred\u009d0;t\u009c\u0090q\u009cok", "redok"},
	{"charset", "\x1b(0lqk\x1b(Bok", "lqkok"},
	{"reset", "\x1bcok", "ok"},
	{"carriage return", "safe\rEVIL\r\n", "safeEVIL\n"},
	{"backspaces", "rm\b\bls\x7f", "rmls"},
	{"bell and zero", "a\x07b\x00c", "abc"},
	{"bidi", "user\u202emoc\u202c\u2066x\u2069\u200f", "usermocx"},
	{"other line ends", "a\u2028b\u2029c\u0085d", "abcd"},
	{"tags", "hi\U000e0041\U000e007f\ufeff", "hi"},
	{"broken UTF-8", "a\xffb\xc3", "ab"},
	{"escape in an escape", "\x1b\x1b[31mok", "ok"},
	{"escape in a string", "\x1b]0;a\x1b[31mred", "red"},
	{"line end in a string", "\x1b]0;unfinished\nnext line", "\nnext line"},
	{"kept", "Größe 漢字 🏠 👩‍👩‍👧 می\u200cخواهم\tx\n", "Größe 漢字 🏠 👩‍👩‍👧 می\u200cخواهم\tx\n"},
}

func TestSec_A_TTY_01_Clean(t *testing.T) {
	for _, a := range attacks {
		if got := Clean(a.in); got != a.want {
			t.Errorf("%s: %q, want %q", a.name, got, a.want)
		}
		var c Cleaner // the same, cut anywhere
		var b strings.Builder
		for _, r := range strings.ToValidUTF8(a.in, "\uFFFD") {
			b.WriteString(c.Next(string(r)))
		}
		if b.String() != a.want {
			t.Errorf("%s, rune by rune: %q, want %q", a.name, b.String(), a.want)
		}
	}
}

// Words of others cannot have a terminal show a part of a picture that it was given.
func TestSec_A_TTY_04_WordsAreNoPictures(t *testing.T) {
	if got := Clean("a\U0010eeee\u0305\u0305b"); strings.ContainsRune(got, 0x10eeee) {
		t.Errorf("%q", got)
	}
}

func TestSec_A_TTY_01_LonelyIntroducerHidesLittle(t *testing.T) {
	for _, intro := range []string{"\x1b]", "\x1b[", "\x1bP", "\u009d"} {
		got := Clean(intro + strings.Repeat("x", 3*maxSequence))
		if len(got) < maxSequence && intro != "\x1b[" {
			t.Errorf("%q swallowed all but %d bytes", intro, len(got))
		}
	}
}

// allowed reports whether a terminal only prints the text.
func allowed(s string) bool {
	for _, r := range s {
		if r != '\n' && r != '\t' && Hidden(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

func FuzzClean(f *testing.F) {
	for _, a := range attacks {
		f.Add(a.in, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		whole := Clean(s)
		if !allowed(whole) {
			t.Fatalf("%q became %q", s, whole)
		}
		if again := Clean(whole); again != whole {
			t.Fatalf("not stable: %q, then %q", whole, again)
		}
		if !utf8.ValidString(s) || cut < 0 || cut > len(s) || !utf8.RuneStart((s + "x")[cut]) {
			return
		}
		var c Cleaner
		if parts := c.Next(s[:cut]) + c.Next(s[cut:]); parts != whole {
			t.Fatalf("cut at %d: %q, whole: %q", cut, parts, whole)
		}
	})
}

func FuzzCleanJSON(f *testing.F) {
	for _, a := range attacks {
		f.Add(a.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var want, got string
		_ = json.Unmarshal(b, &want)
		b = CleanJSON(b)
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Fatalf("%q reads back as %q, %v", s, got, err)
		}
		if !allowed(string(b)) && !strings.ContainsRune(s, utf8.RuneError) && utf8.ValidString(s) {
			t.Fatalf("%q leaves %q", s, b)
		}
	})
}
