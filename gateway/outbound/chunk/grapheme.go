package chunk

import (
	"slices"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// mayCutAt says whether a character, as people count them, ends at p.
func (c *cutter) mayCutAt(p int) bool { return c.lastEnd(p) == p }

// lastEnd is the last place not after p where a character of buf ends.
func (c *cutter) lastEnd(p int) int {
	if p >= len(c.buf) {
		return len(c.buf)
	}
	if p <= 0 {
		return 0
	}
	if c.buf[p-1] < utf8.RuneSelf && c.buf[p] < utf8.RuneSelf && (c.buf[p-1] != '\r' || c.buf[p] != '\n') {
		return p
	}
	_, n := utf8.DecodeRune(c.buf[p:])
	for at := c.known(); at < p; at = c.known() {
		character, _, _, _ := uniseg.FirstGraphemeCluster(c.buf[at:p+n], -1) // what follows does not matter, and one can be endless
		if at+len(character) > p {
			break
		}
		c.ends = append(c.ends, at+len(character))
	}
	i, found := slices.BinarySearch(c.ends, p)
	switch {
	case found:
		return p
	case i == 0:
		return 0
	}
	return c.ends[i-1]
}

// endBefore is the last place before p where a character ends.
func (c *cutter) endBefore(p int) int {
	_, n := utf8.DecodeLastRune(c.buf[:p])
	return c.lastEnd(p - n)
}

// known is the end of the characters that were looked for so far.
func (c *cutter) known() int {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// walk goes over what fits of b into n units; it tells how many bytes, and units.
// A first rune that does not fit at the start of a chunk is taken nevertheless.
func (c *cutter) walk(b []byte, n int) (size, used int) {
	for used < n && size < len(b) {
		r, w := utf8.DecodeRune(b[size:])
		wide := 1
		switch {
		case c.unit == channel.Bytes:
			wide = w
		case c.unit == channel.UTF16 && r > 0xffff:
			wide = 2
		}
		if used+wide > n && (size > 0 || c.seen > 0) {
			break
		}
		size += w
		used += wide
	}
	return size, used
}

// offset is the length in bytes of the first n units of the pending text, at
// least of one rune.
func (c *cutter) offset(n int) int {
	seen := c.seen
	c.seen = 0
	size, _ := c.walk(c.buf, n)
	c.seen = seen
	return size
}

// whole is the length of b without a rune at its end that is not complete.
func whole(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}
