package engine

import (
	"bytes"
	"testing"
)

// FuzzSnapshot goes behind the seal: what stands under it is not trusted
// either.
func FuzzSnapshot(f *testing.F) {
	base := &image{size: stackHigh + 2*pageSize}
	base.pages = make([][]byte, base.size/chunk)
	s := sealer{key: []byte("k")}
	mem := make([]byte, base.size+4*pageSize)
	for i := range mem {
		if i%9000 < 5000 && !inStack(i/chunk) {
			mem[i] = byte(i * i)
		}
	}
	whole, err := s.encode(mem, base, hostState{LastID: 3, Pending: map[int64]string{3: MethodCall}}, "", 1<<30)
	if err != nil {
		f.Fatal(err)
	}
	whole = whole[:len(whole)-32]
	f.Add(whole)
	f.Add(whole[:60])
	f.Add([]byte(snapshotMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := s.parse(b, uint64(len(mem)))
		if err != nil {
			return
		}
		got := make([]byte, d.size)
		if d.unpack(got) == nil && bytes.Equal(b, whole) && !bytes.Equal(got, mem) {
			t.Error("what was put away did not come back")
		}
	})
}

// FuzzPrepare: any bytes give an error or a module, never a panic.
func FuzzPrepare(f *testing.F) {
	f.Add(qjsWasm[:2000])
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0a\x04\x01\x02\x00\x0b"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0a\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := prepare(b)
		if err == nil && !bytes.HasPrefix(out, []byte("\x00asm")) {
			t.Error("not a module")
		}
	})
}
