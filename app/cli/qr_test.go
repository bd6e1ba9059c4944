package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rsc.io/qr"
)

// The picture has every module of the code, in both looks.
func TestDrawQR(t *testing.T) {
	text := strings.Repeat("setup-code-", 40)
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for _, colour := range []bool{true, false} {
		picture, err := drawQR(text, colour)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(picture, "\n"), "\n")
		if len(lines) != (code.Size+4+1)/2 || strings.Contains(picture, "\x1b") != colour {
			t.Fatalf("%d lines", len(lines))
		}
		for i, l := range lines {
			l = strings.TrimSuffix(strings.TrimPrefix(l, "\x1b[30;47m"), "\x1b[0m")
			if n := utf8.RuneCountInString(l); n != code.Size+4 {
				t.Fatalf("line %d has %d modules, want %d", i, n, code.Size+4)
			}
			x := -2
			for _, r := range l {
				top, bottom := r == '▀' || r == '█', r == '▄' || r == '█'
				if !colour {
					top, bottom = !top, !bottom
				}
				if y := 2*i - 2; top != code.Black(x, y) || bottom != code.Black(x, y+1) {
					t.Fatalf("module %d,%d is wrong", x, y)
				}
				x++
			}
		}
	}
	if _, err := drawQR(strings.Repeat("x", 10_000), true); err == nil {
		t.Error("a code that fits nowhere was drawn")
	}
}
