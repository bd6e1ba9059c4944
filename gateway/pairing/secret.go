package pairing

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"io"
	"strconv"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// digest is what we keep of a secret.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// matches takes the same time whatever was presented, and however long it is.
func (d digest) matches(presented string) bool {
	got := digestOf(presented)
	return subtle.ConstantTimeCompare(d[:], got[:]) == 1
}

// strong: a token that was made by chance, or might as well have been. Words and
// repeated letters are shorter or have fewer different ones.
func strong(token string) bool {
	const length, different = 22, 10
	seen := map[byte]bool{}
	for _, c := range []byte(token) {
		seen[c] = true
	}
	return len(token) >= length && len(seen) >= different
}

// deviceToken derives the token of one generation of a device's role. It is
// the same at every hello without being stored anywhere.
func deviceToken(serverKey []byte, deviceID string, role protocol.Role, generation int) string {
	mac := hmac.New(sha256.New, serverKey)
	//nolint:errcheck // a hash never fails
	io.WriteString(mac, "hearth device token 1|"+deviceID+"|"+string(role)+"|"+strconv.Itoa(generation))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// randomCode is 256 bits that nobody can guess.
func randomCode(random io.Reader) (string, error) {
	var raw [32]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}
