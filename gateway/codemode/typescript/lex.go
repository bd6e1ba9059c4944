package typescript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	eof kind = iota
	name
	private // #name
	number
	text
	template // the backtick that opens one
	pattern  // a regular expression
	punct
)

// token is one word of the program. A word that was written with escapes is
// decoded and is no keyword.
type token struct {
	kind       kind
	escaped    bool
	newline    bool // a line ended before it
	start, end int
	text       string
}

// scan reads the token at or after at. A slash is always a division here: who
// waits for an expression asks again with regexp.
func (p *parser) scan(at int) token {
	t := token{}
	at, t.newline = p.blanks(at)
	t.start, t.end = at, at
	if at >= len(p.src) {
		return t
	}
	c := p.src[at]
	switch {
	case c == '"' || c == '\'':
		t.kind, t.end = text, p.quoted(at, c)
	case c == '`':
		t.kind, t.end = template, at+1
	case c >= '0' && c <= '9', c == '.' && at+1 < len(p.src) && digit(p.src[at+1]):
		t.kind, t.end = number, p.number(at)
	case c == '#' && at+1 < len(p.src) && (word(p.src[at+1]) || p.src[at+1] == '\\'):
		t.kind, t.end = private, p.word(at+1, &t)
		return t
	case word(c), c == '\\':
		t.kind, t.end = name, p.word(at, &t)
		if t.end == at {
			p.fail(at, "this character does not belong here")
			t.kind = eof
		}
		return t
	default:
		t.kind, t.end = punct, at+operator(p.src[at:])
	}
	t.text = p.src[t.start:t.end]
	return t
}

// blanks passes over white space and comments.
func (p *parser) blanks(at int) (next int, newline bool) {
	for at < len(p.src) {
		c := p.src[at]
		switch {
		case c == '\n' || c == '\r':
			at, newline = at+1, true
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			at++
		case c == '/' && strings.HasPrefix(p.src[at:], "//"):
			for at < len(p.src) {
				r, n := utf8.DecodeRuneInString(p.src[at:])
				if lineEnd(r) {
					break
				}
				at += n
			}
		case c == '/' && strings.HasPrefix(p.src[at:], "/*"):
			end := strings.Index(p.src[at+2:], "*/")
			if end < 0 {
				p.fail(at, "this comment has no end")
				return len(p.src), newline
			}
			newline = newline || strings.ContainsAny(p.src[at:at+2+end], "\n\r\u2028\u2029")
			at += end + 4
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(p.src[at:])
			if !lineEnd(r) && !unicode.Is(unicode.Zs, r) && r != '\ufeff' {
				return at, newline
			}
			at, newline = at+n, newline || lineEnd(r)
		default:
			return at, newline
		}
	}
	return at, newline
}

// quoted returns the end of a string.
func (p *parser) quoted(at int, quote byte) int {
	for i := at + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case quote:
			return i + 1
		case '\\':
			if i++; i+1 < len(p.src) && p.src[i] == '\r' && p.src[i+1] == '\n' {
				i++
			}
		case '\n', '\r':
			p.fail(at, "this string has no end on its line")
			return i
		}
	}
	p.fail(at, "this string has no end")
	return len(p.src)
}

// number returns the end of a number.
func (p *parser) number(at int) int {
	i := at
	run := func() {
		for i < len(p.src) && (digit(p.src[i]) || p.src[i] == '_') {
			i++
		}
	}
	if p.src[i] == '0' && i+1 < len(p.src) && strings.IndexByte("xXoObB", p.src[i+1]) >= 0 {
		for i += 2; i < len(p.src) && p.src[i] < utf8.RuneSelf && word(p.src[i]); {
			i++
		}
		return i
	}
	run()
	if i < len(p.src) && p.src[i] == '.' {
		i++
		run()
	}
	if i < len(p.src) && (p.src[i] == 'e' || p.src[i] == 'E') {
		i++
		if i < len(p.src) && (p.src[i] == '+' || p.src[i] == '-') {
			i++
		}
		run()
	}
	if i < len(p.src) && p.src[i] == 'n' {
		i++
	}
	return i
}

// word reads an identifier into t and returns its end.
func (p *parser) word(at int, t *token) int {
	var decoded strings.Builder
	from, i := at, at
	for i < len(p.src) {
		c := p.src[i]
		if c == '\\' {
			r, n := escape(p.src[i:])
			if n == 0 {
				p.fail(i, "this escape is not a character of a name")
				return i
			}
			decoded.WriteString(p.src[from:i])
			decoded.WriteRune(r)
			i += n
			from, t.escaped = i, true
			continue
		}
		if c < utf8.RuneSelf {
			if !word(c) {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if lineEnd(r) || unicode.Is(unicode.Zs, r) || r == '\ufeff' {
			break
		}
		i += n
	}
	t.text = p.src[from:i]
	if t.escaped {
		t.text = decoded.String() + t.text
	}
	return i
}

// escape reads \uXXXX or \u{X}; n is 0 when it is neither.
func escape(s string) (r rune, n int) {
	if !strings.HasPrefix(s, `\u`) {
		return 0, 0
	}
	digits, rest := s[2:min(len(s), 6)], 6
	if strings.HasPrefix(s, `\u{`) {
		end := strings.IndexByte(s[:min(len(s), 12)], '}')
		if end < 0 {
			return 0, 0
		}
		digits, rest = s[3:end], end+1
	} else if len(digits) < 4 {
		return 0, 0
	}
	for _, c := range digits {
		v := strings.IndexRune("0123456789abcdef", unicode.ToLower(c))
		if v < 0 {
			return 0, 0
		}
		r = r<<4 | rune(v)
	}
	return r, rest
}

// operators, the longest first. A > stands alone: in types it closes.
var operators = [...]string{
	"...", "===", "!==", "**=", "<<=", "&&=", "||=", "??=",
	"=>", "==", "!=", "**", "++", "--", "<<", "<=", "&&", "||", "??", "?.",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
}

// operator returns the length of the punctuation that s begins with.
func operator(s string) int {
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			if o == "?." && len(s) > 2 && digit(s[2]) {
				return 1
			}
			return len(o)
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// word says whether c can be in a name; bytes of other scripts count.
func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || digit(c) || c >= utf8.RuneSelf
}

func lineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

// regexp reads the slash that the parser stands on as a regular expression.
func (p *parser) regexp() {
	class := false
	for i := p.tok.start + 1; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\n' || c == '\r':
			p.fail(p.tok.start, "this regular expression has no end on its line")
			return
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(p.src) && word(p.src[i]); {
				i++
			}
			p.tok.kind, p.tok.end, p.tok.text = pattern, i, ""
			return
		}
	}
	p.fail(p.tok.start, "this regular expression has no end")
}

// greater joins the > that the parser stands on with what follows it, for an
// expression.
func (p *parser) greater() {
	if p.tok.kind != punct || p.tok.text != ">" {
		return
	}
	for _, o := range [...]string{">>>=", ">>>", ">>=", ">>", ">="} {
		if strings.HasPrefix(p.src[p.tok.start:], o) {
			p.tok.text, p.tok.end = o, p.tok.start+len(o)
			return
		}
	}
}
