package engine

import "bytes"

// QuickJS 0.10 has no ropes: every s += x copies s. It does append in place
// when nobody else holds s and there is room behind it, but neither ever
// happens: the variable itself holds it, and malloc leaves no room. Both are
// changed here, for local variables and for those of outer functions; globals
// and properties are copied as before.
//
// The rule of every change: the variable lets go of its text only when the
// append that follows cannot fail, so that nobody ever sees it empty.

// roomyFrom is from how many bytes on malloc gives an eighth more, roomyBelow
// up to where.
const (
	roomyFrom  = 512
	roomyBelow = 1 << 30
)

// roomyMalloc changes js_def_malloc, which is malloc(size).
func roomyMalloc(src []byte) []byte {
	if !bytes.HasPrefix(src, []byte{0, opLocalGet, 1, opCall}) {
		panic(errWasm)
	}
	b := []byte{0, opLocalGet, 1, opLocalGet, 1, opI32Const, 3, opI32ShrU, opI32Const, 0, opLocalGet, 1}
	b = sleb(append(b, opI32Const), roomyFrom)
	b = sleb(append(b, opI32Sub, opI32Const), roomyBelow)
	b = append(b, opI32LtU, opSelect, opI32Add) // size + (size-roomyFrom < roomyBelow ? size>>3 : 0)
	return append(b, src[3:]...)
}

// The interpreter's OP_add_loc with a text on its left, as compiled. Locals
// there: 7 the variable's address, 8 its value, 11 a spare, 12 the right side,
// 13 the context.
const (
	// 12 = JS_ToPrimitive(ctx, 12)
	addRight = "\x20\x0d\x20\x0c\x41\x02\x10\xbf\x03"
	// 8 = *7; if counted { 8.refs++ }
	addHold = "\x20\x07\x29\x03\x00\x22\x08\x42\x20\x88\xa7\x41\x77\x4f\x04\x40" +
		"\x20\x08\xa7\x22\x0b\x20\x0b\x28\x02\x00\x41\x01\x6a\x36\x02\x00\x0b"
	// JS_ConcatString(ctx, 8, 12)
	addConcat = "\x20\x0d\x20\x08\x20\x0c\x10\xd8\x03"
)

// appendInPlace changes OP_add_loc: a whole number on the right becomes a text
// first, and the variable lets go of a text that it alone holds.
func appendInPlace(src []byte) []byte {
	at := bytes.Index(src, []byte(addHold+addConcat))
	if at < 0 || bytes.Count(src, []byte(addHold)) != 1 {
		panic(errWasm)
	}
	right := bytes.LastIndex(src[:at], []byte(addRight))
	if right < 0 || at-right > 64 {
		panic(errWasm)
	}
	right += len(addRight)
	out := append(make([]byte, 0, len(src)+256), src[:right]...)
	out = append(out, opLocalTee, 12, opI64Const, 0x20, opI64ShrU, opI32Wrap, opI32Eqz, opIf, typeI64,
		opLocalGet, 13, opLocalGet, 12, opI32Const, 0, opCall)
	out = append(uleb(out, toStringFunc), opElse, opLocalGet, 12, opEnd)
	out = append(out, src[right:at]...)
	out = append(out, opLocalGet, 7, opI64Load, 3, 0, opLocalTee, 8, opI32Wrap, opLocalSet, 11)
	out = append(out, opLocalGet, 12, opI64Const, 0x20, opI64ShrU, opI32Wrap, opI32Const)
	out = append(sleb(out, tagString), opI32Eq, opIf, typeI32)
	out = append(hasRoom(out, 11, []byte{opLocalGet, 12, opI32Wrap}), opLocalGet, 11, opI32Load, 2, 0, opI32Const, 1, opI32Eq, opI32And)
	out = append(out, opElse, opI32Const, 0, opEnd, opIf, typeNone)
	out = append(letGo(out, 7), opElse)
	out = append(out, opLocalGet, 11, opLocalGet, 11, opI32Load, 2, 0, opI32Const, 1, opI32Add, opI32Store, 2, 0, opEnd)
	return append(out, src[at+len(addHold):]...)
}

