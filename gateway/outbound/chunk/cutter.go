package chunk

import (
	"bytes"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// cutter finds the cuts of one text. Offsets are bytes from the start of the
// pending text; everything before seen has been looked at once.
type cutter struct {
	max, min int
	prefer   Break
	soft     bool         // cut as soon as may be, instead of filling chunks up to max
	unit     channel.Unit // of max, min and room
	half     bool         // a chunk that is forced may be as short as half, whatever min says
	tall     int          // most lines of a chunk, 0: any
	limit    int          // longest line that counts as a fence

	buf     []byte
	avail   int   // without a rune that is not complete yet
	blank   int   // trailing white space of the whole text, when it is known
	room    int   // how much of the text fits into the chunk
	carried fence // open at the start of the pending text
	begun   bool  // a chunk was cut off before

	seen      int
	used      int // of room by buf[:seen]
	lines     int // whole ones in buf[:line]
	line      int // start of the line that seen is in
	fence     fence
	fenceAt   int  // where fence was opened, 0 also when it is the carried one
	outside   int  // end of the last closed fence
	solid     bool // a line before has more than white space
	paragraph int  // the last break of each kind outside fences, 0: none
	newline   int

	ends []int // of characters from the start on, as far as somebody asked
}

func newCutter(limit, low int, prefer Break, soft bool) cutter {
	return cutter{max: limit, room: limit, min: low, prefer: prefer, soft: soft, limit: min(maxFenceLine, limit/4)}
}

// rewind starts to look again from the start of the pending text.
func (c *cutter) rewind(open fence) {
	c.carried, c.fence = open, open
	c.seen, c.used, c.lines, c.line, c.fenceAt, c.outside, c.paragraph, c.newline = 0, 0, 0, 0, 0, 0, 0, 0
	c.solid, c.ends = false, c.ends[:0]
	c.room = max(1, c.max-c.unit.Len(open.reopen()))
}

func (c *cutter) restart() {
	c.buf, c.begun = nil, false
	c.rewind(fence{})
}

// drain cuts off what can be; with final all that is left.
func (c *cutter) drain(final bool) (out []Chunk) {
	all := c.buf
	for len(c.buf) > 0 {
		n, open, ok := c.next(final)
		if !ok {
			break
		}
		out = append(out, c.cut(n, open))
	}
	if len(out) > 0 {
		c.buf = append(all[:0], c.buf...)
	}
	return out
}

func (c *cutter) cut(n int, open fence) Chunk {
	body := c.buf[:n]
	ch := Chunk{Open: c.carried.reopen(), Body: string(body), Close: open.closing(body), Continues: c.begun}
	c.buf, c.begun = c.buf[n:], true
	c.rewind(open)
	return ch
}

// next finds where the chunk ends and which fence is open there.
func (c *cutter) next(final bool) (n int, open fence, ok bool) {
	c.avail = len(c.buf)
	if !final {
		c.avail = whole(c.buf)
	}
	for c.seen < c.avail {
		left := c.room - c.used
		part := c.buf[c.seen:min(c.avail, c.seen+utf8.UTFMax*(left+1))]
		i := bytes.IndexByte(part, '\n')
		if i >= 0 {
			part = part[:i+1]
		}
		known := i >= 0 || final
		fits, count := c.walk(part, left)
		if fits < len(part) {
			return c.full(c.seen+fits, known, final)
		}
		if !known && c.prefer == Sentence && mayBeFence(c.buf[c.line:c.avail], c.limit) {
			break
		}
		if p, ok := c.sentenceIn(c.seen+len(part), final); ok {
			return p, fence{}, p > 0
		}
		c.used += count
		c.seen += len(part)
		if i < 0 {
			break
		}
		if p, open, ok := c.endLine(); ok {
			return p, open, true
		}
	}
	if !final {
		return 0, fence{}, false
	}
	return c.rest()
}

// full is next when more than buf[:w] is there.
func (c *cutter) full(w int, known, final bool) (int, fence, bool) {
	if known || !mayBeFence(c.buf[c.line:c.avail], c.limit) {
		if p, ok := c.sentenceIn(w, final); ok {
			return p, fence{}, p > 0
		}
	}
	if !final && c.avail-w < c.limit+2*utf8.UTFMax {
		return 0, fence{}, false // what follows decides about the cut
	}
	p, open := c.forced(w)
	return p, open, true
}

// rest is the last chunk, unless the end of an open fence does not fit.
func (c *cutter) rest() (int, fence, bool) {
	open := c.fence
	if c.line < len(c.buf) {
		open, _ = open.after(c.lineAt(c.line), c.limit)
	}
	if c.used+len(open.closing(c.buf)) <= c.room {
		return len(c.buf), open, true
	}
	p, open := c.forced(len(c.buf))
	return p, open, true
}

// endLine takes note of the line that ends at seen.
func (c *cutter) endLine() (n int, open fence, cut bool) {
	line := c.buf[c.line:c.seen]
	first := firstInk(line)
	blank, next, changed := first == 0, c.fence, false
	if first == '`' || first == '~' {
		next, changed = c.fence.after(line, c.limit)
	}
	if changed && next.is() {
		c.fenceAt = c.line
	}
	if changed && !next.is() {
		c.outside = c.seen
	}
	c.solid = c.solid || !blank
	if changed {
		c.fence = next
	}
	c.line = c.seen
	c.lines++
	if !next.is() {
		c.newline = c.seen
		if blank && !changed {
			c.paragraph = c.seen
		}
		if c.soft && c.solid && c.used >= c.min && (blank && !changed || c.prefer == Newline) {
			return c.seen, fence{}, true
		}
	}
	if c.tall > 0 && c.lines >= c.height() && len(c.buf)-c.seen > c.blank {
		p, open := c.forced(c.seen)
		return p, open, true
	}
	return 0, fence{}, false
}

// firstInk is the first byte of the line that can be seen, 0 when it is blank.
func firstInk(line []byte) byte {
	for _, x := range line {
		if x > ' ' || x != ' ' && x != '\t' && x != '\r' && x != '\n' {
			return x
		}
	}
	return 0
}

// height is how many lines of the text fit into the chunk.
func (c *cutter) height() int {
	h := c.tall
	if c.carried.is() {
		h--
	}
	if c.fence.is() {
		return max(2, h-1)
	}
	return max(1, h)
}
