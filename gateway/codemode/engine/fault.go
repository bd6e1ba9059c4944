package engine

import (
	"regexp"
	"strconv"
	"strings"
)

// bodyLine is how many lines QuickJS writes before an AsyncFunction's body.
const bodyLine = 2

// frame is a line of a stack that stands in a cell's own text.
var frame = regexp.MustCompile(`<input>:(\d{1,7})(?::(\d{1,7}))?(?:\D|$)`)

// guestError turns what the program threw into an Error. Everything in it is
// the program's own word, so a code counts only if the program was given it.
func (v *VM) guestError(t *thrown) *Error {
	e := &Error{Message: t.Text}
	e.Line, e.Column = position(t.Stack)
	if v.lines > 0 && e.Line > v.lines { // the end is missing, and that is behind it
		e.Line, e.Column = v.lines, 0
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

func position(stack string) (line, column int) {
	m := frame.FindStringSubmatch(stack)
	if m == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(m[1])
	column, _ = strconv.Atoi(m[2])
	if line -= bodyLine; line < 1 {
		return 0, 0
	}
	return line, column
}
