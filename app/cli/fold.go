package cli

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// widest is a line that is still read with ease.
const widest = 100

// folded begins with first, and goes on below it where the terminal ends, between
// words. Without a terminal it is one line, for programs.
func (a *app) folded(first, text string) string {
	if !a.InTerminal {
		return first + text
	}
	columns, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || columns <= 0 {
		return first + text
	}
	return fold(first, text, min(columns, widest))
}

// fold parts a line between words; a word that is longer than a line stays whole.
func fold(first, text string, columns int) string {
	indent := strings.Repeat(" ", ansi.StringWidth(first))
	var b strings.Builder
	b.WriteString(first)
	at, begun := len(indent), false
	for word := range strings.FieldsSeq(text) {
		wide := ansi.StringWidth(word)
		switch {
		case !begun:
		case at+1+wide > columns:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at, begun = at+wide, true
	}
	return b.String()
}
