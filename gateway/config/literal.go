package config

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// key reads a quoted key or a bare name.
func (p *parser) key() (string, error) {
	if c := p.src[p.pos]; c == '"' || c == '\'' {
		return p.str()
	}
	start := p.pos
	var b strings.Builder
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if r == '\\' {
			if !strings.HasPrefix(p.src[p.pos:], `\u`) {
				return "", p.fail(p.pos, `in a key without quotes only \u escapes are allowed`)
			}
			p.pos += 2
			var err error
			if r, err = p.hex(4); err != nil {
				return "", err
			}
			n = 0
		}
		if !nameRune(r, b.Len() == 0) {
			if n == 0 {
				return "", p.fail(start, "this key needs quotation marks")
			}
			break
		}
		b.WriteRune(r)
		p.pos += n
	}
	if b.Len() == 0 {
		return "", p.fail(p.pos, "expected a key, found %s", p.here())
	}
	if p.pos < len(p.src) && (p.src[p.pos] == '-' || p.src[p.pos] == '.') {
		return "", p.fail(start, "a key with - or . in it needs quotation marks around it")
	}
	return b.String(), nil
}

func nameRune(r rune, first bool) bool {
	switch {
	case r == '$' || r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return true
	case r < utf8.RuneSelf:
		return !first && r >= '0' && r <= '9'
	case unicode.In(r, unicode.L, unicode.Nl):
		return true
	}
	return !first && (r == '\u200c' || r == '\u200d' || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc))
}

// bareName says whether a key may stand without quotation marks.
func bareName(s string) bool {
	for i, r := range s {
		if !nameRune(r, i == 0) {
			return false
		}
	}
	return s != ""
}

// str reads a quoted text; p.pos is on the quotation mark.
func (p *parser) str() (string, error) {
	start, quote := p.pos, p.src[p.pos]
	p.pos++
	from := p.pos
	var b *strings.Builder // only when there are escapes
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == quote:
			s := p.src[from:p.pos]
			if b != nil {
				b.WriteString(s)
				s = b.String()
			}
			p.pos++
			return s, nil
		case c == '\n' || c == '\r':
			return "", p.fail(start, "the text is not closed at the end of its line; a %c may be missing", quote)
		case c == '\\':
			if b == nil {
				b = &strings.Builder{}
			}
			b.WriteString(p.src[from:p.pos])
			if err := p.escape(b); err != nil {
				return "", err
			}
			from = p.pos
		default:
			p.pos++
		}
	}
	return "", p.fail(start, "the text that starts here is never closed; a %c is missing", quote)
}

// escape reads one backslash sequence.
func (p *parser) escape(b *strings.Builder) error {
	at := p.pos
	p.pos++
	if p.pos >= len(p.src) {
		return p.fail(at, "the file ends inside a text")
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	switch r {
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'v':
		b.WriteByte('\v')
	case '\r': // a line continued on the next
		if p.pos < len(p.src) && p.src[p.pos] == '\n' {
			p.pos++
		}
	case '\n', '\u2028', '\u2029':
	case 'x', 'u':
		return p.unicode(b, r, at)
	default:
		if r >= '0' && r <= '9' {
			return p.fail(at, `\%c is not a valid escape; write \\ for a backslash`, r)
		}
		b.WriteRune(r)
	}
	return nil
}

func (p *parser) unicode(b *strings.Builder, kind rune, at int) error {
	digits := 4
	if kind == 'x' {
		digits = 2
	}
	r, err := p.hex(digits)
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if strings.HasPrefix(p.src[p.pos:], `\u`) {
			p.pos += 2
			if low, err = p.hex(4); err != nil {
				return err
			}
		}
		if r = utf16.DecodeRune(r, low); r == unicode.ReplacementChar {
			return p.fail(at, "this \\u escape is one half of a pair; the other half is missing")
		}
	}
	if r == 0 {
		return p.fail(at, "a zero character is not allowed")
	}
	b.WriteRune(r)
	return nil
}

