package search

import (
	"iter"
	"math/bits"
)

// bitmap is a set of message numbers below a limit.
type bitmap struct{ words []uint64 }

func newBitmap(limit uint32) *bitmap { return &bitmap{make([]uint64, (uint64(limit)+63)/64)} }

func (b *bitmap) add(n uint32) {
	if i := n / 64; int(i) < len(b.words) {
		b.words[i] |= 1 << (n % 64)
	}
}

func (b *bitmap) has(n uint32) bool {
	i := n / 64
	return int(i) < len(b.words) && b.words[i]&(1<<(n%64)) != 0
}

// and keeps what o has too.
func (b *bitmap) and(o *bitmap) {
	for i := range b.words {
		b.words[i] &= o.words[i]
	}
}

func (b *bitmap) clear() { clear(b.words) }

// descending yields the numbers from the greatest down.
func (b *bitmap) descending() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := len(b.words) - 1; i >= 0; i-- {
			for w := b.words[i]; w != 0; {
				top := 63 - bits.LeadingZeros64(w)
				if !yield(uint32(i*64 + top)) {
					return
				}
				w &^= 1 << top
			}
		}
	}
}
