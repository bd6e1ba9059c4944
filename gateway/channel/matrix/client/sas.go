//go:build goolm

package client

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mau.fi/util/jsonbytes"
	"maunium.net/go/mautrix/crypto/canonicaljson"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// party is one of the two devices of a verification.
type party struct {
	user   id.UserID
	device id.DeviceID
}

// exchange is what two devices agree on in a verification by emoji (m.sas.v1 with
// curve25519-hkdf-sha256 and hkdf-hmac-sha256.v2). They began it, and we answer. The
// library's own helper is not used: it fails where they have cross-signing keys and we
// have none, and vouches for keys of our account that nobody has looked at.
type exchange struct {
	txn          id.VerificationTransactionID
	them, us     party
	own          *ecdh.PrivateKey
	shared       []byte
	theirs, ours string // the keys of this exchange, as they are written
}

func unpadded(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

// commitment binds us to our key before we know theirs. start is their wish to begin,
// as it came.
func (x *exchange) commitment(start map[string]any) ([]byte, error) {
	b, err := canonicaljson.Marshal(start)
	if err != nil {
		return nil, fmt.Errorf("write their wish to begin: %w", err)
	}
	sum := sha256.Sum256(append([]byte(x.ours), b...))
	return sum[:], nil
}

// agree takes their key.
func (x *exchange) agree(theirs []byte) error {
	key, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return fmt.Errorf("read their key: %w", err)
	}
	if x.shared, err = x.own.ECDH(key); err != nil {
		return fmt.Errorf("use their key: %w", err)
	}
	x.theirs = unpadded(theirs)
	return nil
}

// compared is what both devices show: seven emoji with their names, or three numbers.
func (x *exchange) compared(emoji bool) (string, error) {
	info := strings.Join([]string{
		"MATRIX_KEY_VERIFICATION_SAS", string(x.them.user), string(x.them.device), x.theirs, string(x.us.user), string(x.us.device), x.ours,
		string(x.txn),
	}, "|")
	b, err := hkdf.Key(sha256.New, x.shared, nil, info, 6)
	if err != nil {
		return "", err
	}
	if !emoji {
		return fmt.Sprintf("%d %d %d", (int(b[0])<<5|int(b[1])>>3)+1000, (int(b[1])&7<<10|int(b[2])<<2|int(b[3])>>6)+1000,
			(int(b[3])&63<<7|int(b[4])>>1)+1000), nil
	}
	number, names := uint64(0), sasNames()
	for _, n := range b {
		number = number<<8 | uint64(n)
	}
	var out []string
	for i := range 7 {
		out = append(out, names[number>>(42-6*i)&63])
	}
	return strings.Join(out, ", "), nil
}

// mac proves that who shares this exchange has a key.
func (x *exchange) mac(from, to party, keyID, key string) ([]byte, error) {
	info := "MATRIX_KEY_VERIFICATION_MAC" + string(from.user) + string(from.device) + string(to.user) + string(to.device) +
		string(x.txn) + keyID
	k, err := hkdf.Key(sha256.New, x.shared, nil, info, sha256.Size)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, k)
	h.Write([]byte(key))
	return h.Sum(nil), nil
}

// proof is that of our keys.
func (x *exchange) proof(keys map[id.KeyID]string) (*event.VerificationMACEventContent, error) {
	out := &event.VerificationMACEventContent{MAC: map[id.KeyID]jsonbytes.UnpaddedBytes{}}
	for keyID, key := range keys {
		b, err := x.mac(x.us, x.them, string(keyID), key)
		if err != nil {
			return nil, err
		}
		out.MAC[keyID] = b
	}
	b, err := x.mac(x.us, x.them, "KEY_IDS", list(out.MAC))
	out.Keys = b
	return out, err
}

func list(keys map[id.KeyID]jsonbytes.UnpaddedBytes) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, string(k))
	}
	return strings.Join(out, ",")
}

// mostProofs is how many keys one device may prove.
const mostProofs = 16

// proven are those of the known keys that they have proven. A key that is not known
// proves nothing, and one that is proven wrongly is somebody between.
func (x *exchange) proven(m *event.VerificationMACEventContent, known map[id.KeyID]string) (map[id.KeyID]bool, error) {
	if len(m.MAC) > mostProofs {
		return nil, errors.New("it proves too many keys")
	}
	b, err := x.mac(x.them, x.us, "KEY_IDS", list(m.MAC))
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(b, m.Keys) {
		return nil, errors.New("its list of keys was changed on the way")
	}
	out := map[id.KeyID]bool{}
	for keyID, got := range m.MAC {
		key, ok := known[keyID]
		if !ok {
			continue
		}
		if b, err = x.mac(x.them, x.us, string(keyID), key); err != nil {
			return nil, err
		}
		if !hmac.Equal(b, got) {
			return nil, errors.New("its key is another one than the server says")
		}
		out[keyID] = true
	}
	if !out[id.NewKeyID(id.KeyAlgorithmEd25519, string(x.them.device))] {
		return nil, errors.New("it does not prove its own key")
	}
	return out, nil
}
