package engine

import (
	"bytes"
	"fmt"
)

// What the module's bytes are known to hold, and what becomes of them.
const (
	pageSize    = 65536
	oldPages    = 3                                  // the module's smallest memory
	stackPages  = 8                                  // 512 KiB of C stack, above the first heap
	stackLow    = oldPages * pageSize                // where it ends
	stackHigh   = (oldPages + stackPages) * pageSize // where it starts
	stackMargin = 32 << 10                           // what C may use after QuickJS said "no deeper"
	fuelEvery   = 50000                              // loop turns and function entries between two looks at the clock
	fuelImport  = 1                                  // was wasi's args_get, which the first function called, and nothing else
	importCount = 24
	startFunc   = 24  // _start, which nobody calls
	usableFunc  = 611 // js_def_malloc_usable_size, "return 0" on WASI
)

// prepare rewrites the module, by structure and not by byte offset:
//
//   - every loop and every function that calls another counts a new global
//     down and calls import fuelImport when it is spent, so that no run is
//     longer than fuelEvery steps without asking the host (a safepoint for Go,
//     too);
//   - the C stack moves to stackPages of its own instead of lying above data
//     that it would overwrite;
//   - malloc_usable_size tells the truth, so that QuickJS collects garbage by
//     what it really holds;
//   - what would run the module as a program is gone;
//   - debug sections go.
func prepare(in []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("preparing the engine: %v", r)
		}
	}()
	if !bytes.HasPrefix(in, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errWasm
	}
	out = append(make([]byte, 0, len(in)+len(in)/3), in[:8]...)
	r := &reader{in, 8}
	for !r.done() {
		id := r.u8()
		body := r.take(int(r.u32()))
		switch id {
		case 0: // custom: names and debug lines
			continue
		case 2:
			body = importSection(body)
		case 5:
			body = memorySection(body)
		case 6:
			body = globalSection(body)
		case 7:
			body = exportSection(body)
		case 10:
			body = codeSection(body)
		}
		out = append(uleb(append(out, id), uint32(len(body))), body...)
	}
	return out, nil
}

// importSection gives an import of _start another name.
func importSection(body []byte) []byte {
	r := &reader{body, 0}
	n := r.u32()
	if n != importCount {
		panic(errWasm)
	}
	out := uleb(make([]byte, 0, len(body)), n)
	text := func(s string) { out = append(append(out, byte(len(s))), s...) }
	for i := range n {
		from := r.p
		r.take(int(r.u32()))
		name := string(r.take(int(r.u32())))
		if r.u8() != 0 {
			panic(errWasm)
		}
		of := r.u32()
		switch {
		case i == fuelImport && name == "args_get":
			text(hostModule)
			text(hostTick)
		case i == fuelImport:
			panic(errWasm)
		default:
			out = append(out, body[from:r.p]...)
			continue
		}
		out = uleb(append(out, 0), of)
	}
	return out
}

func memorySection(body []byte) []byte {
	r := &reader{body, 0}
	if r.u32() != 1 || r.u8() != 0 || r.u32() != oldPages {
		panic(errWasm)
	}
	return uleb([]byte{1, 0}, oldPages+stackPages)
}

// globalSection moves the stack pointer's start and adds the fuel.
func globalSection(body []byte) []byte {
	r := &reader{body, 0}
	if r.u32() != 1 || r.u8() != 0x7f || r.u8() != 1 || r.u8() != 0x41 {
		panic(errWasm)
	}
	out := sleb([]byte{2, 0x7f, 1, 0x41}, stackHigh)
	out = append(out, 0x0b, 0x7f, 1, 0x41)
	return append(sleb(out, fuelEvery), 0x0b)
}

// exportSection adds the stack pointer: it must be back at its start between
// two calls, and the engine looks.
func exportSection(body []byte) []byte {
	r := &reader{body, 0}
	n := r.u32()
	out := append(uleb(nil, n+1), body[r.p:]...)
	out = append(out, byte(len(stackPointer)))
	return append(append(out, stackPointer...), 3, 0)
}

const stackPointer = "__stack_pointer"

func codeSection(body []byte) []byte {
	r := &reader{body, 0}
	n := r.u32()
	out := uleb(make([]byte, 0, len(body)+len(body)/3), n)
	var f []byte
	for i := range n {
		src := r.take(int(r.u32()))
		switch i + importCount {
		case usableFunc:
			src = usableSize(src)
		case startFunc:
			src = []byte{0, opUnreachable, opEnd}
		}
		f = meter(f[:0], src)
		out = append(uleb(out, uint32(len(f))), f...)
	}
	return out
}

// usableSize is p == 0 ? 0 : (u32[p-4] &^ 7) - 4, the size that stands before
// a chunk of dlmalloc.
func usableSize(src []byte) []byte {
	if string(src) != "\x00\x41\x00\x0b" {
		panic(errWasm)
	}
	return []byte{0, 0x20, 0, 0x45, 0x04, 0x7f, 0x41, 0, 0x05, 0x20, 0, 0x41, 4, 0x6b, 0x28, 2, 0,
		0x41, 0x78, 0x71, 0x41, 4, 0x6b, 0x0b, 0x0b}
}
