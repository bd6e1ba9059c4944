// Package typescript turns one TypeScript program into JavaScript by taking
// its types away, and finds out from the parse whether a program asks for a
// module.
//
// It erases in place: what is a type becomes blanks, so every line and column
// of the result is that of the person's own text and no source map is needed.
// What exists at run time only in TypeScript (enums, parameter properties) is
// written out on the line where it stood. It checks no types and resolves no
// names; errors of plain JavaScript that do not change what is a type are left
// to the engine. Decorators and namespaces with a body are refused.
//
// The text is hostile: the parser counts its own depth and steps and stops at
// a bound, because a goroutine whose stack runs over takes the whole process
// with it.
package typescript

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxSource is the longest program that is read, in bytes.
const MaxSource = 8 << 20

const (
	maxDepth     = 1200 // nested constructs; the engine itself gives up earlier on most
	stepsPerByte = 8    // tokens read per byte of text, tries included
	spareSteps   = 1 << 16
)

// Language says how a program is to be read.
type Language bool

// The languages of a program.
const (
	JavaScript Language = false
	TypeScript Language = true
)

// Error is a mistake in the program's text. Lines and columns count from 1,
// columns in characters.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d:%d: %s", e.Line, e.Column, e.Message) }

// ModuleError says that the program asks for a module, and where.
type ModuleError struct {
	Line, Column int
	What         string // as written: import, import(), export, require
}

func (e *ModuleError) Error() string {
	return fmt.Sprintf("line %d:%d: %s is not available here: a program has no modules, only the tools of its catalogue",
		e.Line, e.Column, e.What)
}

// Transform returns the program as JavaScript, every line and column in its
// place. It is read as the body of an asynchronous function. The error is an
// *Error, a *ModuleError or that of ctx.
func Transform(ctx context.Context, source string) (string, error) {
	p, err := parse(ctx, source, TypeScript)
	if err != nil {
		return "", err
	}
	return p.render(), nil
}

// Modules returns a *ModuleError when the program asks for a module: import or
// export, import() or import.meta, or a require that is no name of its own.
// A text that it cannot read is no finding: the engine says what is wrong with
// it and has no modules to give.
func Modules(ctx context.Context, source string, lang Language) error {
	if !mayAsk(source) {
		return nil
	}
	_, err := parse(ctx, source, lang)
	if _, wrong := err.(*Error); wrong {
		return nil
	}
	return err
}

// mayAsk spares most programs the parse: without one of these there is nothing
// to find.
func mayAsk(source string) bool {
	for _, word := range []string{"import", "export", "require", "module", `\u`} {
		if strings.Contains(source, word) {
			return true
		}
	}
	return false
}

// parse reads the whole program.
func parse(ctx context.Context, source string, lang Language) (*parser, error) {
	if len(source) > MaxSource {
		return nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf("the program is longer than %d MB", MaxSource>>20)}
	}
	p := &parser{
		ctx: ctx, src: source, ts: bool(lang),
		steps: len(source)*stepsPerByte + spareSteps,
		fn:    function{async: true},
		scope: &scope{function: true},
		tried: make(map[try]struct{}),
	}
	p.program()
	if p.stopped != nil {
		return nil, p.stopped
	}
	if at, what, found := p.askedModule(); found {
		line, column := position(source, at)
		return nil, &ModuleError{Line: line, Column: column, What: what}
	}
	if p.wrong != "" {
		line, column := position(source, p.wrongAt)
		return nil, &Error{Line: line, Column: column, Message: p.wrong}
	}
	return p, nil
}

// position turns an offset into a line and a column.
func position(source string, at int) (line, column int) {
	line, start := 1, 0
	for i := 0; i < at && i < len(source); {
		r, n := utf8.DecodeRuneInString(source[i:])
		if r == '\r' && strings.HasPrefix(source[i+n:], "\n") {
			n++
		}
		i += n
		if lineEnd(r) {
			line, start = line+1, i
		}
	}
	if start > at {
		start = at
	}
	return line, utf8.RuneCountInString(source[start:min(at, len(source))]) + 1
}
