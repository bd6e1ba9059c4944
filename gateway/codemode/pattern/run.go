package pattern

// The instructions of a program.
const (
	opInvalid = iota
	opChar8
	opChar16
	opChar32
	opDot
	opAny
	opLineStart
	opLineEnd
	opGoto
	opSplitGotoFirst
	opSplitNextFirst
	opMatch
	opSaveStart
	opSaveEnd
	opSaveReset
	opLoop
	opPushI32
	opDrop
	opWordBoundary
	opNotWordBoundary
	opBackReference
	opBackwardBackReference
	opRange
	opRange32
	opLookahead
	opNegativeLookahead
	opPushCharPos
	opCheckAdvance
	opPrev
	opSimpleGreedyQuant
)

// run works the program off from the text's byte pos on.
func (m *Matcher) run(pos int) Outcome {
	pc := 0
	for {
		if m.left--; m.left < 0 {
			m.spend(0)
			if len(m.frames) > maxFrames || m.foreign {
				return NotOurs
			}
		}
		op := m.code[pc]
		pc++
		switch op {
		case opGoto:
			pc += 4 + m.i32(pc)
		case opSplitGotoFirst:
			if pc == 1 && m.open.test > 0 && len(m.frames) == 0 {
				if pos = m.skip(pos); pos < 0 {
					return NoMatch // nothing stands below this choice
				}
			}
			m.choice(isSplit, pos, pc+4)
			pc += 4 + m.i32(pc)
		case opSplitNextFirst:
			m.choice(isSplit, pos, pc+4+m.i32(pc))
			pc += 4
		case opSaveStart, opSaveEnd:
			m.setCapture(2*int(m.code[pc])+int(op-opSaveStart), pos)
			pc++
		case opSaveReset:
			for slot := 2 * int(m.code[pc]); slot < 2*int(m.code[pc+1])+2; slot++ {
				m.setCapture(slot, -1)
			}
			pc += 2
		case opLookahead, opNegativeLookahead:
			m.choice(isAhead+op-opLookahead, pos, pc+4+m.i32(pc))
			m.looks++
			pc += 4
		case opPushI32:
			m.setStack(m.depth, int32(m.i32(pc)))
			m.depth++
			pc += 4
		case opPushCharPos:
			m.setStack(m.depth, int32(pos))
			m.depth++
		case opDrop:
			m.depth--
		case opLoop:
			m.setStack(m.depth-1, m.stack[m.depth-1]-1)
			if m.stack[m.depth-1] != 0 {
				pc += m.i32(pc)
			}
			pc += 4
		case opMatch:
			if m.looks == 0 {
				return Match
			}
			if pc, pos = m.seen(); pc < 0 {
				return NoMatch
			}
		default:
			if pc, pos = m.consume(op, pc, pos); pos < 0 {
				if pc, pos = m.back(); pc < 0 {
					return NoMatch
				}
			}
		}
	}
}

// consume works off an instruction that can fail, which it says by a pos below
// zero.
func (m *Matcher) consume(op byte, pc, pos int) (int, int) {
	switch op {
	case opSimpleGreedyQuant:
		return m.repeat(pc, pos)
	case opCheckAdvance:
		m.depth--
		if int(m.stack[m.depth]) == pos {
			return pc, -1
		}
		return pc, pos
	case opBackReference, opBackwardBackReference:
		return pc + 1, m.again(int(m.code[pc]), pos, op == opBackwardBackReference)
	case opPrev:
		if pos == 0 {
			return pc, -1
		}
		return pc, m.before(pos)
	}
	return m.eat(op, pc, pos)
}

