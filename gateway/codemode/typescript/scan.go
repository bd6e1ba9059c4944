package typescript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is, as far as the checks here need to know.
type kind int

const (
	eof    kind = iota
	word        // a name or a keyword
	value       // a number, a text, a regular expression
	open        // the beginning of a template, up to its first ${ or its end
	middle      // } of a template and what follows it, up to the next ${ or its end
	punct
)

type token struct {
	kind       kind
	text       string
	start      int
	newline    bool // stands behind an end of line
	more       bool // open, middle: ends in ${
	hasEscape  bool // word: written with \u
	isProperty bool // word: stands behind a dot
}

// after says what a token allows a slash to be.
type after int

const (
	operator after = iota // the begin of a regular expression
	operand               // a division, on the same line
	unclear               // either
)

// scanner reads a program token by token, as esbuild's lexer does. The one
// thing that a lexer cannot know is whether a slash divides or begins a regular
// expression; where neither is certain and it matters, the scanner gives up.
type scanner struct {
	src     string
	at      int
	last    token
	state   after // what the last token allows
	whole   bool  // the last token ends an operand for certain
	wrong   *Error
	lenient bool // guess where a slash is unclear

	level                        *level
	outer                        []*level
	closed                       *level // the last that was closed
	below                        int    // what the outer levels hold, and one for each
	asks, arrows, infers, scopes int    // of all levels
}

func newScanner(source string) *scanner {
	return &scanner{src: source, level: &level{}}
}

func (s *scanner) fail(at int, message string) {
	if s.wrong == nil {
		line, column := position(s.src, at)
		s.wrong = &Error{Line: line, Column: column, Message: message}
	}
	s.at = len(s.src)
}

// refuse is for what may be right and is not taken.
func (s *scanner) refuse(at int, message string) {
	if s.wrong == nil {
		s.fail(at, message)
		s.wrong.refused = true
	}
}

// next reads a token; eof also after a mistake.
func (s *scanner) next() token {
	t := token{newline: s.space()}
	t.start = s.at
	if s.at >= len(s.src) {
		s.last = t
		return t
	}
	c := s.src[s.at]
	switch {
	case c >= '0' && c <= '9', c == '.' && s.digit(1):
		s.number()
		t.kind = value
	case c == '"', c == '\'':
		s.quoted(c)
		t.kind = value
	case c == '`', c == '}' && s.level.bracket == '`':
		t.kind = open
		if c == '}' {
			t.kind = middle
		}
		t.more = s.template()
	case c == '/' && s.regular(t):
		t.kind = value
	case c == '\\', c == '#', isName(s.rune()):
		s.word(&t)
	default:
		s.punctuation()
		t.kind = punct
	}
	if s.wrong != nil {
		return token{start: t.start}
	}
	t.text = s.src[t.start:s.at]
	t.isProperty = t.kind == word && (s.last.text == "." || s.last.text == "?.") && s.last.kind == punct
	s.count(t)
	if s.wrong != nil && !s.lenient {
		return token{start: t.start}
	}
	s.state = s.judge(t)
	s.whole = s.endsOperand(t)
	s.last = t
	return t
}

// endsOperand says whether a name on a new line behind t begins something new.
func (s *scanner) endsOperand(t token) bool {
	switch t.kind {
	case value:
		return true
	case open, middle:
		return !t.more
	case word:
		return t.isProperty || !t.hasEscape && (words[t.text] == 0 || words[t.text]&wholeOne != 0)
	}
	switch t.text {
	case ")", "]":
		return s.state == operand
	case "!", "++", "--":
		return s.state == operand
	}
	return false
}

func (s *scanner) rune() rune {
	r, _ := utf8.DecodeRuneInString(s.src[s.at:])
	return r
}

func (s *scanner) digit(ahead int) bool {
	at := s.at + ahead
	return at < len(s.src) && s.src[at] >= '0' && s.src[at] <= '9'
}

func isName(r rune) bool {
	return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 && !isSpace(r)
}

func isSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r == 0xfeff || r == 0x85 || lineEnd(r) || unicode.Is(unicode.Zs, r)
}

func lineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

// space passes over blanks and comments; it says whether a line ended.
func (s *scanner) space() (newline bool) {
	newline = s.at == 0
	for s.at < len(s.src) {
		rest := s.src[s.at:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case isSpace(r):
			newline = newline || lineEnd(r)
			s.at += n
		case strings.HasPrefix(rest, "//"):
			s.at += len(rest)
			if end := strings.IndexFunc(rest, lineEnd); end >= 0 {
				s.at += end - len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				s.fail(s.at, "this comment has no end")
				return newline
			}
			newline = newline || strings.IndexFunc(rest[:end+2], lineEnd) >= 0
			s.at += end + 4
		case strings.HasPrefix(rest, "<!--"), newline && strings.HasPrefix(rest, "-->"):
			s.refuse(s.at, "comments of HTML are not supported: write // instead")
			return newline
		default:
			return newline
		}
	}
	return newline
}

func (s *scanner) word(t *token) {
	t.kind = word
	for s.at < len(s.src) {
		r, n := utf8.DecodeRuneInString(s.src[s.at:])
		switch {
		case r == '\\':
			t.hasEscape = true
			s.at++
			if strings.HasPrefix(s.src[s.at:], "u{") {
				end := strings.IndexByte(s.src[s.at:], '}')
				if end < 0 {
					s.fail(t.start, "this name has no end")
					return
				}
				s.at += end + 1
			}
		case r == '#' && s.at == t.start, isName(r):
			s.at += n
		default:
			return
		}
	}
}

// puncts are those of more than one character, the longest first.
var puncts = []string{
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++",
	"--",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
}

func (s *scanner) punctuation() {
	rest := s.src[s.at:]
	for _, p := range puncts {
		if strings.HasPrefix(rest, p) && (p != "?." || len(rest) < 3 || rest[2] < '0' || rest[2] > '9') {
			s.at += len(p)
			return
		}
	}
	s.at++
}

// judge says what a slash behind t is.
func (s *scanner) judge(t token) after {
	switch t.kind {
	case value:
		return operand
	case open, middle:
		if t.more {
			return operator
		}
		return operand
	case word:
		switch {
		case t.isProperty:
			return operand
		case t.hasEscape:
			return unclear
		}
		is := words[t.text]
		switch {
		case is&prefix != 0:
			return operator
		case is&unsure != 0:
			return unclear
		}
		return operand
	}
	switch t.text {
	case ")":
		if s.closed == nil || s.closed.control {
			return unclear
		}
		return operand
	case "]":
		return operand
	case "}", ">", ">>", ">>>", "@":
		return unclear
	case "!", "++", "--":
		if s.state == operand && t.newline {
			return unclear
		}
		return s.state // behind what it stands behind, or before what follows
	}
	return operator
}

// position turns an offset into a line and a column in characters.
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
