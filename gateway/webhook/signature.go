package webhook

import (
	"crypto/hmac"
	"crypto/sha1" // what some services sign with; HMAC does not need more of it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// The kinds of signatures.
const (
	GitHub   = "github"
	Stripe   = "stripe"
	Slack    = "slack"
	Standard = "standard" // standardwebhooks.com
	Generic  = "generic"
)

// Kinds lists them.
func Kinds() []string { return []string{GitHub, Stripe, Slack, Standard, Generic} }

// Tolerance is how far the clock of a service may be from ours: a signature that
// names an older moment is a replay.
const Tolerance = 5 * time.Minute

// Scheme says how a service signs.
type Scheme struct {
	Kind   string
	Secret secret.Secret
	// The rest is for Generic; empty fields mean X-Signature, no prefix, hex and
	// sha256 over the body alone.
	Header    string
	Prefix    string // before the digits: "sha256="
	Encoding  string // hex, base64
	Algorithm string // sha256, sha512, sha1
	// TimestampHeader holds seconds since 1970; the signature is then over
	// "<timestamp>.<body>", and what is too old is refused.
	TimestampHeader string
}

// Errors of Verify. Which of them it was is for our log, not for the sender.
var (
	ErrUnsigned = errors.New("it carries no signature that can be read")
	ErrForged   = errors.New("its signature is not the service's")
	ErrOld      = errors.New("its signature is of another time: it is a replay, or a clock is wrong")
	errNoSecret = errors.New("there is no secret to check it with")
)

// Verify checks the signature of a request over the raw body. The id names what
// was signed, in one spelling: the same id again is the same event again.
func Verify(s Scheme, h http.Header, body []byte, now time.Time) (id string, err error) {
	if s.Secret.IsZero() {
		return "", errNoSecret
	}
	if slices.ContainsFunc(signing(s), func(n string) bool { return len(h.Values(n)) > 1 }) {
		return "", ErrUnsigned // two of a name have two readings
	}
	var mac []byte
	switch s.Kind {
	case GitHub:
		mac, err = plain(s, h.Get("X-Hub-Signature-256"), "sha256=", body)
	case Stripe:
		mac, err = stripe(s, h.Get("Stripe-Signature"), body, now)
	case Slack:
		mac, err = slack(s, h, body, now)
	case Standard:
		mac, err = standard(s, h, body, now)
	case Generic:
		mac, err = generic(s, h, body, now)
	default:
		err = fmt.Errorf("signatures of the kind %q are not known", s.Kind)
	}
	if err != nil {
		return "", err
	}
	return s.Kind + ":" + hex.EncodeToString(mac), nil
}

// signing are the headers that a scheme reads.
func signing(s Scheme) []string {
	return []string{
		"X-Hub-Signature-256", "Stripe-Signature", "X-Slack-Signature", "X-Slack-Request-Timestamp", "Webhook-Id", "Webhook-Timestamp",
		"Webhook-Signature", headerOr(s.Header, "X-Signature"), headerOr(s.TimestampHeader, "X-Signature"),
	}
}

func headerOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// sum is the HMAC of some parts, one after the other.
func sum(fn func() hash.Hash, key []byte, parts ...[]byte) []byte {
	m := hmac.New(fn, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

// plain is a signature in hex over the body.
func plain(s Scheme, header, prefix string, body []byte) ([]byte, error) {
	digits, ok := strings.CutPrefix(header, prefix)
	got, err := hex.DecodeString(digits)
	if !ok || err != nil || len(got) == 0 {
		return nil, ErrUnsigned
	}
	want := sum(sha256.New, []byte(s.Secret.Reveal()), body)
	if !hmac.Equal(got, want) {
		return nil, ErrForged
	}
	return want, nil
}

// fresh reports whether a moment in seconds since 1970 is near now.
func fresh(seconds string, now time.Time) error {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return ErrUnsigned
	}
	if d := now.Sub(time.Unix(n, 0)); d > Tolerance || d < -Tolerance {
		return ErrOld
	}
	return nil
}

// stripe is "t=…,v1=…[,v1=…]": a secret that is being changed signs twice.
func stripe(s Scheme, header string, body []byte, now time.Time) ([]byte, error) {
	at, list := "", [][]byte{}
	for part := range strings.SplitSeq(header, ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			if at != "" {
				return nil, ErrUnsigned
			}
			at = v
		case "v1":
			if got, err := hex.DecodeString(v); err == nil {
				list = append(list, got)
			}
		}
	}
	return timed(s, at, list, []byte(at+"."), body, now)
}

func slack(s Scheme, h http.Header, body []byte, now time.Time) ([]byte, error) {
	at := h.Get("X-Slack-Request-Timestamp")
	digits, ok := strings.CutPrefix(h.Get("X-Slack-Signature"), "v0=")
	got, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return nil, ErrUnsigned
	}
	return timed(s, at, [][]byte{got}, []byte("v0:"+at+":"), body, now)
}

