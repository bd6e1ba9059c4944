package client

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Identity is the device key of an installation.
type Identity struct{ Key ed25519.PrivateKey }

// ID is how gateways call this device.
func (d *Identity) ID() string {
	sum := sha256.Sum256(d.Key.Public().(ed25519.PublicKey))
	return hex.EncodeToString(sum[:])
}

// sign answers a challenge in the v3 form: the signature covers everything
// that the connect request claims.
func (d *Identity) sign(p *protocol.ConnectParams, ch protocol.Challenge) *protocol.DeviceAuth {
	pub := d.Key.Public().(ed25519.PublicKey)
	id := d.ID()
	payload := strings.Join([]string{
		"v3", id, p.Client.ID, p.Client.Mode, string(p.Role), joinScopes(p.Scopes),
		strconv.FormatInt(ch.TS, 10), credential(p.Auth), ch.Nonce,
		asciiLower(p.Client.Platform), asciiLower(p.Client.DeviceFamily),
	}, "|")
	return &protocol.DeviceAuth{
		ID:        id,
		PublicKey: base64.RawURLEncoding.EncodeToString(pub),
		Signature: base64.RawURLEncoding.EncodeToString(ed25519.Sign(d.Key, []byte(payload))),
		SignedAt:  ch.TS,
		Nonce:     ch.Nonce,
	}
}

func joinScopes(scopes []protocol.Scope) string {
	s := make([]string, len(scopes))
	for i, v := range scopes {
		s[i] = string(v)
	}
	return strings.Join(s, ",")
}

// credential is what fills the token slot of the signature.
func credential(a *protocol.Auth) string {
	switch {
	case a == nil:
		return ""
	case a.Token != "":
		return a.Token
	case a.DeviceToken != "":
		return a.DeviceToken
	}
	return a.BootstrapToken
}

// asciiLower trims and lowers A–Z only, as every other client does.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, strings.TrimSpace(s))
}
