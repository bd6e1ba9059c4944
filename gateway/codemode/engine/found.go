package engine

import (
	"bytes"
	"errors"
)

// What js_regexp_exec gives is a list with three properties: groups, index and
// input. QuickJS makes each as if it had never made one: it copies the shape
// of an empty list, makes room in it and in the list one property after the
// other, and looks every property up before it defines it. All of them end
// with the same shape, so the boot image holds one such shape for good, and
// lists are made with it at once: with room for all their values, which are
// only put in place.
//
// The values and their order are what they were. A list that is changed later
// leaves the shape as any list does that shares one.

// foundShape is where the address of that shape stands: in the first kilobyte,
// which no data of the module uses. Zero means that there is none.
const foundShape = 512

// Fields of quickjs-ng 0.10.1 on wasm32.
const (
	objectClass   = 6 // u16, JS_CLASS_*
	objectShape   = 16
	objectProps   = 20 // its properties' values, 8 bytes each
	listSize      = 32 // values that there is room for
	listValues    = 36
	listCount     = 40
	shapeHashed   = 16 // u8
	shapeRoom     = 28 // properties that there is room for
	shapeCount    = 32
	shapeProto    = 44
	shapeFirst    = 48 // properties, 8 bytes each: link and flags, name
	shapeFlags    = 26 // above the link
	classArray    = 2
	ctxArrayShape = 36
)

// foundNames are the properties of such a list, as atoms, with their flags.
var foundNames = [...]struct{ atom, flags uint32 }{
	{50, 2 | 8}, // length: writable, and what it is
	{atomGroups, 7}, {atomIndex, 7}, {atomInput, 7},
}

const (
	atomGroups = 137
	atomIndex  = 88
	atomInput  = 89
)

// keepShape makes the shape of a list that an expression found the one of all
// that come.
func (v *VM) keepShape(found uint64) error {
	p := uint32(found)
	shape, plain := v.u32(p+objectShape), v.u32(v.root.ctx+ctxArrayShape)
	if tagOf(found) != tagObject || v.u32(p+objectClass)&0xffff != classArray || v.u32(foundShape) != 0 ||
		v.u32(shape+shapeHashed)&0xff != 1 || v.u32(shape+shapeProto) != v.u32(plain+shapeProto) ||
		v.u32(shape+shapeCount) != uint32(len(foundNames)) || v.u32(shape+shapeRoom) < uint32(len(foundNames)) {
		return errors.New("what an expression finds is not what it was")
	}
	for i, want := range foundNames {
		at := shape + shapeFirst + 8*uint32(i)
		if v.u32(at)>>shapeFlags != want.flags || v.u32(at+4) != want.atom {
			return errors.New("what an expression finds has other properties than it had")
		}
	}
	v.mem.WriteUint32Le(shape, v.u32(shape)+1) // ours from now on, so nobody alone holds it and may change it
	if !v.engine.plain {
		v.mem.WriteUint32Le(foundShape, shape)
	}
	return nil
}

// js_regexp_exec as compiled. Locals there: 0 the context, 1 the list, 2 the
// captures, 4 and 7 spares, 5 the groups, 6 a value, 8 its index, 12 the text,
// 19 where its characters start, 22 how wide they are, 23 how many captures.
const (
	// 4 = ctx.array_shape; 4.refs++
	foundNew = "\x20\x00\x28\x02\x24\x22\x04"
	// if it failed { return it }
	foundMade = "\x41\x02\x10\x9f\x02\x22\x01\x42\x80\x80\x80\x80\x70\x83\x42\x80\x80\x80\x80\xe0\x00\x51" +
		"\x04\x40\x42\x80\x80\x80\x80\xe0\x00\x21\x01\x0c\x09\x0b"
	// JS_DefinePropertyValueUint32(ctx, 1, 8, 6, flags)
	foundElement = "\x20\x00\x20\x01\x20\x08\x20\x06\x41\x87\x80\x01\x10\xb5\x03"
	// JS_DefinePropertyValue(ctx, 1, atom, value, flags)
	foundDefine = "\x41\x87\x80\x01\x10\xb4\x03"
	foundGroups = "\x20\x05"
	foundIndex  = "\x20\x02\x28\x02\x00\x20\x13\x6b\x20\x16\x75\xad"
	foundInput  = "\x20\x0c"
)

