package watch

import (
	"crypto/sha256"
	"encoding/hex"
)

// Sum is a version of what consists of these parts.
func Sum(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
