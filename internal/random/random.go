// Package random is chance for pauses, retries and the choice among equals. It
// owns no state.
package random

import (
	"crypto/rand"
	"encoding/binary"
)

// Float is a random number in [0, 1).
func Float() float64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53)
}

// Below is a random number from 0 to n-1.
func Below(n int) int {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return int(binary.LittleEndian.Uint64(b[:]) % uint64(n))
}