// foundLists changes js_regexp_exec.
func foundLists(src []byte) []byte {
	const ctx, list, spare, other, value, index, captures = 0, 1, 4, 7, 6, 8, 23
	kept := uleb([]byte{opI32Const, 0, opI32Load, 2}, foundShape)
	object := []byte{opLocalGet, list, opI32Wrap}

	// The shape, if there is one.
	at := bytes.Index(src, []byte(foundMade))
	if at < 0 {
		panic(errWasm)
	}
	first := bytes.LastIndex(src[:at], []byte(foundNew))
	if first < 0 || at-first > 64 {
		panic(errWasm)
	}
	b := append(bytes.Clone(src[:first]), kept...)
	b = append(b, opLocalTee, spare, opLocalGet, ctx, opI32Load, 2, ctxArrayShape, opLocalGet, spare, opSelect, opLocalTee, spare)
	at += len(foundMade)
	b = append(b, src[first+len(foundNew):at]...)

	// A list of that shape holds nothing yet, and gets room for all its values.
	b = append(append(append(b, object...), opLocalTee, spare, opI32Load, 2, objectShape), kept...)
	b = append(b, opI32Eq, opIf, typeNone)
	for i := 1; i < len(foundNames); i++ {
		b = append(b, opLocalGet, spare, opI32Load, 2, objectProps, opI64Const)
		b = append(sleb(b, int64(jsUndefined)), opI64Store, 3, byte(8*i))
	}
	b = append(b, opLocalGet, spare, opLocalGet, ctx, opI32Load, 2, ctxRuntime, opI32Const, 0, opLocalGet, captures, opI32Const, 3, opI32Shl, opCall)
	b = append(uleb(b, reallocFunc), opI32Store, 2, listValues)
	b = append(b, opLocalGet, spare, opLocalGet, captures, opI32Const, 0, opLocalGet, spare, opI32Load, 2, listValues, opSelect, opI32Store, 2, listSize)
	b = append(b, opEnd)

	// A value for which there is room. Nobody has seen the list, so its length
	// is what it holds.
	src = src[at:]
	b, src = upTo(b, src, foundElement)
	b = append(b, opLocalGet, index)
	b = append(append(b, object...), opLocalTee, other, opI32Load, 2, listSize, opI32LtU, opIf, typeI32)
	b = append(b, opLocalGet, other, opI32Load, 2, listValues, opLocalGet, index, opI32Const, 3, opI32Shl, opI32Add, opLocalGet, value, opI64Store, 3, 0)
	b = append(b, opLocalGet, other, opLocalGet, index, opI32Const, 1, opI32Add, opI32Store, 2, listCount)
	b = append(b, opLocalGet, other, opI32Load, 2, objectProps, opLocalGet, index, opI32Const, 1, opI32Add, opI64ExtendU, opI64Store, 3, 0)
	b = append(append(append(b, opI32Const, 0, opElse), foundElement...), opEnd)

	for i, p := range []struct {
		atom  uint32
		value string
	}{{atomGroups, foundGroups}, {atomIndex, foundIndex}, {atomInput, foundInput}} {
		define := string(sleb([]byte{opLocalGet, ctx, opLocalGet, list, opI32Const}, int64(p.atom))) + p.value + foundDefine
		b, src = upTo(b, src, define)
		b = append(append(append(b, object...), opI32Load, 2, objectShape), kept...)
		b = append(append(b, opI32Eq, opIf, typeI32), object...)
		b = append(append(b, opI32Load, 2, objectProps), p.value...)
		b = append(b, opI64Store, 3, byte(8*(i+1)), opI32Const, 0, opElse)
		b = append(append(b, define...), opEnd)
	}
	return append(b, src...)
}

// upTo moves what stands before the one place of src that is what, and skips it.
func upTo(b, src []byte, what string) (to, rest []byte) {
	before, after, ok := bytes.Cut(src, []byte(what))
	if !ok || bytes.Contains(after, []byte(what)) {
		panic(errWasm)
	}
	return append(b, before...), after
}

// shapedArrays changes JS_NewObjectFromShape: a list gets its length if its
// shape has no properties, instead of if it is not the one shape of lists.
func shapedArrays(src []byte) []byte {
	b, rest := upTo(nil, src, "\x20\x01\x20\x00\x28\x02\x24\x47\x04\x7f")
	b = append(b, opLocalGet, 1, opI32Load, 2, shapeCount, opI32Eqz, opIf, typeI32)
	return append(b, rest...)
}