// repeat is a quantifier whose body takes characters and nothing else.
func (m *Matcher) repeat(pc, pos int) (int, int) {
	next, least, most, body := pc+16+m.i32(pc), m.i32(pc+4), m.i32(pc+8), pc+16
	if most == 1<<31-1 {
		most = len(m.text) + 1 // each takes one character or more
	}
	n, op := 0, m.code[body]
	if s := m.setOf(body); s != nil && next == m.after(body) {
		rest := m.text[pos:min(len(m.text), pos+most)]
		for n < len(rest) && s.has(rest[n]) {
			n++
		}
		pos += n
		m.spend(n / 4)
	} else {
		for ; n < most; n++ {
			end := m.body(op, body, pos)
			if end < 0 {
				break
			}
			pos = end
			m.spend(1)
		}
	}
	if n < least {
		return pc, -1
	}
	f := frame{kind: isGreedy, depth: m.depth, pos: int32(pos), pc: int32(pc), more: int32(n - least)}
	at, ok := m.lead(next)
	if ok && at-next < 64 {
		f.slot = uint16(at-next) + 1
		if !m.takes(m.setOf(at), at, pos) { // no need to go there and fail
			return m.less(&f)
		}
	}
	if n > least {
		m.frames = append(m.frames, f)
	}
	return next, pos
}

// body runs a quantifier's body once.
func (m *Matcher) body(op byte, pc, pos int) int {
	for {
		pc, pos = m.eat(op, pc+1, pos)
		if pos < 0 {
			return pos
		}
		if op = m.code[pc]; op == opMatch {
			return pos
		}
	}
}

// back takes changes back up to the latest choice, and takes that the other
// way. A pc below zero says that there is none.
func (m *Matcher) back() (pc, pos int) {
	for n := len(m.frames); n > 0; n = len(m.frames) {
		f := &m.frames[n-1]
		switch f.kind {
		case isCapture:
			m.Captures[f.slot] = f.pos
		case isStack:
			m.stack[f.slot] = f.pos
		case isAhead:
			m.looks--
		case isSplit, isNotAhead:
			if f.kind == isNotAhead {
				m.looks--
			}
			m.depth = f.depth
			pc, pos = int(f.pc), int(f.pos)
			m.frames = m.frames[:n-1]
			return pc, pos
		case isGreedy:
			f := *f
			m.frames = m.frames[:n-1]
			if pc, pos = m.less(&f); pos >= 0 {
				return pc, pos
			}
			continue
		}
		m.frames = m.frames[:n-1]
	}
	return -1, -1
}

// less takes repetitions back until what follows can go on, and leaves the
// rest of them as a choice. A pos below zero says that it never can.
func (m *Matcher) less(f *frame) (pc, pos int) {
	m.depth = f.depth
	pc, pos = int(f.pc), int(f.pos)
	count, next := m.i32(pc+12), pc+16+m.i32(pc)
	lead := next + int(f.slot) - 1
	var s *set
	if f.slot > 0 {
		s = m.setOf(lead)
	}
	for f.more > 0 {
		for range count {
			pos = m.before(pos)
		}
		f.more--
		m.spend(1)
		if f.slot == 0 || m.takes(s, lead, pos) {
			if f.pos = int32(pos); f.more > 0 {
				m.frames = append(m.frames, *f)
			}
			return next, pos
		}
	}
	return next, -1
}

// seen ends the innermost lookaround, whose body matched.
func (m *Matcher) seen() (pc, pos int) {
	at := len(m.frames) - 1
	for m.frames[at].kind != isAhead && m.frames[at].kind != isNotAhead {
		m.spend(1)
		at--
	}
	f := m.frames[at]
	if f.kind == isNotAhead {
		for len(m.frames) > at {
			last := m.frames[len(m.frames)-1]
			switch last.kind {
			case isCapture:
				m.Captures[last.slot] = last.pos
			case isStack:
				m.stack[last.slot] = last.pos
			}
			m.frames = m.frames[:len(m.frames)-1]
		}
		m.looks--
		return m.back()
	}
	// What it captured stays, and can be taken back by who comes before it; its
	// choices are gone.
	for i := len(m.frames) - 1; i > at; i-- {
		if g := m.frames[i]; g.kind == isStack {
			m.stack[g.slot] = g.pos
		}
	}
	kept := m.frames[:at]
	for _, g := range m.frames[at+1:] {
		if g.kind == isCapture {
			kept = append(kept, g)
		}
	}
	m.frames = kept
	m.looks--
	m.depth = f.depth
	return int(f.pc), int(f.pos)
}
