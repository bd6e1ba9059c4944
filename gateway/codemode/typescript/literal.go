package typescript

import (
	"strings"
	"unicode/utf8"
)

// number passes over what begins with a digit or a dot.
func (s *scanner) number() {
	letters := func() {
		for s.at < len(s.src) && s.src[s.at] < 0x80 && isName(rune(s.src[s.at])) {
			s.at++
		}
	}
	digits := func() {
		from := s.at
		letters()
		if last := s.src[max(from, s.at-1):s.at]; (last == "e" || last == "E") && s.at < len(s.src) &&
			(s.src[s.at] == '+' || s.src[s.at] == '-') {
			s.at++
			letters()
		}
	}
	if s.src[s.at] == '0' && s.at+1 < len(s.src) && strings.IndexByte("xXoObB", s.src[s.at+1]) >= 0 {
		letters()
		return
	}
	from := s.at
	digits()
	if s.at < len(s.src) && s.src[s.at] == '.' && !strings.ContainsAny(s.src[from:s.at], "eEn") {
		s.at++
		digits()
	}
}

func (s *scanner) quoted(quote byte) {
	from := s.at
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; c {
		case quote:
			s.at++
			return
		case '\\':
			s.at++
			if strings.HasPrefix(s.src[min(s.at, len(s.src)):], "\r\n") {
				s.at++
			}
		case '\n', '\r':
			s.fail(from, "this string has no end")
			return
		}
	}
	s.fail(from, "this string has no end")
}

// template passes over text of a template; it says whether ${ follows.
func (s *scanner) template() (more bool) {
	from := s.at
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '`':
			s.at++
			return false
		case c == '\\':
			s.at++
		case c == '$' && strings.HasPrefix(s.src[s.at:], "${"):
			s.at += 2
			return true
		}
	}
	s.fail(from, "this template has no end")
	return false
}

// regular decides what the slash at s.at is, and passes over a regular
// expression.
func (s *scanner) regular(t token) bool {
	state := s.state
	if state == operand && t.newline {
		state = unclear // behind a type, a line may begin with an expression
	}
	if state == operand {
		return false
	}
	end := s.regularEnd()
	if state == unclear {
		if end < 0 || s.lenient && s.state == operand {
			return false
		}
		if !s.lenient {
			s.refuse(s.at, "this / may divide or begin a regular expression: put the expression in parentheses, or the / at the end of the line "+
				"before")
			return true
		}
	}
	if end < 0 {
		s.fail(s.at, "this regular expression has no end")
		return true
	}
	s.at = end
	for s.at < len(s.src) && isName(s.rune()) {
		s.at += utf8.RuneLen(s.rune())
	}
	return true
}

// regularEnd is where the regular expression at s.at ends, or -1.
func (s *scanner) regularEnd() int {
	class := false
	for i := s.at + 1; i < len(s.src); {
		r, n := utf8.DecodeRuneInString(s.src[i:])
		i += n
		switch {
		case lineEnd(r):
			return -1
		case r == '\\':
			if r, n = utf8.DecodeRuneInString(s.src[min(i, len(s.src)):]); lineEnd(r) {
				return -1
			}
			i += n
		case class:
			class = r != ']'
		case r == '[':
			class = true
		case r == '/':
			return i
		}
	}
	return -1
}
