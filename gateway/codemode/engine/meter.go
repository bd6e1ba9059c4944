package engine

import "fmt"

// meter copies one function's body with the countdown at its entry and at the
// head of every loop. A function that calls nothing goes without the one at its
// entry: what runs through it without a loop ends within its own length, and
// every recursion crosses the entry of one that calls. An instruction it does
// not know is an error: a length guessed wrong would turn data into code.
func meter(out, f []byte) []byte {
	r := &reader{f, 0}
	for n := r.u32(); n > 0; n-- { // locals
		r.u32()
		r.u8()
	}
	check := countdown()
	out = append(out, f[:r.p]...)
	if calls(reader{f, r.p}) {
		out = append(out, check...)
	}
	for !r.done() {
		from := r.p
		op := r.u8()
		skip(r, op)
		out = append(out, f[from:r.p]...)
		if op == opLoop {
			out = append(out, check...)
		}
	}
	return out
}

// calls says whether anything is called from r on.
func calls(r reader) bool {
	for !r.done() {
		op := r.u8()
		if op >= opCall && op <= opLastCall {
			return true
		}
		skip(&r, op)
	}
	return false
}

// countdown: if fuel == 0 { fuel = fuelEvery; drop(import(0, 0)) }; fuel--
func countdown() []byte {
	c := sleb([]byte{0x23, 1, 0x45, 0x04, 0x40, 0x41}, fuelEvery)
	c = append(c, 0x24, 1, 0x41, 0, 0x41, 0, 0x10, fuelImport, 0x1a, 0x0b)
	return append(c, 0x23, 1, 0x41, 1, 0x6b, 0x24, 1)
}

// The instructions that are named here and in prep.go.
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opEnd         = 0x0b
	opCall        = 0x10
	opLastCall    = 0x15 // calls of every kind lie between
)

// skip moves behind the operands of op.
func skip(r *reader, op byte) {
	switch {
	case op <= 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	case op == 0x02, op == 0x03, op == 0x04: // block, loop, if
		r.leb()
	case op == 0x0c, op == 0x0d, op == 0x10, op >= 0x20 && op <= 0x26, op == 0xd2:
		r.u32()
	case op == 0xd0, op == 0x3f, op == 0x40:
		r.u8()
	case op == 0x0e: // br_table
		for n := uint64(r.u32()) + 1; n > 0; n-- {
			r.u32()
		}
	case op == 0x11, op >= 0x28 && op <= 0x3e: // call_indirect, loads, stores
		r.u32()
		r.u32()
	case op == 0x1c:
		for n := r.u32(); n > 0; n-- {
			r.u8()
		}
	case op == 0x41, op == 0x42:
		r.leb()
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op == 0xfc:
		skipExtended(r)
	default:
		panic(fmt.Errorf("instruction %#x: %w", op, errWasm))
	}
}

func skipExtended(r *reader) {
	switch sub := r.u32(); {
	case sub <= 7:
	case sub == 8, sub == 10, sub == 12, sub == 14:
		r.u32()
		r.u32()
	case sub == 9, sub == 11, sub == 13, sub >= 15 && sub <= 17:
		r.u32()
	default:
		panic(fmt.Errorf("instruction 0xfc %d: %w", sub, errWasm))
	}
}
