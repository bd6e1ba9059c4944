// Package terminal makes text from outside harmless for a terminal. It draws
// nothing and knows no commands.
package terminal

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Cleaner makes text from models, tools, logs and files harmless for a
// terminal: it drops escape sequences with all they carry (colours, titles,
// clipboard, links, pictures, questions to the terminal), other control
// characters and the invisible ones that turn text around. Only line ends and
// tabs stay. It is a state machine, because a stream may cut a sequence in two.
type Cleaner struct {
	state  cleanState
	length int // runes dropped in the sequence so far
}

type cleanState int

const (
	plain  cleanState = iota
	escape            // after ESC
	csi               // ESC [ … final byte
	str               // ESC ] P _ ^ X … BEL or ST
	strEsc            // an ESC inside of it
)

// maxSequence is where an unfinished sequence is given up, so that a lonely
// introducer cannot swallow the rest of an answer.
const maxSequence = 4096

// Clean is a Cleaner for text that is whole.
func Clean(s string) string { return new(Cleaner).Next(s) }

// Line is clean text on one line, for table cells and messages.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Next cleans one more part of a text. Parts must not cut a character.
func (c *Cleaner) Next(s string) string {
	if c.state == plain && harmless(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if c.keep(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func harmless(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func (c *Cleaner) keep(r rune) bool {
	if c.state != plain {
		if c.length++; c.length > maxSequence || r == '\n' {
			c.state = plain
		}
	}
	switch c.state {
	case escape:
		c.afterEscape(r)
		return false
	case csi:
		if r == 0x1b {
			c.begin(escape)
		} else if r >= 0x40 && r <= 0x7e {
			c.state = plain
		}
		return false
	case strEsc:
		c.state = plain // ESC \ ends it; anything else after ESC ends it too
		if r != '\\' {
			c.afterEscape(r)
		}
		return false
	case str:
		switch r {
		case 0x07, 0x9c:
			c.state = plain
		case 0x1b:
			c.state = strEsc
		}
		return false
	}
	return c.keepPlain(r)
}

func (c *Cleaner) keepPlain(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r == 0x1b:
		c.begin(escape)
	case r == 0x9b:
		c.begin(csi)
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		c.begin(str)
	default:
		return !Hidden(r)
	}
	return false
}

func (c *Cleaner) afterEscape(r rune) {
	switch {
	case r == '[':
		c.begin(csi)
	case strings.ContainsRune("]P_^X", r):
		c.begin(str)
	case r == 0x1b:
		c.begin(escape)
	case r >= 0x20 && r <= 0x2f: // ESC ( B and the like: the next one ends it
		c.state = escape
	default:
		c.state = plain
	}
}

func (c *Cleaner) begin(s cleanState) { c.state, c.length = s, 0 }

// Hidden reports control characters and those that reorder or hide text. The
// joiners of scripts and emoji are not among them.
func Hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f: // C0, DEL, C1
	case r == 0x061c, r == 0x200e, r == 0x200f: // marks of direction
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // overrides and isolates
	case r == 0x2028, r == 0x2029: // other line ends
	case r == 0x10eeee: // in some terminals it stands for a part of a picture
	case r == 0xfeff, r >= 0xe0000 && r <= 0xe007f: // byte order mark, tags
	case r == utf8.RuneError:
	default:
		return false
	}
	return true
}

// CleanJSON writes the hidden characters of a JSON text as \u escapes: a
// program reads the same value, a terminal sees nothing to act on.
func CleanJSON(b []byte) []byte {
	if harmless(string(b)) {
		return b
	}
	var out bytes.Buffer
	out.Grow(len(b) + 64)
	for _, r := range string(b) {
		if r != '\n' && r != '\t' && r != utf8.RuneError && Hidden(r) {
			escapeRune(&out, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}

func escapeRune(out *bytes.Buffer, r rune) {
	const hex = "0123456789abcdef"
	put := func(u uint16) {
		out.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			out.WriteByte(hex[u>>shift&0xf])
		}
	}
	if r > 0xffff {
		r -= 0x10000
		put(uint16(0xd800 + r>>10))
		r = 0xdc00 + r&0x3ff
	}
	put(uint16(r))
}
