package pdf

import (
	"bytes"
	"strconv"
)

// What a content stream is made of.
type kind int

const (
	ending   kind = iota
	operator      // a word
	number
	text // a string, decoded
	name
	open // of an array or a dictionary
	closed
)

type token struct {
	kind kind
	word []byte // of operator, text, name
	num  float64
}

// lexer reads a content stream, or a CMap, which is written the same way.
type lexer struct {
	b []byte
	i int
}

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) skip() {
	for l.i < len(l.b) {
		switch c := l.b[l.i]; {
		case space(c):
			l.i++
		case c == '%':
			for l.i < len(l.b) && l.b[l.i] != '\n' && l.b[l.i] != '\r' {
				l.i++
			}
		default:
			return
		}
	}
}

func (l *lexer) next() token {
	l.skip()
	if l.i >= len(l.b) {
		return token{}
	}
	c := l.b[l.i]
	switch {
	case c == '(':
		return token{kind: text, word: l.literal()}
	case c == '<' && l.i+1 < len(l.b) && l.b[l.i+1] == '<', c == '>' && l.i+1 < len(l.b) && l.b[l.i+1] == '>':
		l.i += 2
		if c == '<' {
			return token{kind: open}
		}
		return token{kind: closed}
	case c == '<':
		return token{kind: text, word: l.hex()}
	case c == '[' || c == '{':
		l.i++
		return token{kind: open, word: l.b[l.i-1 : l.i]}
	case c == ']' || c == '}' || c == '>' || c == ')':
		l.i++
		return token{kind: closed, word: l.b[l.i-1 : l.i]}
	case c == '/':
		l.i++
		return token{kind: name, word: unescape(l.word())}
	}
	w := l.word()
	if c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		return token{kind: number, num: numberOf(w)}
	}
	return token{kind: operator, word: w}
}

func (l *lexer) word() []byte {
	from := l.i
	for l.i < len(l.b) && !space(l.b[l.i]) && !delimiter(l.b[l.i]) {
		l.i++
	}
	return l.b[from:l.i]
}

// numberOf reads a number; what is none is 0, as viewers do.
func numberOf(w []byte) float64 {
	n, err := strconv.ParseFloat(string(w), 64)
	if err != nil || n > 1e9 || n < -1e9 || n != n {
		return 0
	}
	return n
}

func unescape(w []byte) []byte {
	if bytes.IndexByte(w, '#') < 0 {
		return w
	}
	var out []byte
	for i := 0; i < len(w); i++ {
		if w[i] == '#' && i+2 < len(w) {
			if n, err := strconv.ParseUint(string(w[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, w[i])
	}
	return out
}

// literal reads (…), which may hold balanced brackets.
func (l *lexer) literal() []byte {
	var out []byte
	deep := 0
	for ; l.i < len(l.b); l.i++ {
		switch c := l.b[l.i]; c {
		case '(':
			if deep++; deep > 1 {
				out = append(out, c)
			}
		case ')':
			if deep--; deep == 0 {
				l.i++
				return out
			}
			out = append(out, c)
		case '\\':
			out = l.escape(out)
		default:
			out = append(out, c)
		}
	}
	return out
}

func (l *lexer) escape(out []byte) []byte {
	if l.i++; l.i >= len(l.b) {
		return out
	}
	switch c := l.b[l.i]; {
	case c >= '0' && c <= '7':
		n := 0
		for k := 0; k < 3 && l.i < len(l.b) && l.b[l.i] >= '0' && l.b[l.i] <= '7'; k++ {
			n = n*8 + int(l.b[l.i]-'0')
			l.i++
		}
		l.i--
		return append(out, byte(n))
	case c == '\r':
		if l.i+1 < len(l.b) && l.b[l.i+1] == '\n' {
			l.i++
		}
		return out
	case c == '\n':
		return out
	default:
		if at := bytes.IndexByte([]byte("nrtbf"), c); at >= 0 {
			c = "\n\r\t\b\f"[at]
		}
		return append(out, c)
	}
}

func (l *lexer) hex() []byte {
	var out []byte
	half, n := false, byte(0)
	for l.i++; l.i < len(l.b); l.i++ {
		c := l.b[l.i]
		var d byte
		switch {
		case c == '>':
			l.i++
			if half {
				out = append(out, n<<4)
			}
			return out
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		default:
			continue
		}
		if half {
			out = append(out, n<<4|d)
		}
		half, n = !half, d
	}
	return out
}

// picture skips the bytes of a picture that stands in the stream, behind ID.
func (l *lexer) picture() {
	for l.i++; l.i < len(l.b); {
		at := bytes.Index(l.b[l.i:], []byte("EI"))
		if at < 0 {
			l.i = len(l.b)
			return
		}
		l.i += at + 2
		if space(l.b[l.i-3]) && (l.i == len(l.b) || space(l.b[l.i])) {
			return
		}
	}
}
