package pattern

import "encoding/binary"

// unit is the 16 bits at byte p of a wide text.
func (m *Matcher) unit(p int) uint32 { return uint32(binary.LittleEndian.Uint16(m.text[p:])) }

func high(c uint32) bool { return c>>10 == 0xd800>>10 }
func low(c uint32) bool  { return c>>10 == 0xdc00>>10 }

func pair(hi, lo uint32) uint32 { return 0x10000 + (hi-0xd800)<<10 + (lo - 0xdc00) }

// at is the character at pos, before end, and where the next one is.
func (m *Matcher) at(pos, end int) (uint32, int) {
	if !m.wide {
		return uint32(m.text[pos]), pos + 1
	}
	c := m.unit(pos)
	if pos += 2; m.pairs && high(c) && pos < end {
		if d := m.unit(pos); low(d) {
			return pair(c, d), pos + 2
		}
	}
	return c, pos
}

// ahead is the character before pos, after start, and where it is.
func (m *Matcher) ahead(pos, start int) (uint32, int) {
	if !m.wide {
		return uint32(m.text[pos-1]), pos - 1
	}
	pos -= 2
	c := m.unit(pos)
	if m.pairs && low(c) && pos > start {
		if d := m.unit(pos - 2); high(d) {
			return pair(d, c), pos - 2
		}
	}
	return c, pos
}

// before is where the character before pos is.
func (m *Matcher) before(pos int) int {
	_, pos = m.ahead(pos, 0)
	return pos
}

func lineEnd(c uint32) bool { return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 }

func wordChar(c uint32) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '_'
}

// folded is c as it counts when case does not. What stands above Latin-1 only
// the guest knows: it has tables.
func (m *Matcher) folded(c uint32) uint32 {
	switch {
	case m.unicode && (c-'A' < 26 || c-0xc0 < 31 && c != 0xd7):
		return c + 0x20
	case !m.unicode && (c-'a' < 26 || c-0xe0 < 31 && c != 0xf7):
		return c - 0x20
	case c == 0xb5 && m.unicode:
		return 0x3bc
	case c == 0xb5:
		return 0x39c
	case c == 0xff && !m.unicode:
		return 0x178
	case c > 0xff:
		m.foreign = true
	}
	return c
}

// eat works off an instruction that looks at one character.
func (m *Matcher) eat(op byte, pc, pos int) (int, int) {
	var want uint32
	switch op {
	case opChar8:
		want, pc = uint32(m.code[pc]), pc+1
	case opChar16:
		want, pc = uint32(m.u16(pc)), pc+2
	case opChar32:
		want, pc = uint32(m.i32(pc)), pc+4
	case opLineStart, opLineEnd, opWordBoundary, opNotWordBoundary:
		return pc, m.between(op, pos)
	}
	if pos >= len(m.text) {
		return pc, -1
	}
	c, next := m.at(pos, len(m.text))
	switch op {
	case opDot:
		if lineEnd(c) {
			return pc, -1
		}
		return pc, next
	case opAny:
		return pc, next
	}
	if m.fold {
		c = m.folded(c)
	}
	switch op {
	case opChar8, opChar16, opChar32:
		if c != want {
			return pc, -1
		}
		return pc, next
	case opRange:
		if n := m.u16(pc); m.inRange(pc+2, n, c) {
			return pc + 2 + 4*n, next
		}
		return pc, -1
	case opRange32:
		if n := m.u16(pc); m.inRange32(pc+2, n, c) {
			return pc + 2 + 8*n, next
		}
		return pc, -1
	}
	m.foreign = true
	return pc, -1
}

// between works off an instruction that looks at what stands around pos.
func (m *Matcher) between(op byte, pos int) int {
	var c, d uint32
	if pos > 0 {
		c, _ = m.ahead(pos, 0)
	}
	if pos < len(m.text) {
		d, _ = m.at(pos, len(m.text))
	}
	var ok bool
	switch op {
	case opLineStart:
		ok = pos == 0 || m.multiline && lineEnd(c)
	case opLineEnd:
		ok = pos == len(m.text) || m.multiline && lineEnd(d)
	default:
		ok = (wordChar(c) != wordChar(d)) == (op == opWordBoundary)
	}
	if !ok {
		return -1
	}
	return pos
}

// inRange looks c up in n pairs of bounds. A last bound of 0xffff has no end.
func (m *Matcher) inRange(pc, n int, c uint32) bool {
	table := m.code[pc : pc+4*n]
	if c >= 0xffff && n > 0 && m.u16(pc+4*n-2) == 0xffff {
		return true
	}
	for lo, hi := 0, n; lo < hi; {
		mid := (lo + hi) / 2
		pair := binary.LittleEndian.Uint32(table[4*mid:])
		switch {
		case c < pair&0xffff:
			hi = mid
		case c > pair>>16:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

func (m *Matcher) inRange32(pc, n int, c uint32) bool {
	table := m.code[pc : pc+8*n]
	for lo, hi := 0, n; lo < hi; {
		mid := (lo + hi) / 2
		switch {
		case c < binary.LittleEndian.Uint32(table[8*mid:]):
			hi = mid
		case c > binary.LittleEndian.Uint32(table[8*mid+4:]):
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

// again is a reference back: what a group captured stands at pos again, or
// before it.
func (m *Matcher) again(group, pos int, backward bool) int {
	if 2*group+1 >= len(m.Captures) {
		return -1
	}
	from, to := int(m.Captures[2*group]), int(m.Captures[2*group+1])
	if from < 0 || to < 0 {
		return pos
	}
	var c, d uint32
	for from < to {
		if backward {
			if pos == 0 {
				return -1
			}
			c, to = m.ahead(to, from)
			d, pos = m.ahead(pos, 0)
		} else {
			if pos >= len(m.text) {
				return -1
			}
			c, from = m.at(from, to)
			d, pos = m.at(pos, len(m.text))
		}
		if m.spend(1); m.fold {
			c, d = m.folded(c), m.folded(d)
		}
		if c != d {
			return -1
		}
	}
	return pos
}
