package engine

import "errors"

var errWasm = errors.New("the engine's bytes are not as expected")

// reader walks WebAssembly bytes. It panics past the end; prepare recovers.
type reader struct {
	b []byte
	p int
}

func (r *reader) u8() byte {
	x := r.b[r.p]
	r.p++
	return x
}

func (r *reader) u32() uint32 {
	var v uint32
	for s := 0; s < 35; s += 7 {
		x := r.u8()
		v |= uint32(x&0x7f) << s
		if x < 0x80 {
			return v
		}
	}
	panic(errWasm)
}

func (r *reader) leb() {
	for r.u8() >= 0x80 {
	}
}

func (r *reader) take(n int) []byte {
	b := r.b[r.p : r.p+n]
	r.p += n
	return b
}

func (r *reader) done() bool { return r.p >= len(r.b) }

func uleb(out []byte, v uint32) []byte {
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}

func sleb(out []byte, v int64) []byte {
	for {
		x := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && x&0x40 == 0) || (v == -1 && x&0x40 != 0) {
			return append(out, x)
		}
		out = append(out, x|0x80)
	}
}
