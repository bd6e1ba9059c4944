package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/app/terminal"
)

// attacks are what a model, a tool or a file name may hold to take over the
// terminal that prints it; package terminal tests the cleaning itself.
var attacks = []struct{ name, in string }{
	{"colour", "a\x1b[31mred\x1b[0m"},
	{"title", "\x1b]0;you are root\x07ok"},
	{"clipboard", "\x1b]52;c;cm0gLXJmIH4=\x07ok"},
	{"link", "\x1b]8;;http://evil\x1b\\bank\x1b]8;;\x1b\\"},
	{"8-bit forms", "\u009b31mred\u009d0;t\u009c\u0090q\u009cok"},
	{"carriage return", "safe\rEVIL\r\n"},
	{"bidi", "user\u202emoc\u202c\u2066x\u2069\u200f"},
	{"broken UTF-8", "a\xffb\xc3"},
	{"kept", "Größe 漢字 🏠 👩‍👩‍👧 می\u200cخواهم\tx\n"},
}

// allowed reports whether a terminal only prints the text.
func allowed(s string) bool {
	for _, r := range s {
		if r != '\n' && r != '\t' && terminal.Hidden(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

func TestSec_A_TTY_01_Screen(t *testing.T) {
	for _, a := range attacks {
		var b bytes.Buffer
		s := screen{w: &b}
		_ = s.print(a.in, bold(a.in), 7)
		_ = s.table([]string{"A", "B"}, [][]string{{a.in, a.in}})
		_ = s.json(map[string]string{"text": a.in})
		_ = s.jsonLine([]string{a.in})
		if !allowed(b.String()) {
			t.Errorf("%s: %q reached the screen", a.name, b.String())
		}
		b.Reset()
		_ = s.jsonLine(a.in)
		var back string
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != strings.ToValidUTF8(a.in, "\uFFFD") && utf8.ValidString(a.in) {
			t.Errorf("%s: JSON reads back as %q, %v", a.name, back, err)
		}
	}
}

func TestScreenStylesOnlyInColour(t *testing.T) {
	var b bytes.Buffer
	_ = screen{w: &b}.print(bold("x"), red("y"))
	_ = screen{w: &b, colour: true}.print(bold("x"), red("\x1b[0my"), dim(""))
	if want := "xy\x1b[1mx\x1b[0m\x1b[31my\x1b[0m"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
