// Package compare is how two machines that have never met make sure that nobody
// sits between them: each shows six digits, and two people (or one, twice) see
// that they are the same.
//
// It owns the words that the two exchange and the digits. It does not own
// sockets, who may ask how often, or what a person decides.
//
// The one that asks commits itself to a secret number before it learns the
// number of the other, and shows it afterwards. So who sits in between has to
// fix both conversations before knowing either code, and the two codes agree
// once in a million times; there is one try. The digits also cover both keys
// and the TLS connection itself: a relayed connection has another one.
package compare

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	nonceSize = 32
	// MaxMessage is the longest message of either side.
	MaxMessage = 4 << 10

	exporterLabel = "EXPORTER-hearth-compare-1"
	maxScopes     = 32
	maxText       = 256
)

// Ask is the first message: who asks, for what, and the commitment.
type Ask struct {
	Type       string              `json:"type"` // ask
	PublicKey  string              `json:"publicKey"`
	Commitment string              `json:"commitment"`
	Client     protocol.ClientInfo `json:"client"`
	Role       protocol.Role       `json:"role"`
	Scopes     []protocol.Scope    `json:"scopes"`
}

// Nonce is the gateway's number, told after the commitment.
type Nonce struct {
	Type  string `json:"type"` // nonce
	Nonce string `json:"nonce"`
}

// Reveal opens the commitment and proves the key.
type Reveal struct {
	Type      string `json:"type"` // reveal
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
}

// Result is what the gateway says last. Before it comes one with the type
// "compare", which says that both can show their digits now.
type Result struct {
	Type        string           `json:"type"` // compare, approved, rejected, expired, refused
	Message     string           `json:"message,omitempty"`
	RequestID   string           `json:"requestId,omitempty"`
	ExpiresAtMs int64            `json:"expiresAtMs,omitempty"`
	GatewayID   string           `json:"gatewayId,omitempty"`
	Role        protocol.Role    `json:"role,omitempty"`
	Scopes      []protocol.Scope `json:"scopes,omitempty"`
	DeviceToken string           `json:"deviceToken,omitempty"`
	IssuedAtMs  int64            `json:"issuedAtMs,omitempty"`
}

// ErrBroken: the other side does not keep to the rules. Nothing was agreed.
var ErrBroken = errors.New("the other machine does not keep to the rules of pairing, so nothing was agreed")

// Channel is the TLS connection as both ends know it.
type Channel struct {
	Pin      string // of the gateway's key
	exporter []byte
}

// ChannelOf reads what both ends of a connection have in common. pin is the
// gateway's key as this side sees it.
func ChannelOf(s *tls.ConnectionState, pin string) (Channel, error) {
	if s == nil || s.Version != tls.VersionTLS13 {
		return Channel{}, errors.New("pairing needs TLS 1.3")
	}
	key, err := s.ExportKeyingMaterial(exporterLabel, nil, 32)
	if err != nil {
		return Channel{}, fmt.Errorf("pairing: %w", err)
	}
	return Channel{Pin: pin, exporter: key}, nil
}

// GatewayPin is the key that the other side of a client's connection has.
func GatewayPin(s *tls.ConnectionState) (string, error) {
	if s == nil || len(s.PeerCertificates) == 0 {
		return "", errors.New("the gateway showed no certificate")
	}
	return identity.PinOf(s.PeerCertificates[0].PublicKey)
}

// Asker is the machine that wants to be let in.
type Asker struct {
	ch    Channel
	key   ed25519.PrivateKey
	nonce []byte
}

// NewAsker begins on the side that asks.
func NewAsker(random io.Reader, ch Channel, key ed25519.PrivateKey) (*Asker, error) {
	a := &Asker{ch: ch, key: key, nonce: make([]byte, nonceSize)}
	if _, err := io.ReadFull(random, a.nonce); err != nil {
		return nil, fmt.Errorf("pairing: %w", err)
	}
	return a, nil
}

func (a *Asker) public() ed25519.PublicKey { return a.key.Public().(ed25519.PublicKey) }

// Ask is the first message.
func (a *Asker) Ask(c protocol.ClientInfo, role protocol.Role, scopes []protocol.Scope) Ask {
	return Ask{Type: "ask", PublicKey: b64(a.public()), Commitment: b64(commitment(a.nonce, a.public())), Client: c, Role: role,
		Scopes: scopes}
}

