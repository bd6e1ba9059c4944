package engine

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bodyLine is how many lines QuickJS writes before an AsyncFunction's body.
const bodyLine = 2

// frame is a line of a stack that stands in a text of the cell: of a function
// with its name, or of a text that could not be read.
var frame = regexp.MustCompile(`(?m)^ *at (?:([^\n(]*) \()?<input>:(\d{1,7})(?::(\d{1,7}))?(?:\D|$)`)

// guestError turns what the program threw into an Error. Everything in it is
// the program's own word, so a code counts only if the program was given it.
func (v *VM) guestError(t *thrown) *Error {
	e := &Error{Message: t.Text}
	e.Line, e.Column = position(t.Stack)
	if v.lines > 0 && e.Line > v.lines { // the end is missing, and that is behind it
		e.Line, e.Column = v.lines, 0
	}
	if e.Line > 0 {
		e.Line, e.Column = v.places.Source(e.Line, characters(v.wide, e.Line, e.Column))
	}
	switch {
	case strings.Contains(t.Text, "could not load module"), t.Text == "ReferenceError: require is not defined":
		e.Code = ModuleAccessDenied
	case t.Text == "InternalError: out of memory", v.alloc.denied.Load() && (strings.Contains(t.Text, "out of memory") || t.Text == "null"):
		e.Code, e.Message = MemoryLimitExceeded, "the program needs more memory than it may have"
	case v.told[Code(t.Code)]:
		e.Code = Code(t.Code)
	}
	return e
}

// position finds the innermost place of the cell's own text. A text that the
// cell had read (by eval, by JSON.parse) has places of its own, which tell
// nobody anything; unless there are no others, as when the cell's text itself
// could not be read.
func position(stack string) (line, column int) {
	var unread []string
	for _, m := range frame.FindAllStringSubmatch(stack, -1) {
		switch {
		case m[1] == "":
			if unread == nil {
				unread = m
			}
			continue
		case m[1] == "<eval>":
			continue
		}
		if line, column = place(m); line > 0 {
			return line, column
		}
	}
	if unread == nil {
		return 0, 0
	}
	return place(unread)
}

func place(m []string) (line, column int) {
	line, _ = strconv.Atoi(m[2])
	column, _ = strconv.Atoi(m[3])
	if line -= bodyLine; line < 1 {
		return 0, 0
	}
	return line, column
}

// characters turns a column in bytes, as QuickJS counts, into one in
// characters.
func characters(text string, line, column int) int {
	for range line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\n")
	if column < 1 || column-1 > len(text) {
		return column
	}
	return utf8.RuneCountInString(text[:column-1]) + 1
}
