// Package bearertest makes the signed tokens of the services that tests play, and writes
// the keys that they are checked with. It makes wrong ones too, and knows no service.
package bearertest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
)

// Sign writes a token with a head and claims. It is signed with RS256, whatever its head
// says, and not at all when that says "none".
func Sign(key *rsa.PrivateKey, head map[string]string, claims any) string {
	first, _ := json.Marshal(head)
	second, _ := json.Marshal(claims)
	signed := base64.RawURLEncoding.EncodeToString(first) + "." + base64.RawURLEncoding.EncodeToString(second)
	if head["alg"] == "none" {
		return signed + "."
	}
	sum := sha256.Sum256([]byte(signed))
	mac, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// Keys are what a service tells of the key that it signs with.
func Keys(key *rsa.PrivateKey, id string, more map[string]any) map[string]any {
	out := map[string]any{"kty": "RSA", "use": "sig", "kid": id, "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes())}
	maps.Copy(out, more)
	return map[string]any{"keys": []any{out}}
}