// Reveal answers the gateway's number, and says which digits to show.
func (a *Asker) Reveal(raw []byte) (Reveal, string, error) {
	var n Nonce
	if err := json.Unmarshal(raw, &n); err != nil || n.Type != "nonce" {
		return Reveal{}, "", ErrBroken
	}
	theirs, err := unb64(n.Nonce, nonceSize)
	if err != nil {
		return Reveal{}, "", ErrBroken
	}
	sum := transcript(a.ch, a.public(), a.nonce, theirs)
	return Reveal{Type: "reveal", Nonce: b64(a.nonce), Signature: b64(ed25519.Sign(a.key, sum))}, digits(sum), nil
}

// Answerer is the gateway's side of one conversation.
type Answerer struct {
	Ask        Ask
	ch         Channel
	public     ed25519.PublicKey
	commitment []byte
	nonce      []byte
}

// NewAnswerer reads the first message.
func NewAnswerer(random io.Reader, ch Channel, raw []byte) (*Answerer, error) {
	a := &Answerer{ch: ch, nonce: make([]byte, nonceSize)}
	if len(raw) > MaxMessage || json.Unmarshal(raw, &a.Ask) != nil || a.Ask.Type != "ask" || len(a.Ask.Scopes) > maxScopes {
		return nil, ErrBroken
	}
	c := a.Ask.Client
	for _, s := range []string{c.ID, c.Mode, c.Version, c.Platform, c.DisplayName, c.DeviceFamily, string(a.Ask.Role)} {
		if len(s) > maxText {
			return nil, ErrBroken
		}
	}
	if c.ID == "" || a.Ask.Role != protocol.RoleOperator && a.Ask.Role != protocol.RoleNode {
		return nil, ErrBroken
	}
	if a.Ask.Role == protocol.RoleNode {
		a.Ask.Scopes = nil // a node has none
	}
	var err error
	if a.public, err = unb64(a.Ask.PublicKey, ed25519.PublicKeySize); err != nil {
		return nil, ErrBroken
	}
	if a.commitment, err = unb64(a.Ask.Commitment, sha256.Size); err != nil {
		return nil, ErrBroken
	}
	if _, err := io.ReadFull(random, a.nonce); err != nil {
		return nil, fmt.Errorf("pairing: %w", err)
	}
	return a, nil
}

// DeviceID names the key that asks.
func (a *Answerer) DeviceID() string { return protocol.DeviceID(a.public) }

// Nonce is the gateway's answer to the first message.
func (a *Answerer) Nonce() Nonce { return Nonce{Type: "nonce", Nonce: b64(a.nonce)} }

// Check reads the second message and says which digits to show. The key is
// proven then.
func (a *Answerer) Check(raw []byte) (code string, err error) {
	var r Reveal
	if len(raw) > MaxMessage || json.Unmarshal(raw, &r) != nil || r.Type != "reveal" {
		return "", ErrBroken
	}
	theirs, err := unb64(r.Nonce, nonceSize)
	if err != nil || subtle.ConstantTimeCompare(commitment(theirs, a.public), a.commitment) != 1 {
		return "", ErrBroken
	}
	signature, err := unb64(r.Signature, ed25519.SignatureSize)
	sum := transcript(a.ch, a.public, theirs, a.nonce)
	if err != nil || !ed25519.Verify(a.public, sum, signature) {
		return "", ErrBroken
	}
	return digits(sum), nil
}

// commitment hides a number until it is shown.
func commitment(nonce []byte, public ed25519.PublicKey) []byte {
	return hash("hearth compare commitment 1", nonce, public)
}

// transcript is everything that the two agreed on.
func transcript(ch Channel, public ed25519.PublicKey, asker, gateway []byte) []byte {
	return hash("hearth compare 1", []byte(ch.Pin), ch.exporter, public, asker, gateway)
}

// hash takes parts apart by their length: none can pass for two others.
func hash(label string, parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range append([][]byte{[]byte(label)}, parts...) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p)))) //nolint:errcheck // a hash never fails
		h.Write(p)                                                  //nolint:errcheck // as above
	}
	return h.Sum(nil)
}

func digits(sum []byte) string {
	// Of 2^64 values a million take equal parts, to one in 10^13.
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(sum)%1_000_000)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func unb64(s string, size int) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != size {
		return nil, ErrBroken
	}
	return b, nil
}
