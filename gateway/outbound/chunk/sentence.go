package chunk

import (
	"unicode"
	"unicode/utf8"
)

// sentenceIn looks for the first end of a sentence between seen and end, when
// that is where a chunk may be cut off. It is 0 when what follows must be known
// first.
func (c *cutter) sentenceIn(end int, final bool) (int, bool) {
	if !c.soft || c.prefer != Sentence || c.fence.is() {
		return 0, false
	}
	if next, _ := c.fence.after(c.lineAt(c.line), c.limit); next.is() {
		return 0, false
	}
	runes := c.used
	for p := c.seen; p <= end; {
		if p > 0 && runes >= c.min && (p < c.avail || c.buf[p-1] == '\n') && sentenceEnd(c.buf, p) {
			if !final && c.buf[p-1] != '\n' && undecided(c.buf[p:c.avail]) {
				return 0, true
			}
			if c.may(p) {
				return p, true
			}
		}
		if p == end {
			break
		}
		_, n := utf8.DecodeRune(c.buf[p:end])
		p += n
		runes++
	}
	return 0, false
}

// undecided says whether b could still go on to be a fence marker.
func undecided(b []byte) bool {
	if len(b) >= maxIndent+4 {
		return false
	}
	indent, _, length := marked(b)
	return length < 3 && indent+length == len(b)
}

func afterSpace(b []byte, p int) bool {
	switch b[p-1] {
	case ' ', '\t', '\n':
		return true
	}
	return false
}

// sentenceEnd says whether a sentence ends before p, its space included.
// Scripts that write no spaces end theirs with a full stop of their own.
func sentenceEnd(b []byte, p int) bool {
	if b[p-1] >= 0x80 {
		r, _ := utf8.DecodeLastRune(b[:p])
		return fullStop(r)
	}
	if !afterSpace(b, p) {
		return false
	}
	for p--; p > 0; {
		r, n := utf8.DecodeLastRune(b[:p])
		switch r {
		case '"', '\'', ')', ']', '*', '_', '”', '’', '»':
			p -= n
			continue
		case '.', '!', '?', '…':
			return !numbered(b, p)
		}
		return fullStop(r)
	}
	return false
}

func fullStop(r rune) bool { return r == '。' || r == '！' || r == '？' || r == '؟' || r == '।' }

// numbered says whether the stop before p is that of "1." at a line's start.
func numbered(b []byte, p int) bool {
	i := p - 1
	for i > 0 && p-i < 8 && b[i-1] >= '0' && b[i-1] <= '9' {
		i--
	}
	if i == p-1 || b[p-1] != '.' {
		return false
	}
	for i > 0 && b[i-1] != '\n' {
		if !unicode.IsSpace(rune(b[i-1])) {
			return false
		}
		i--
	}
	return true
}