func (p *parser) hex(digits int) (rune, error) {
	end := p.pos + digits
	if end > len(p.src) {
		return 0, p.fail(p.pos, "the escape needs %d hexadecimal digits", digits)
	}
	var v rune
	for _, c := range []byte(p.src[p.pos:end]) {
		d := hexDigit(c)
		if d < 0 {
			return 0, p.fail(p.pos, "the escape needs %d hexadecimal digits", digits)
		}
		v = v<<4 | rune(d)
	}
	p.pos = end
	return v, nil
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// number reads a JSON5 number and gives it its standard JSON spelling.
func (p *parser) number() (*node, error) {
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte("+-._", p.src[p.pos]) >= 0 || p.pos < len(p.src) && alnum(p.src[p.pos]) {
		p.pos++
	}
	text, reason := standardNumber(p.src[start:p.pos])
	if reason != "" {
		return nil, p.fail(start, "%s", reason)
	}
	return &node{kind: kindNumber, start: start, end: p.pos, text: text}, nil
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

const notNumber = "this is not a number; put text in quotation marks"

func standardNumber(s string) (text, reason string) {
	body, sign := s, ""
	switch body[0] {
	case '-':
		body, sign = body[1:], "-"
	case '+':
		body = body[1:]
	}
	if body == "Infinity" || body == "NaN" {
		return "", body + " cannot be used in settings; write a finite number"
	}
	if len(body) > 2 && (body[:2] == "0x" || body[:2] == "0X") {
		u, err := strconv.ParseUint(body[2:], 16, 64)
		if err != nil {
			return "", "this is not a hexadecimal number of at most 16 digits"
		}
		return sign + strconv.FormatUint(u, 10), ""
	}
	return decimal(body, sign)
}

func decimal(body, sign string) (text, reason string) {
	mantissa, exp := body, ""
	if i := strings.IndexAny(body, "eE"); i >= 0 {
		mantissa, exp = body[:i], body[i:]
	}
	whole, frac, dot := strings.Cut(mantissa, ".")
	if whole == "" && frac == "" || !digits(whole) || !digits(frac) {
		return "", notNumber
	}
	if len(whole) > 1 && whole[0] == '0' {
		return "", "a number may not start with 0; put text in quotation marks"
	}
	if whole == "" {
		whole = "0"
	}
	if exp != "" {
		e := strings.TrimLeft(exp[1:], "+-")
		if len(exp[1:])-len(e) > 1 || e == "" || !digits(e) {
			return "", notNumber
		}
	}
	text = sign + whole
	if dot && frac != "" {
		text += "." + frac
	}
	text += exp
	if f, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(f, 0) {
		return "", "this number is too large"
	}
	return text, ""
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// word reads true, false and null, and explains the usual mistakes.
func (p *parser) word() (*node, error) {
	start := p.pos
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if !nameRune(r, false) {
			break
		}
		p.pos += n
	}
	switch w := p.src[start:p.pos]; w {
	case "true", "false":
		return &node{kind: kindBool, start: start, end: p.pos, text: w}, nil
	case "null":
		return &node{kind: kindNull, start: start, end: p.pos, text: w}, nil
	case "Infinity", "NaN":
		return nil, p.fail(start, "%s cannot be used in settings; write a finite number", w)
	case "True", "yes", "Yes", "on", "On", "TRUE", "YES", "ON":
		return nil, p.fail(start, "%s is not a value; write true", w)
	case "False", "no", "No", "off", "Off", "FALSE", "NO", "OFF":
		return nil, p.fail(start, "%s is not a value; write false", w)
	case "undefined", "None", "nil":
		return nil, p.fail(start, "%s is not a value; remove the key instead", w)
	case "":
		return nil, p.fail(start, "expected a value, found %s", p.here())
	}
	return nil, p.fail(start, "text needs quotation marks around it")
}
