package engine

import "encoding/binary"

// clearFree zeroes what the guest's allocator (dlmalloc) has free above the
// stack, so that it takes no room in a snapshot. Chunks are walked by the
// sizes that stand before them; unless the walk ends exactly at the memory's
// end, nothing is touched.
func clearFree(mem []byte) {
	const first = stackHigh + 8 // where a chunk's memory is aligned to 16 bytes
	type hole struct{ from, to int }
	var holes []hole
	at := first
	for at < len(mem) {
		if at+8 > len(mem) {
			return
		}
		head := binary.LittleEndian.Uint32(mem[at+4:])
		size, used := int(head&^7), head&2 != 0
		if size < 16 || size > len(mem)-at {
			return
		}
		if !used && size > 64 {
			holes = append(holes, hole{at + 32, at + size}) // its links stand before that
		}
		at += size
	}
	for _, h := range holes {
		clear(mem[h.from:h.to])
	}
}
