package cli

import (
	"strings"
	"testing"
)

// A line goes on where the terminal ends, between words and below its beginning.
func TestLinesFoldBetweenWords(t *testing.T) {
	for _, c := range []struct {
		first, text string
		columns     int
		want        string
	}{
		{"  1  ", "your login of Claude Code", 40, "  1  your login of Claude Code"},
		{"  1  ", "your login of Claude Code", 20, "  1  your login of\n     Claude Code"},
		{"", "a https://example.com/that/is/longer b", 12, "a\nhttps://example.com/that/is/longer\nb"},
		{"  ", "看 一看 世界", 7, "  看\n  一看\n  世界"},
		{"x ", "", 10, "x "},
	} {
		if got := fold(c.first, c.text, c.columns); got != c.want {
			t.Errorf("%q in %d:\n%s\nwant\n%s", c.text, c.columns, got, c.want)
		}
	}
	if got := (&app{}).folded("  1  ", strings.Repeat("word ", 50)); strings.Contains(got, "\n") {
		t.Error("without a terminal a line is one line")
	}
}
