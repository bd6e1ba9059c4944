// Package seed gives tests their chance. Each random test says which seed it
// used, and HEARTH_SEED repeats it:
//
//	HEARTH_SEED=7245 go test -run 'TestX' ./gateway/y
//
// It owns no state. Programs do not use it; their chance is package random.
package seed

import (
	"crypto/rand"
	"encoding/binary"
	mrand "math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// LongVariable, when set, lets random tests run for as long as they would before a
// release: build/test --long sets it.
const LongVariable = "HEARTH_LONG"

// Rounds is how often a random test tries: usual, or long when LongVariable is set.
func Rounds(usual, long int) int {
	if os.Getenv(LongVariable) != "" {
		return long
	}
	return usual
}

// Variable names the seed of every random test that is run.
const Variable = "HEARTH_SEED"

// New is another sequence in each run.
func New(tb testing.TB) *mrand.Rand {
	tb.Helper()
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return Fixed(tb, uint64(binary.LittleEndian.Uint32(b[:])))
}

// Fixed is the same sequence in each run, that of n.
func Fixed(tb testing.TB, n uint64) *mrand.Rand {
	tb.Helper()
	if said := os.Getenv(Variable); said != "" {
		var err error
		if n, err = strconv.ParseUint(said, 10, 64); err != nil {
			tb.Fatalf("%s is %q, which is no number", Variable, said)
		}
	}
	tb.Logf("random with %s=%d", Variable, n)
	return mrand.New(mrand.NewPCG(n, 1))
}
