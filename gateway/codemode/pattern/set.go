package pattern

import "encoding/binary"

// set says of each character of a narrow text whether one instruction takes it.
type set [4]uint64

func (s *set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// add puts in what lies from lo to hi.
func (s *set) add(lo, hi uint32) {
	if lo > 0xff || lo > hi {
		return
	}
	hi = min(hi, 0xff)
	for w := lo >> 6; w <= hi>>6; w++ {
		bits := ^uint64(0)
		if w == lo>>6 {
			bits <<= lo & 63
		}
		if w == hi>>6 {
			bits &= ^uint64(0) >> (63 - hi&63)
		}
		s[w] |= bits
	}
}

// madeSet is a set and whose it is.
type madeSet struct {
	pc int
	set
}

const keptSets = 16

// setOf gives the set of the instruction at pc, or nil if there is none: the
// text is wide, case does not count, or it is no instruction that takes one
// character. A program has few of them, and they are made when they are met.
func (m *Matcher) setOf(pc int) *set {
	if m.wide || m.fold {
		return nil
	}
	for i := range m.sets {
		if m.sets[i].pc == pc {
			return &m.sets[i].set
		}
	}
	var s set
	switch m.code[pc] {
	case opChar8:
		s.add(uint32(m.code[pc+1]), uint32(m.code[pc+1]))
	case opAny:
		s.add(0, 0xff)
	case opDot:
		s = set{^uint64(1<<'\n' | 1<<'\r'), ^uint64(0), ^uint64(0), ^uint64(0)}
	case opRange:
		for table := m.code[pc+3 : pc+3+4*m.u16(pc+1)]; len(table) > 0; table = table[4:] {
			s.add(uint32(binary.LittleEndian.Uint16(table)), uint32(binary.LittleEndian.Uint16(table[2:])))
		}
	default:
		return nil
	}
	if m.sets == nil {
		m.sets = make([]madeSet, 0, keptSets) // never moved: somebody may look at one
	}
	if len(m.sets) == keptSets {
		one := s
		return &one
	}
	m.sets = append(m.sets, madeSet{pc, s})
	return &m.sets[len(m.sets)-1].set
}

// lead gives where the instruction stands that tests the next character when
// the program goes on at pc, if the first that can fail is one.
func (m *Matcher) lead(pc int) (at int, ok bool) {
	for m.code[pc] == opSaveStart || m.code[pc] == opSaveEnd {
		pc += 2
	}
	if m.code[pc] == opSimpleGreedyQuant && m.i32(pc+5) > 0 {
		pc += 17
	}
	switch m.code[pc] {
	case opChar8, opChar16, opChar32, opRange, opRange32:
		return pc, true
	}
	return 0, false
}

// everywhere is how a program begins that tries every place of the text.
const everywhere = 11

// opening is what every match must begin with.
type opening struct {
	test int // where the instruction stands that tests the first character; 0: there is none
	// A repetition without an end of that test, least times or more, with a test
	// of what follows it; 0: there is none. What it runs over without finding
	// what must follow holds no match's beginning.
	least, then int
}

// findOpening looks how a program begins that tries every place.
func (m *Matcher) findOpening() (o opening) {
	if len(m.code) < everywhere+2 || m.code[0] != opSplitGotoFirst || m.i32(1) != 6 ||
		m.code[5] != opAny || m.code[6] != opGoto || m.i32(7) != -everywhere {
		return o
	}
	at, ok := m.lead(everywhere)
	if !ok {
		return o
	}
	o.test = at
	quant := at - 17
	if quant < everywhere || m.code[quant] != opSimpleGreedyQuant {
		return o
	}
	if next := at + m.i32(quant+1); m.i32(quant+9) == 1<<31-1 && m.setOf(at) != nil && next == m.after(at) {
		if then, ok := m.lead(next); ok && m.setOf(then) != nil {
			o.least, o.then = m.i32(quant+5), then
		}
	}
	return o
}

// takes says whether the instruction at pc takes the character at pos.
func (m *Matcher) takes(s *set, pc, pos int) bool {
	if s != nil {
		return pos < len(m.text) && s.has(m.text[pos])
	}
	_, next := m.eat(m.code[pc], pc+1, pos)
	return next >= 0
}

// skip gives the first place from pos on where a match can begin, or -1.
func (m *Matcher) skip(pos int) int {
	s := m.setOf(m.open.test)
	for from := pos; pos < len(m.text); {
		if !m.takes(s, m.open.test, pos) {
			_, pos = m.at(pos, len(m.text))
			continue
		}
		end := m.hopeless(s, pos)
		if end < 0 {
			m.spend((pos - from) / 4)
			return pos
		}
		m.spend((end - pos) / 4)
		pos = end
	}
	return -1
}

// hopeless gives where the run of s that begins at pos ends if nothing in it
// can begin a match, or -1.
func (m *Matcher) hopeless(s *set, pos int) int {
	if m.open.then == 0 {
		return -1
	}
	then, end := m.setOf(m.open.then), pos+1
	for end < len(m.text) && s.has(m.text[end]) {
		end++
	}
	for at := pos + m.open.least; at <= end && at < len(m.text); at++ {
		if then.has(m.text[at]) {
			return -1
		}
	}
	return end
}

// after is where a quantifier ends whose body is the instruction at pc alone;
// behind it stands opMatch.
func (m *Matcher) after(pc int) int {
	switch m.code[pc] {
	case opChar8:
		pc += 2
	case opRange:
		pc += 3 + 4*m.u16(pc+1)
	default:
		pc++
	}
	return pc + 1
}
