package protocol

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strconv"
	"strings"
	"time"
)

// The two forms of the string that a device signs. The version is not sent:
// the gateway tries the newer one first.
const (
	sigV2 = "v2"
	sigV3 = "v3"
)

// DeviceID is the lowercase hex SHA-256 of the raw public key.
func DeviceID(pub ed25519.PublicKey) string {
	sum := sha256.Sum256(pub)
	return hex.EncodeToString(sum[:])
}

// ParsePublicKey reads an Ed25519 public key as clients send it: base64url
// without padding, standard base64, or a PEM SPKI block.
func ParsePublicKey(s string) (ed25519.PublicKey, error) {
	if strings.HasPrefix(strings.TrimSpace(s), "-----BEGIN") {
		block, _ := pem.Decode([]byte(s))
		if block == nil {
			return nil, errors.New("broken PEM block")
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("broken SPKI key")
		}
		pub, ok := key.(ed25519.PublicKey)
		if !ok {
			return nil, errors.New("not an Ed25519 key")
		}
		return pub, nil
	}
	raw, err := decodeBase64(s, ed25519.PublicKeySize)
	return ed25519.PublicKey(raw), err
}

// decodeBase64 takes both alphabets, padded or not, and exactly size bytes.
func decodeBase64(s string, size int) ([]byte, error) {
	if len(s) > 2*size {
		return nil, errors.New("too long")
	}
	s = strings.TrimRight(s, "=")
	enc := base64.RawURLEncoding
	if strings.ContainsAny(s, "+/") {
		enc = base64.RawStdEncoding
	}
	raw, err := enc.DecodeString(s)
	if err != nil {
		return nil, errors.New("not base64")
	}
	if len(raw) != size {
		return nil, errors.New("wrong length")
	}
	return raw, nil
}

// Credential is the one credential that a device signature covers: the first
// that is set of token, device token and bootstrap token, right or wrong. A
// password is never part of it.
func (a *Auth) Credential() string {
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

// RoleOrDefault is the role that a connect asks for.
func (p *ConnectParams) RoleOrDefault() Role {
	if p.Role == "" {
		return RoleOperator
	}
	return p.Role
}

func signaturePayload(version string, p *ConnectParams, signedAt int64, nonce string) []byte {
	b := make([]byte, 0, 256)
	b = append(b, version...)
	for _, field := range []string{p.Device.ID, p.Client.ID, p.Client.Mode, string(p.RoleOrDefault()), joinScopes(p.Scopes),
		strconv.FormatInt(signedAt, 10), p.Auth.Credential(), nonce} {
		b = append(b, '|')
		b = append(b, field...)
	}
	if version == sigV3 {
		b = append(b, '|')
		b = append(b, lowerASCII(p.Client.Platform)...)
		b = append(b, '|')
		b = append(b, lowerASCII(p.Client.DeviceFamily)...)
	}
	return b
}

func joinScopes(scopes []Scope) string {
	var b strings.Builder
	for i, s := range scopes {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(s))
	}
	return b.String()
}

func lowerASCII(s string) string {
	b := []byte(strings.TrimSpace(s))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// VerifyDevice checks the device proof of a connect against the challenge of
// its own socket, in the order of the real gateway: cheap checks first, the
// signature last. p.Device must be set.
func VerifyDevice(p *ConnectParams, nonce string, nowMs int64) (ed25519.PublicKey, *Error) {
	d := p.Device
	pub, err := ParsePublicKey(d.PublicKey)
	if err != nil || DeviceID(pub) != d.ID {
		return nil, deviceError("device identity mismatch", "DEVICE_AUTH_DEVICE_ID_MISMATCH", "device-id-mismatch")
	}
	if skew := nowMs - d.SignedAt; skew > SignatureSkewMs || skew < -SignatureSkewMs {
		return nil, deviceError("device signature expired: "+clocksDiffer(skew), "DEVICE_AUTH_SIGNATURE_EXPIRED", "device-signature-stale")
	}
	if d.Nonce == "" {
		return nil, deviceError("device nonce required", "DEVICE_AUTH_NONCE_REQUIRED", "device-nonce-missing")
	}
	if d.Nonce != nonce {
		return nil, deviceError("device nonce mismatch", "DEVICE_AUTH_NONCE_MISMATCH", "device-nonce-mismatch")
	}
	sig, err := decodeBase64(d.Signature, ed25519.SignatureSize)
	if err == nil {
		for _, version := range []string{sigV3, sigV2} {
			if ed25519.Verify(pub, signaturePayload(version, p, d.SignedAt, d.Nonce), sig) {
				return pub, nil
			}
		}
	}
	return nil, deviceError("device signature invalid", "DEVICE_AUTH_SIGNATURE_INVALID", "device-signature")
}

// clocksDiffer says why a signature is of another time: who signs by a clock of
// their own learns which two to look at.
func clocksDiffer(skewMs int64) string {
	const hour = int64(time.Hour / time.Millisecond)
	which := " behind the gateway's"
	far := skewMs
	if skewMs < 0 {
		far, which = -skewMs, " ahead of the gateway's"
	}
	how := ""
	switch {
	case far < 0 || far > 1000*24*hour:
		return "the clocks of this machine and of the gateway are years apart; set the one that is wrong"
	case far >= 48*hour:
		how = strconv.FormatInt(far/(24*hour), 10) + " days"
	case far >= 2*hour:
		how = strconv.FormatInt(far/hour, 10) + " hours"
	default:
		how = strconv.FormatInt(far/(hour/60), 10) + " minutes"
	}
	return "the clock of this machine is " + how + which + "; set the one that is wrong"
}

func deviceError(message, code, reason string) *Error {
	return Invalid("%s", message).With("code", code).With("reason", reason)
}
