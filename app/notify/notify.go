// Package notify shows notifications of the desktop, with buttons where the
// desktop has them, and says which button was pressed. What a note is about,
// and whether it is shown at all, is the caller's.
//
// What stands in a note came from outside: it is shown as text, on few lines,
// and cannot add a button.
package notify

import (
	"errors"
	"strings"
	"unicode"
)

// ErrNone: this desktop shows no notifications.
var ErrNone = errors.New("this desktop shows no notifications")

// Note is one notification.
type Note struct {
	Key     string // one that is shown already under it is replaced
	Title   string
	Text    string
	Buttons []Button
	// Opens is the button that a click on the note itself stands for.
	Opens string
	// Reply is the label of a field for an answer, where the desktop has such a
	// field; empty: none.
	Reply string
	// Stays until it is answered or withdrawn.
	Stays bool
}

// Button is a choice in a note.
type Button struct{ ID, Label string }

// Choice is what somebody did with a note.
type Choice struct {
	Key, Button string
	Text        string // of a reply; Button is empty then
}

const (
	titleChars = 80
	textChars  = 300
	textLines  = 4
)

// Plain is what a note shows of a text: no control characters, none that turn
// the direction of writing or hide, at most so many characters and lines.
func Plain(s string, chars, lines int) string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", "\n")) {
		line = strings.Join(strings.Fields(strings.Map(visible, line)), " ")
		if line == "" {
			continue
		}
		if len(out) == lines {
			out[lines-1] += "…"
			break
		}
		out = append(out, line)
	}
	text := strings.Join(out, "\n")
	if r := []rune(text); len(r) > chars {
		return strings.TrimRight(string(r[:chars-1]), " \n…") + "…"
	}
	return text
}

func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return -1
	}
	return r
}