// standard is "v1,<base64> v1,<base64>" over "<id>.<timestamp>.<body>"; the
// secret is base64 behind "whsec_".
func standard(s Scheme, h http.Header, body []byte, now time.Time) ([]byte, error) {
	id, at := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	key, err := StandardKey(s.Secret)
	if err != nil {
		return nil, err
	}
	if id == "" || strings.Contains(id, ".") {
		return nil, ErrUnsigned
	}
	list := [][]byte{}
	for part := range strings.FieldsSeq(h.Get("Webhook-Signature")) {
		if v, ok := strings.CutPrefix(part, "v1,"); ok {
			if got, err := base64.StdEncoding.DecodeString(v); err == nil {
				list = append(list, got)
			}
		}
	}
	s.Secret = secret.New(string(key))
	return timed(s, at, list, []byte(id+"."+at+"."), body, now)
}

// Sign is the header fields with which a request of ours carries the signature of
// standardwebhooks.com: id is the same whenever the same is sent again.
func Sign(key secret.Secret, id string, body []byte, now time.Time) (http.Header, error) {
	raw, err := StandardKey(key)
	if err != nil {
		return nil, err
	}
	if id == "" || strings.Contains(id, ".") {
		return nil, fmt.Errorf("%q cannot be the id of a signed request", id)
	}
	at := strconv.FormatInt(now.Unix(), 10)
	mac := sum(sha256.New, raw, []byte(id+"."+at+"."), body)
	return http.Header{
		"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac)},
	}, nil
}

// StandardKey is what a secret of standardwebhooks.com holds: base64 behind
// "whsec_".
func StandardKey(key secret.Secret) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key.Reveal(), "whsec_"))
	if err != nil {
		return nil, errors.New("its secret should be whsec_ and base64 behind it")
	}
	return raw, nil
}

// timed checks signatures over head and body, one of which must hold, before it
// says that a request is old: that is told to the service only.
func timed(s Scheme, at string, list [][]byte, head, body []byte, now time.Time) ([]byte, error) {
	if at == "" || len(list) == 0 || len(list) > 8 {
		return nil, ErrUnsigned
	}
	want := sum(sha256.New, []byte(s.Secret.Reveal()), head, body)
	if !slices.ContainsFunc(list, func(got []byte) bool { return hmac.Equal(got, want) }) {
		return nil, ErrForged
	}
	return want, fresh(at, now)
}

func generic(s Scheme, h http.Header, body []byte, now time.Time) ([]byte, error) {
	text, ok := strings.CutPrefix(h.Get(headerOr(s.Header, "X-Signature")), s.Prefix)
	if !ok || text == "" {
		return nil, ErrUnsigned
	}
	decode := hex.DecodeString
	if s.Encoding == "base64" {
		decode = base64.StdEncoding.Strict().DecodeString
	}
	got, err := decode(text)
	if err != nil || len(got) == 0 {
		return nil, ErrUnsigned
	}
	parts := [][]byte{body}
	at := ""
	if s.TimestampHeader != "" {
		at = h.Get(s.TimestampHeader)
		parts = [][]byte{[]byte(at + "."), body}
	}
	fn := sha256.New
	switch s.Algorithm {
	case "sha512":
		fn = sha512.New
	case "sha1":
		fn = sha1.New
	}
	want := sum(fn, []byte(s.Secret.Reveal()), parts...)
	if !hmac.Equal(got, want) {
		return nil, ErrForged
	}
	if s.TimestampHeader != "" {
		return want, fresh(at, now)
	}
	return want, nil
}
