// Package typescript makes JavaScript of a TypeScript program, and finds out
// whether a program asks for a module. esbuild does the work; this package
// keeps hostile text away from it (nesting.go), gives it a program in the form
// that the engine runs, the body of an asynchronous function, and tells what is
// wrong with it in the places of the person's own text.
//
// Types are taken away, not checked.
package typescript

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
)

// MaxSource is the longest TypeScript program, in bytes.
const MaxSource = 128 << 10

// Error is a mistake in the program's text. Lines and columns count from 1,
// columns in characters.
type Error struct {
	Line, Column int
	Message      string

	refused bool // it is more than we take, not wrong
}

func (e *Error) Error() string { return fmt.Sprintf("line %d:%d: %s", e.Line, e.Column, e.Message) }

// ModuleError says that the program asks for a module, and where.
type ModuleError struct {
	Line, Column int
	What         string // import, import(), import.meta, export, require, module
}

func (e *ModuleError) Error() string {
	return fmt.Sprintf("line %d:%d: %s is not available here: a program has no modules, only the tools of its catalogue",
		e.Line, e.Column, e.What)
}

// Transform returns the program as JavaScript, and the way back from it to the
// source. The error is an *Error, a *ModuleError or that of ctx.
func Transform(ctx context.Context, source string) (string, *sourcemap.Map, error) {
	if len(source) > MaxSource {
		return "", nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf("a TypeScript program may have %d KB, this one has %d", MaxSource>>10,
			len(source)>>10)}
	}
	if !utf8.ValidString(source) {
		return "", nil, &Error{Line: 1, Column: 1, Message: "the program is not UTF-8 text"}
	}
	if wrong := check(source); wrong != nil {
		return "", nil, wrong
	}
	code, places, err := transform(ctx, source, api.LoaderTS)
	if err != nil {
		return "", nil, err
	}
	if asked := askedModule(code, places); asked != nil {
		return "", nil, asked
	}
	return code, places, nil
}

// Mistake says where a JavaScript program cannot be read; zeroes where it can,
// or nobody knows.
func Mistake(ctx context.Context, source string) (line, column int) {
	if len(source) > MaxSource || !utf8.ValidString(source) {
		return 0, 0
	}
	wrong := check(source)
	if wrong == nil {
		_, _, err := transform(ctx, source, api.LoaderJS)
		wrong, _ = err.(*Error)
	}
	if wrong == nil || wrong.refused {
		return 0, 0
	}
	return wrong.Line, wrong.Column
}

// Modules returns a *ModuleError when a JavaScript program asks for a module:
// import or export, import() or import.meta, or a require that is no name of
// its own. A text that it cannot read is no finding: the engine says what is
// wrong with it and has no modules to give.
func Modules(ctx context.Context, source string) error {
	if !mayAsk(source) || len(source) > MaxSource || !utf8.ValidString(source) || check(source) != nil {
		return nil
	}
	code, places, err := transform(ctx, source, api.LoaderJS)
	if _, wrong := err.(*Error); wrong {
		return nil
	}
	if err != nil {
		return err
	}
	if asked := askedModule(code, places); asked != nil {
		return asked
	}
	return nil
}

// mayAsk spares most programs the parse: without one of these there is nothing
// to find.
func mayAsk(source string) bool {
	return slices.ContainsFunc([]string{"import", "export", "require", "module", `\u`},
		func(word string) bool { return strings.Contains(source, word) })
}

// The program is parsed as what it is when it runs. Brackets are balanced (see
// check), so nothing in it can end the function early.
const (
	head = "(async function(){\n"
	tail = "\n})"
	// as esbuild prints them
	printedHead = "(async function() {\n"
	printedTail = "});\n"
)

// What modules are asked for with, where no name of the program hides it, is
// given these names.
var asking = map[string]string{"require": "$module_require", "module.exports": "$module_exports", "import.meta": "$module_meta"}

// turn lets one program be parsed at a time: esbuild cannot be stopped.
var turn = make(chan struct{}, 1)

