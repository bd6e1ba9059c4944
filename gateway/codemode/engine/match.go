package engine

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"

	"github.com/hearth-assistant/hearth/gateway/codemode/pattern"
)

// Regular expressions are most of what a program computes that reads texts,
// and running one instruction by instruction in the guest is slow. So lre_exec
// asks the host first; what the host does not want runs in the guest as ever.

// matchArgs are lre_exec's: captures, program, text, start, length, width and
// context, which the host needs not.
const matchArgs = 7

// matchType finds the type of lre_exec.
func matchType(body []byte) uint32 {
	r := &reader{body, 0}
	for i := range r.u32() {
		if r.u8() != 0x60 {
			break
		}
		takes, gives := r.take(int(r.u32())), r.take(int(r.u32()))
		if string(takes) == "\x7f\x7f\x7f\x7f\x7f\x7f\x7f" && string(gives) == "\x7f" {
			return i
		}
	}
	panic(errWasm)
}

// matchOutside changes lre_exec to return what the host says, unless that is
// NotOurs.
func matchOutside(src []byte) []byte {
	r := &reader{src, 0}
	groups, result := r.u32(), uint32(matchArgs)
	for range groups {
		result += r.u32()
		r.u8()
	}
	b := append(uleb(nil, groups+1), src[1:r.p]...)
	if groups > 126 {
		panic(errWasm)
	}
	b = append(b, 1, typeI32)
	for i := range byte(matchArgs) {
		b = append(b, opLocalGet, i)
	}
	b = uleb(append(b, opCall, matchImport, opLocalTee), result)
	b = sleb(append(b, opI32Const), int64(pattern.NotOurs))
	b = append(b, opI32Ne, opIf, typeNone, opLocalGet)
	b = append(uleb(b, result), opReturn, opEnd)
	return append(b, src[r.p:]...)
}

// match is the import behind it.
func match(ctx context.Context, m api.Module, s []uint64) {
	v := vmOf(ctx)
	s[0] = api.EncodeI32(int32(v.match(ctx, uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3]), uint32(s[4]), uint32(s[5]))))
}

func (v *VM) match(ctx context.Context, captures, program, text, start, length, width uint32) pattern.Outcome {
	if v.engine.plain || width > 1 || length > 1<<30 || start > length {
		return pattern.NotOurs
	}
	mem := v.bytes()
	end := uint64(text) + uint64(length)<<width
	if end > uint64(len(mem)) || uint64(program) >= uint64(len(mem)) {
		return pattern.NotOurs
	}
	chars := mem[text:end]
	v.matcher.Ask = func() { v.tick(ctx) }
	out := v.matcher.Run(mem[program:], chars, width == 1, int(start))
	if out != pattern.Match {
		return out
	}
	bounds := v.matcher.Captures
	if uint64(captures)+4*uint64(len(bounds)) > uint64(len(mem)) {
		return pattern.NotOurs
	}
	to := mem[captures:]
	for i, at := range bounds {
		var p uint32
		if at >= 0 {
			p = text + uint32(at)
		}
		binary.LittleEndian.PutUint32(to[4*i:], p)
	}
	return out
}
