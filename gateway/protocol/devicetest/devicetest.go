// Package devicetest signs connects as a device does, for tests. It follows the
// protocol's description rather than the gateway's code, so that the two check
// each other.
package devicetest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Sign fills p.Device with a v3 signature. Everything else of p must be in its
// final form: client, role, scopes and credential are covered.
func Sign(key ed25519.PrivateKey, p *protocol.ConnectParams, nonce string, signedAtMs int64) {
	public, _ := key.Public().(ed25519.PublicKey)
	id := sha256.Sum256(public)
	role, credential := p.Role, ""
	if role == "" {
		role = protocol.RoleOperator
	}
	if p.Auth != nil {
		for _, c := range []string{p.Auth.BootstrapToken, p.Auth.DeviceToken, p.Auth.Token} { // the last that is set counts
			if c != "" {
				credential = c
			}
		}
	}
	scopes := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		scopes[i] = string(s)
	}
	text := strings.Join([]string{
		"v3", hex.EncodeToString(id[:]), p.Client.ID, p.Client.Mode, string(role), strings.Join(scopes, ","), strconv.FormatInt(signedAtMs, 10),
		credential, nonce,
		strings.ToLower(strings.TrimSpace(p.Client.Platform)), strings.ToLower(strings.TrimSpace(p.Client.DeviceFamily)),
	}, "|")
	p.Device = &protocol.DeviceAuth{
		ID: hex.EncodeToString(id[:]), PublicKey: base64.RawURLEncoding.EncodeToString(public), SignedAt: signedAtMs, Nonce: nonce,
		Signature: base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(text))),
	}
}