func transform(ctx context.Context, source string, loader api.Loader) (string, *sourcemap.Map, error) {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	res := api.Transform(head+source+tail, api.TransformOptions{
		Loader: loader, Target: api.ES2023, Define: asking, Charset: api.CharsetASCII, LegalComments: api.LegalCommentsNone,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, LogLevel: api.LogLevelSilent,
		TsconfigRaw: `{"compilerOptions":{"useDefineForClassFields":true,"verbatimModuleSyntax":true}}`,
	})
	if len(res.Errors) > 0 {
		return "", nil, mistake(source, res.Errors[0])
	}
	places := &sourcemap.Map{Above: 1}
	if err := json.Unmarshal(res.Map, places); err != nil {
		return "", nil, fmt.Errorf("the source map: %w", err)
	}
	// What esbuild needs for new syntax stands before the function.
	code := "\n" + string(res.Code)
	before, body, ok := strings.Cut(code, "\n"+printedHead)
	body, ended := strings.CutSuffix(body, printedTail)
	if !ok || !ended {
		return "", nil, fmt.Errorf("esbuild prints functions in another form than it did")
	}
	return strings.TrimPrefix(before+"\n\n", "\n") + body, places, nil
}

// mistake says what esbuild found wrong, in the words of the source.
func mistake(source string, m api.Message) error {
	wrong := &Error{Line: 1, Column: 1, Message: sentence(m.Text)}
	at := 0
	if l := m.Location; l != nil {
		wrong.Line, wrong.Column = l.Line-1, utf8.RuneCountInString(l.LineText[:min(l.Column, len(l.LineText))])+1
		at = offset(source, wrong.Line, wrong.Column)
	}
	switch last := lastWord(source[:at]); {
	case at >= len(source):
		wrong.Line, wrong.Column = position(source, len(source))
		wrong.Message = "unexpected end of the program"
	case last == "namespace" || last == "module":
		return &Error{Line: wrong.Line, Column: wrong.Column, Message: "namespaces with code in them are not supported: use an object or a class"}
	}
	if asked := moduleStatement(source); asked != nil {
		return asked
	}
	return wrong
}

func sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return strings.ToLower(string(r)) + text[n:]
}

// offset turns a line and a column into an offset.
func offset(source string, line, column int) int {
	for at := 0; at < len(source); {
		r, n := utf8.DecodeRuneInString(source[at:])
		if r == '\r' && strings.HasPrefix(source[at+n:], "\n") {
			n++
		}
		switch {
		case line < 1, line == 1 && column <= 1:
			return at
		case line == 1:
			column--
		case lineEnd(r):
			line--
		}
		at += n
	}
	return len(source)
}

func lastWord(text string) string {
	text = strings.TrimRight(text, " \t")
	return text[strings.LastIndexFunc(text, func(r rune) bool { return !isName(r) })+1:]
}

// moduleStatement finds an import or export statement.
func moduleStatement(source string) *ModuleError {
	s := newScanner(source)
	for t := s.next(); t.kind != eof; {
		next := s.next()
		if t.kind == word && !t.isProperty && (t.text == "import" || t.text == "export") &&
			(next.kind == word || next.text == "{" || next.text == "*" || next.kind == value && t.text == "import") {
			line, column := position(source, t.start)
			return &ModuleError{Line: line, Column: column, What: t.text}
		}
		t = next
	}
	return nil
}

// askedModule finds in what esbuild printed the first place where a module is
// asked for.
func askedModule(code string, places *sourcemap.Map) *ModuleError {
	if !strings.Contains(code, "import(") && !strings.Contains(code, "$module_") {
		return nil
	}
	s := newScanner(code)
	s.lenient = true
	var before token
	for t := s.next(); t.kind != eof; {
		next := s.next()
		what := ""
		switch {
		case t.kind != word || t.isProperty:
		case t.text == "import" && next.text == "(":
			what = "import()"
		case t.text == asking["require"] && (before.text != "typeof" || next.text == "("):
			what = "require"
		case t.text == asking["module.exports"]:
			what = "module"
		case t.text == asking["import.meta"]:
			what = "import.meta"
		}
		if what != "" {
			line, column := places.Source(position(code, t.start))
			return &ModuleError{Line: line, Column: column, What: what}
		}
		before, t = t, next
	}
	return nil
}