// hasRoom leaves on the stack whether the text at local p can take the text
// whose address right gives, in its place: as wide as it, no part of another
// text, no name of the engine's, and with room behind it.
func hasRoom(b []byte, p byte, right []byte) []byte {
	// Equally wide: the lengths' top bits agree.
	b = append(append(b, opLocalGet, p, opI32Load, 2, stringLen), right...)
	b = append(b, opI32Load, 2, stringLen, opI32Xor, opI32Const, 0, opI32GeS)
	b = append(b, opLocalGet, p, opI32Load, 2, stringKind, opI32Const, 29, opI32ShrU, opI32Eqz, opI32And)
	// (usable - header - 1) >> wide >= both lengths together
	b = append(b, opLocalGet, p, opI32Const, 4, opI32Sub, opI32Load, 2, 0, opI32Const)
	b = append(sleb(b, -8), opI32And, opI32Const, 4+stringData+1, opI32Sub)
	b = append(b, opLocalGet, p, opI32Load, 2, stringLen, opI32Const, 31, opI32ShrU, opI32ShrU)
	b = append(b, opLocalGet, p, opI32Load, 2, stringLen, opI32Const)
	b = append(append(sleb(b, 1<<31-1), opI32And), right...)
	b = append(b, opI32Load, 2, stringLen, opI32Const)
	return append(sleb(b, 1<<31-1), opI32And, opI32Add, opI32GeU, opI32And)
}

// letGo stores undefined at the address in local p.
func letGo(b []byte, p byte) []byte {
	b = append(b, opLocalGet, p, opI64Const)
	return append(sleb(b, int64(jsUndefined)), opI64Store, 3, 0)
}

// Where QuickJS keeps what a function is doing.
const (
	rtFrame      = 148 // JSRuntime.current_stack_frame
	frameFunc    = 8   // its function, a JSValue
	frameVars    = 20  // its variables
	framePC      = 32  // the instruction after this one
	funcRefs     = 36  // a function's references to outer variables
	refPlace     = 16  // where such a variable is
	duplicate    = 17  // OP_dup, between the two when nothing optimized it away
	putLocCheck  = 100 // OP_put_loc_check: let and const
	putOuterRef  = 103 // OP_put_var_ref_check: those of outer functions
	addSlowGroup = 12  // groups of locals that js_add_slow has, one local each
)

// addSlowLets changes js_add_slow(ctx, sp), to which OP_add leaves texts. A
// let is not added to by OP_add_loc but read, added to and written back, so
// two hold its text: the variable and the stack. If the next instruction
// writes the sum into the very variable that holds the left side, it lets go.
func addSlowLets(src []byte) []byte {
	if len(src) < 1+2*addSlowGroup || src[0] != addSlowGroup {
		panic(errWasm)
	}
	const ctx, sp, text, place, at = 0, 1, 14, 15, 16
	b := append([]byte{addSlowGroup + 1}, src[1:1+2*addSlowGroup]...)
	b = append(b, 4, typeI32)
	b = append(b, opBlock, typeNone)
	unless := func() { b = append(b, opBrIf, 0) }
	b = append(b, opLocalGet, sp, opI32Const, 16, opI32Sub, opLocalTee, at, opI32Load, 2, 4, opI32Const)
	b = append(sleb(b, tagString), opI32Ne)
	unless()
	// A whole number on the right becomes a text; if that fails, it fails below again.
	b = append(b, opLocalGet, at, opI32Load, 2, 12, opI32Eqz, opIf, typeNone)
	b = append(b, opLocalGet, at, opLocalGet, ctx, opLocalGet, at, opI64Load, 3, 8, opI32Const, 0, opCall)
	b = append(uleb(b, toStringFunc), opI64Store, 3, 8)
	b = append(b, opEnd)
	b = append(b, opLocalGet, at, opI32Load, 2, 12, opI32Const)
	b = append(sleb(b, tagString), opI32Ne)
	unless()
	b = append(b, opLocalGet, at, opI32Load, 2, 0, opLocalTee, text, opI32Load, 2, 0, opI32Const, 2, opI32Ne)
	unless()
	b = append(hasRoom(b, text, []byte{opLocalGet, at, opI32Load, 2, 8}), opI32Eqz)
	unless()
	b = append(variable(b, place, ctx), opLocalGet, place, opI64Load, 3, 0, opLocalGet, at, opI64Load, 3, 0, opI64Ne)
	unless()
	b = append(letGo(b, place), opLocalGet, text, opI32Const, 1, opI32Store, 2, 0)
	b = append(b, opEnd)
	return append(b, src[1+2*addSlowGroup:]...)
}

