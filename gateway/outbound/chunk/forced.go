package chunk

import "bytes"

// forced finds the best cut when no more than buf[:w] fits.
func (c *cutter) forced(w int) (int, fence) {
	if !c.fence.is() {
		opens, _ := c.fence.after(c.lineAt(c.line), c.limit)
		if opens.is() && c.line > 0 {
			return c.before(c.line), fence{}
		}
		return c.outsideCut(w), fence{}
	}
	if c.fenceAt > 0 && len(bytes.TrimSpace(c.buf[:c.fenceAt])) > 0 {
		return c.before(c.fenceAt), fence{} // the fence may fit into the next chunk as a whole
	}
	return c.insideCut(w), c.fence
}

// lineAt is the line at p, as far as it can matter for being a fence.
func (c *cutter) lineAt(p int) []byte {
	line := c.buf[p:min(len(c.buf), p+c.limit+2)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		return line[:i]
	}
	return line
}

// low is the first place where a chunk may end that can be filled up to w.
func (c *cutter) low(w int) int {
	if c.half {
		return max(1, w/2)
	}
	return max(1, min(c.offset(c.min), w))
}

// before is the cut in front of a fence that starts at at.
func (c *cutter) before(at int) int {
	if c.prefer == Paragraph && c.paragraph >= c.low(at) {
		return c.paragraph
	}
	return at
}

func (c *cutter) outsideCut(w int) int {
	lo := c.low(w)
	if c.prefer == Paragraph && c.paragraph >= lo {
		return c.paragraph
	}
	if c.prefer != Sentence && c.newline >= lo {
		return c.newline
	}
	lo = max(lo, c.outside)
	if p := c.back(w, lo); p > 0 {
		return p
	}
	if c.outside >= c.low(w) {
		return c.outside
	}
	return c.hard(w)
}

// back is the last cut in [lo, w] after a sentence, or else after white space;
// 0 when there is none.
func (c *cutter) back(w, lo int) (space int) {
	for p := w; p >= lo; p-- {
		switch c.buf[p-1] {
		case ' ', '\t', '\n':
			if space == 0 && c.may(p) {
				space = p
			}
		case 0x81, 0x82, 0x9f, 0xa4: // how the full stops of other scripts end
		default:
			continue
		}
		if sentenceEnd(c.buf, p) && c.may(p) {
			return p
		}
	}
	return space
}

// may says whether a cut at p leaves both sides reading as they did: none of
// them may become a line that is taken for a fence.
func (c *cutter) may(p int) bool {
	if p == 0 {
		return false
	}
	if c.buf[p-1] == '\n' {
		return true
	}
	return c.mayCutAt(p) && !startsMarker(c.buf[p:]) && !c.cutsMarked(p)
}

// cutsMarked says whether a cut at p leaves the start of a line that begins
// like a fence.
func (c *cutter) cutsMarked(p int) bool {
	from := max(0, p-c.limit-1)
	i := bytes.LastIndexByte(c.buf[from:p], '\n')
	if i < 0 && from > 0 {
		return false // too long to be taken for one
	}
	return startsMarker(c.buf[from+i+1:])
}

// startsMarker: a line that started here would be taken for a fence.
func startsMarker(b []byte) bool {
	_, _, n := marked(b[:min(len(b), maxIndent+4)])
	return n >= 3
}

// hard cuts at w or just before, wherever the text allows it.
func (c *cutter) hard(w int) int {
	if c.line >= w/2 && c.line > 0 && c.cutsMarked(w) {
		return c.line
	}
	p := c.lastEnd(w)
	if p < 1 {
		return w // one cluster longer than a chunk
	}
	for q, tries := p, 0; q > w/2 && tries < 2*maxIndent; tries++ {
		if !startsMarker(c.buf[q:]) && !c.cutsMarked(q) {
			return q
		}
		q = c.endBefore(q)
	}
	return p
}

// insideCut splits a fence that fills the whole chunk.
func (c *cutter) insideCut(w int) int {
	fits := c.room - c.fence.closeLen()
	if nl := min(w, c.offset(max(1, fits+1))); c.buf[nl-1] == '\n' {
		w = nl // the end of a line need not be added
	} else {
		w = min(w, c.offset(max(1, fits)))
	}
	first := 0 // where the fence's text starts
	if c.fenceAt > 0 || !c.carried.is() {
		first = c.fenceAt + bytes.IndexByte(c.buf[c.fenceAt:], '\n') + 1
	}
	p := bytes.LastIndexByte(c.buf[:w], '\n') + 1
	if p > first && c.closesAt(p) { // do not leave the end of the fence alone
		if q := bytes.LastIndexByte(c.buf[:p-1], '\n') + 1; q > first {
			p = q
		}
		return p
	}
	if p > first && p >= w/2 {
		return p
	}
	if p > first && startsMarker(c.buf[p:]) {
		return p
	}
	end := c.lastEnd(w)
	if end <= first {
		return w
	}
	for q, tries := end, 0; q > max(first, w/2) && tries < 2*maxIndent; tries++ {
		if !startsMarker(c.buf[q:]) {
			return q
		}
		q = c.endBefore(q)
	}
	return end
}

// closesAt says whether the line at p ends the fence.
func (c *cutter) closesAt(p int) bool {
	next, changed := c.fence.after(c.lineAt(p), c.limit)
	return changed && !next.is()
}
