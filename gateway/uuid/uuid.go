// Package uuid makes random identifiers: of runs, sessions, entries and calls.
package uuid

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// New returns a random (version 4) UUID.
func New() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