// variable puts into local place the address of the variable that the next
// instruction writes, or leaves the block around it.
func variable(b []byte, place, ctx byte) []byte {
	const frame = 17
	b = append(b, opLocalGet, ctx, opI32Load, 2, ctxRuntime, opI32Load, 2)
	b = append(uleb(b, rtFrame), opLocalTee, frame, opI32Load, 2, framePC, opLocalTee, place, opLocalGet, place, opI32Load8U, 0, 0, opI32Const)
	b = append(sleb(b, duplicate), opI32Eq, opI32Add, opLocalSet, place)
	b = append(b, opLocalGet, place, opI32Load8U, 0, 0, opI32Const)
	b = append(sleb(b, putLocCheck), opI32Eq, opIf, typeNone)
	b = append(b, opLocalGet, frame, opI32Load, 2, frameVars, opLocalGet, place, opI32Load16U, 0, 1,
		opI32Const, 3, opI32Shl, opI32Add, opLocalSet, place)
	b = append(b, opElse, opLocalGet, place, opI32Load8U, 0, 0, opI32Const)
	b = append(sleb(b, putOuterRef), opI32Ne, opLocalGet, frame, opI32Load, 2, frameFunc+4, opI32Const)
	b = append(sleb(b, tagObject), opI32Ne, opI32Or, opBrIf, 1)
	b = append(b, opLocalGet, frame, opI32Load, 2, frameFunc, opI32Load, 2, funcRefs, opLocalGet, place, opI32Load16U, 0, 1,
		opI32Const, 2, opI32Shl, opI32Add, opI32Load, 2, 0, opI32Load, 2, refPlace, opLocalSet, place)
	return append(b, opEnd)
}

// The instructions used above.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opEnd         = 0x0b
	opBrIf        = 0x0d
	opReturn      = 0x0f
	opCall        = 0x10
	opLastCall    = 0x15 // calls of every kind lie between
	opSelect      = 0x1b
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opLocalTee    = 0x22
	opI32Load     = 0x28
	opI64Load     = 0x29
	opI32Load8U   = 0x2d
	opI32Load16U  = 0x2f
	opI32Store    = 0x36
	opI64Store    = 0x37
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32Eqz      = 0x45
	opI32Eq       = 0x46
	opI32Ne       = 0x47
	opI32LtU      = 0x49
	opI32GeS      = 0x4e
	opI32GeU      = 0x4f
	opI64Ne       = 0x52
	opI32Add      = 0x6a
	opI32Sub      = 0x6b
	opI32And      = 0x71
	opI32Or       = 0x72
	opI32Shl      = 0x74
	opI32Xor      = 0x73
	opI32ShrU     = 0x76
	opI64ShrU     = 0x88
	opI32Wrap     = 0xa7
	opI64ExtendU  = 0xad

	typeNone = 0x40
	typeI32  = 0x7f
	typeI64  = 0x7e
)
