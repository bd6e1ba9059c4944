package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"
)

// Limits of what a source says.
const (
	maxKeys     = 8
	maxTrust    = 64 << 10
	maxManifest = 256 << 10
	maxSig      = 4 << 10
)

// ErrNotSigned: too few of the keys that Hearth trusts have signed it.
var ErrNotSigned = errors.New("it is not signed by the keys that this Hearth trusts")

// Trust says which keys count. It is signed by the root keys of the one before it
// and by its own, so that a chain leads from what was built in to what holds today.
type Trust struct {
	Format int `json:"format"` // 1
	Serial int `json:"serial"` // one more than the one before it
	// Roots sign the next Trust, as many of them as RootThreshold; they are kept
	// where no release is made.
	Roots         []string `json:"roots"`
	RootThreshold int      `json:"rootThreshold"`
	// Releases sign manifests, as many of them as Threshold.
	Releases  []string  `json:"releases"`
	Threshold int       `json:"threshold"`
	Expires   time.Time `json:"expires"`
}

// Anchor is what a build knows: the root keys of the Trust with a serial.
type Anchor struct {
	Serial int
	Roots  []string
}

// ParseAnchor reads "RWkey,RWkey", or "3:RWkey" where the keys are those of the
// third Trust. An empty text is a build that trusts nobody.
func ParseAnchor(text string) (Anchor, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Anchor{}, nil
	}
	a := Anchor{Serial: 1}
	if serial, rest, ok := strings.Cut(text, ":"); ok {
		n, err := strconv.Atoi(serial)
		if err != nil || n < 1 || n > 1<<20 {
			return Anchor{}, fmt.Errorf("%q is no number of a list of keys", serial)
		}
		a.Serial, text = n, rest
	}
	for k := range strings.SplitSeq(text, ",") {
		a.Roots = append(a.Roots, strings.TrimSpace(k))
	}
	_, err := publicKeys(a.Roots)
	return a, err
}

// threshold of the built-in keys: one person alone cannot replace two.
func (a Anchor) threshold() int { return min(len(a.Roots), 2) }

func (a Anchor) String() string { return strconv.Itoa(a.Serial) + ":" + strings.Join(a.Roots, ",") }

// publicKeys reads keys of minisign; there is at least one, and none twice.
func publicKeys(texts []string) (map[uint64]minisign.PublicKey, error) {
	if len(texts) == 0 || len(texts) > maxKeys {
		return nil, fmt.Errorf("there must be 1 to %d keys, not %d", maxKeys, len(texts))
	}
	keys := make(map[uint64]minisign.PublicKey, len(texts))
	for _, t := range texts {
		var k minisign.PublicKey
		if err := k.UnmarshalText([]byte(strings.TrimSpace(t))); err != nil {
			return nil, fmt.Errorf("%q is no public key of minisign (RW…)", clip(t, 80))
		}
		if _, ok := keys[k.ID()]; ok {
			return nil, fmt.Errorf("the key %s is there twice", keyName(k.ID()))
		}
		keys[k.ID()] = k
	}
	return keys, nil
}

// keyName is how files name a key.
func keyName(id uint64) string { return fmt.Sprintf("%016X", id) }

// KeyName is how files of signatures name the key written as text.
func KeyName(text string) (string, error) {
	keys, err := publicKeys([]string{text})
	for id := range keys {
		return keyName(id), nil
	}
	return "", err
}

// signedBy counts the keys that signed data, each once.
func signedBy(keys []string, data []byte, signatures [][]byte) int {
	known, err := publicKeys(keys)
	if err != nil {
		return 0
	}
	seen := map[uint64]bool{}
	for _, sig := range signatures {
		var s minisign.Signature
		if len(sig) > maxSig || s.UnmarshalText(sig) != nil {
			continue
		}
		if k, ok := known[s.KeyID]; ok && minisign.Verify(k, data, sig) {
			seen[s.KeyID] = true
		}
	}
	return len(seen)
}

// First verifies the Trust that a build's own keys are the roots of.
func (a Anchor) First(data []byte, signatures [][]byte) (Trust, error) {
	if signedBy(a.Roots, data, signatures) < a.threshold() {
		return Trust{}, fmt.Errorf("the list of keys: %w", ErrNotSigned)
	}
	t, err := parseTrust(data, signatures)
	switch {
	case err != nil:
		return Trust{}, err
	case t.Serial != a.Serial:
		return Trust{}, fmt.Errorf("the list of keys has the number %d where %d was asked for", t.Serial, a.Serial)
	}
	return t, nil
}

// Next verifies the Trust after this one.
func (t Trust) Next(data []byte, signatures [][]byte) (Trust, error) {
	if signedBy(t.Roots, data, signatures) < t.RootThreshold {
		return Trust{}, fmt.Errorf("the new list of keys: %w", ErrNotSigned)
	}
	next, err := parseTrust(data, signatures)
	switch {
	case err != nil:
		return Trust{}, err
	case next.Serial != t.Serial+1:
		return Trust{}, fmt.Errorf("the list of keys has the number %d where %d comes next", next.Serial, t.Serial+1)
	}
	return next, nil
}

// parseTrust reads what was verified already. Its own roots must have signed it,
// else they could not sign the next one.
func parseTrust(data []byte, signatures [][]byte) (t Trust, err error) {
	if err := strict(data, maxTrust, &t); err != nil {
		return t, fmt.Errorf("the list of keys: %w", err)
	}
	if t.Format != 1 {
		return t, fmt.Errorf("the list of keys has the format %d, which this version does not know", t.Format)
	}
	for _, list := range []struct {
		keys []string
		need int
	}{{t.Roots, t.RootThreshold}, {t.Releases, t.Threshold}} {
		if _, err := publicKeys(list.keys); err != nil {
			return t, fmt.Errorf("the list of keys: %w", err)
		}
		if list.need < 1 || list.need > len(list.keys) {
			return t, fmt.Errorf("the list of keys wants %d signatures of %d keys", list.need, len(list.keys))
		}
	}
	if signedBy(t.Roots, data, signatures) < t.RootThreshold {
		return t, fmt.Errorf("the list of keys, by its own: %w", ErrNotSigned)
	}
	for _, k := range t.Releases {
		if slices.Contains(t.Roots, k) {
			return t, errors.New("a key of the list is for releases and for the list itself, which are to be two")
		}
	}
	return t, nil
}

// strict reads one JSON object that has nothing unknown and nothing behind it.
func strict(data []byte, limit int, to any) error {
	if len(data) > limit {
		return fmt.Errorf("it is longer than %d bytes", limit)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	if d.More() {
		return errors.New("something stands behind it")
	}
	return nil
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
