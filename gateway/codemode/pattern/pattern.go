// Package pattern runs the regular expressions that QuickJS-NG 0.10 compiled:
// the program as it lies in a guest's memory, over a text that lies there too.
// It gives what the guest's own function would give, in a fraction of the time,
// and it asks its caller every now and then whether to go on.
//
// It does not compile expressions and knows nothing of the guest but these
// bytes, which it trusts in nothing. What it does not know, and what needs too
// much memory, it hands back: the guest's own function stays the last word.
package pattern

import (
	"bytes"
	"encoding/binary"
	"runtime"
)

// Outcome is how a run ended.
type Outcome int32

// What Run gives. The first two are what the guest's function returns too.
const (
	NoMatch Outcome = 0
	Match   Outcome = 1
	NotOurs Outcome = -3 // ask the guest's own function
)

const (
	headerSize = 8       // flags u16, captures u8, stack u8, length u32
	maxFrames  = 1 << 19 // of 16 bytes; beyond that the guest counts its own memory
	keptFrames = 1 << 12 // what is kept for the next run
	keptCode   = 1 << 12 // how long a program may be that is kept for the next run
	askEvery   = 20000   // steps between two looks at the clock
	stackSize  = 255
)

// The header's flags.
const (
	flagIgnoreCase = 1 << 1
	flagMultiline  = 1 << 2
	flagUnicode    = 1 << 4
)

// Matcher runs expressions one after the other and keeps its room for the
// next. The zero value is ready. It is not for concurrent use.
type Matcher struct {
	// Ask is called every now and then; what it panics with ends the run.
	Ask func()
	// Captures are a match's bounds in bytes of the text, two for each group,
	// -1 where a group took no part.
	Captures []int32

	code, text []byte
	wide       bool // two bytes a character
	pairs      bool // surrogates count as one character
	fold       bool // case does not count
	unicode    bool
	multiline  bool
	foreign    bool // a character whose case only the guest knows was met
	looks      int  // lookarounds that are open
	left       int  // steps until Ask
	open       opening
	frames     []frame
	sets       []madeSet
	depth      uint8
	stack      [stackSize + 1]int32
	kept       []byte // the program that open and sets belong to, with its header; empty: none
	keptWide   bool   // and the text's width
}

// frame is a choice that can still be taken back, or what a change replaced
// since the choice before.
type frame struct {
	kind  uint8
	depth uint8  // of the stack, then
	slot  uint16 // which capture or place of the stack was changed; how far away the lead of what follows is, plus one
	pos   int32  // in the text; the old value of a change
	pc    int32
	more  int32 // repetitions that can be taken back one by one
}

const (
	isSplit uint8 = iota
	isGreedy
	isAhead
	isNotAhead
	isCapture // changes from here on
	isStack
)

// Run looks for a match of program in text, which holds two bytes a character
// if wide is set, from the character start on.
func (m *Matcher) Run(program, text []byte, wide bool, start int) (out Outcome) {
	defer func() { // a program that no compiler wrote ends outside of itself
		if r := recover(); r != nil {
			if _, ours := r.(runtime.Error); !ours {
				panic(r)
			}
			out, m.kept = NotOurs, m.kept[:0]
		}
	}()
	if wide {
		start *= 2
	}
	if len(program) <= headerSize || start < 0 || start > len(text) || len(text) > 1<<30 {
		return NotOurs
	}
	size := binary.LittleEndian.Uint32(program[4:])
	if uint64(size) > uint64(len(program)-headerSize) || size > 1<<30 || program[3] > stackSize {
		return NotOurs
	}
	flags := binary.LittleEndian.Uint16(program)
	known := m.keep(program[:headerSize+size], wide)
	m.text, m.wide = text, wide
	m.fold, m.unicode, m.multiline = flags&flagIgnoreCase != 0, flags&flagUnicode != 0, flags&flagMultiline != 0
	m.pairs = wide && m.unicode
	m.foreign, m.looks, m.depth, m.left = false, 0, 0, askEvery
	m.Captures = m.Captures[:0]
	for range 2 * int(program[2]) {
		m.Captures = append(m.Captures, -1)
	}
	if !known {
		m.sets = m.sets[:0]
		m.open = m.findOpening()
	}
	m.frames = m.frames[:0]
	out = m.run(start)
	if cap(m.frames) > keptFrames {
		m.frames = nil
	}
	m.code, m.text = nil, nil
	if m.foreign {
		return NotOurs
	}
	return out
}

// keep makes program the one that is run, and says whether what is known of the
// last one holds for it: it is the same to the byte. The one that is kept is a
// copy, so nobody changes it meanwhile. A long one is not kept: comparing it
// would cost more than the guest is charged for asking.
func (m *Matcher) keep(program []byte, wide bool) (known bool) {
	if len(m.kept) > 0 && wide == m.keptWide && bytes.Equal(program, m.kept) {
		m.code = m.kept[headerSize:]
		return true
	}
	m.kept, m.keptWide = m.kept[:0], wide
	m.code = program[headerSize:]
	if len(program) <= keptCode {
		m.kept = append(m.kept, program...)
		m.code = m.kept[headerSize:]
	}
	return false
}

// spend counts n steps.
func (m *Matcher) spend(n int) {
	if m.left -= n; m.left < 0 {
		m.left = askEvery
		if m.Ask != nil {
			m.Ask()
		}
	}
}

func (m *Matcher) u16(pc int) int { return int(binary.LittleEndian.Uint16(m.code[pc:])) }

// i32 reads an operand. As the guest's compiler writes them, no jump leaves
// the program; one that does is found by the bounds of the slice.
func (m *Matcher) i32(pc int) int { return int(int32(binary.LittleEndian.Uint32(m.code[pc:]))) }

func (m *Matcher) choice(kind uint8, pos, pc int) {
	m.frames = append(m.frames, frame{kind: kind, depth: m.depth, pos: int32(pos), pc: int32(pc)})
}

func (m *Matcher) setCapture(slot, pos int) {
	m.frames = append(m.frames, frame{kind: isCapture, slot: uint16(slot), pos: m.Captures[slot]})
	m.Captures[slot] = int32(pos)
}

func (m *Matcher) setStack(slot uint8, to int32) {
	m.frames = append(m.frames, frame{kind: isStack, slot: uint16(slot), pos: m.stack[slot]})
	m.stack[slot] = to
}
