// Package bearer checks and makes the signed tokens (JSON Web Tokens, RS256) by which
// services of the web know each other. It owns signatures, times, issuers and
// audiences, and the keys of an issuer while they are fresh; what a token's owner may
// do is its caller's business. Any other algorithm than RS256 is refused.
package bearer

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Skew is how far the clocks of an issuer and of this computer may be apart.
const Skew = 5 * time.Minute

// Bounds of what others made.
const (
	longestToken = 8 << 10
	mostKeys     = 200
	leastBits    = 2048
	mostBits     = 8192
)

// Claims are what a token says. Body is all of it.
type Claims struct {
	Issuer    string          `json:"iss"`
	Audience  Audience        `json:"aud"`
	Expires   int64           `json:"exp"`
	NotBefore int64           `json:"nbf"`
	Issued    int64           `json:"iat"`
	Body      json.RawMessage `json:"-"`
}

// Audience is whom a token is for: one name, or several.
type Audience []string

// UnmarshalJSON reads both forms.
func (a *Audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = Audience{one}
		return nil
	}
	var several []string
	if err := json.Unmarshal(b, &several); err != nil {
		return err
	}
	*a = several
	return nil
}

// Key is one of an issuer.
type Key struct {
	Endorsements []string // for whom its owner vouches, where an issuer says that
	public       *rsa.PublicKey
}

// Expect is what a token has to say.
type Expect struct {
	Issuers  []string
	Audience string
}

// Reasons against a token. Which of them it was is for our log, not for its sender.
var (
	ErrNone   = errors.New("there is no token that can be read")
	ErrForged = errors.New("the token's signature is not its issuer's")
	ErrOld    = errors.New("the token is of another time: it is a replay, or a clock is wrong")
	ErrOther  = errors.New("the token is of another issuer, or for another audience")
)

// Keys are those of an issuer, fetched when they are needed. fetch brings a set in the
// form of RFC 7517.
type Keys struct {
	fetch func(ctx context.Context) ([]byte, error)
	now   func() time.Time

	turn chan struct{} // holds one while somebody fetches

	mu    sync.Mutex
	list  map[string]Key
	since time.Time // when they were fetched
	tried time.Time
}

// How long keys are used before they are fetched again, and the least time between two
// tries: whoever names keys that are not there makes us fetch no more often.
const (
	freshFor  = 12 * time.Hour
	leastWait = time.Minute
)

// NewKeys makes an empty set.
func NewKeys(fetch func(ctx context.Context) ([]byte, error), now func() time.Time) *Keys {
	return &Keys{fetch: fetch, now: now, turn: make(chan struct{}, 1)}
}

// Token is that of a request: the one header Authorization, with a bearer.
func Token(h http.Header) (string, error) {
	v := h.Values("Authorization")
	if len(v) != 1 || len(v[0]) > longestToken {
		return "", ErrNone
	}
	scheme, token, ok := strings.Cut(v[0], " ")
	if !ok || !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", ErrNone
	}
	return token, nil
}

// Verify checks a token. An error that is none of the reasons means that the issuer's
// keys could not be had: nothing is known of the token then.
func (k *Keys) Verify(ctx context.Context, token string, want Expect) (c Claims, key Key, err error) {
	head, body, signature, err := parts(token)
	if err != nil {
		return c, key, err
	}
	if key, err = k.find(ctx, head.KeyID); err != nil {
		return c, key, err
	}
	signed := token[:strings.LastIndexByte(token, '.')]
	sum := sha256.Sum256([]byte(signed))
	if rsa.VerifyPKCS1v15(key.public, crypto.SHA256, sum[:], signature) != nil {
		return c, key, ErrForged
	}
	if json.Unmarshal(body, &c) != nil {
		return c, key, ErrNone
	}
	c.Body = body
	now := k.now()
	switch {
	case c.Expires == 0 || now.After(time.Unix(c.Expires, 0).Add(Skew)):
		return c, key, ErrOld
	case now.Before(time.Unix(c.NotBefore, 0).Add(-Skew)), now.Before(time.Unix(c.Issued, 0).Add(-Skew)):
		return c, key, ErrOld
	case !slices.Contains(want.Issuers, c.Issuer), want.Audience == "", !slices.Contains(c.Audience, want.Audience):
		return c, key, ErrOther
	}
	return c, key, nil
}

type header struct {
	Algorithm string          `json:"alg"`
	KeyID     string          `json:"kid"`
	Critical  json.RawMessage `json:"crit"` // extensions that have to be understood
}

func parts(token string) (h header, body, signature []byte, err error) {
	p := strings.Split(token, ".")
	if len(token) > longestToken || len(p) != 3 {
		return h, nil, nil, ErrNone
	}
	var raw [3][]byte
	for i, part := range p {
		if raw[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return h, nil, nil, ErrNone
		}
	}
	if json.Unmarshal(raw[0], &h) != nil || h.Algorithm != "RS256" || h.KeyID == "" || len(h.Critical) > 0 {
		return h, nil, nil, ErrNone
	}
	return h, raw[1], raw[2], nil
}

// find is the key of an id. Old keys are used while new ones cannot be had.
func (k *Keys) find(ctx context.Context, id string) (Key, error) {
	if key, ok, settled := k.known(id); settled {
		return keyOr(key, ok)
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return Key{}, fmt.Errorf("fetch the issuer's keys: %w", ctx.Err())
	}
	key, ok, settled := k.known(id) // somebody else may have fetched them
	if settled {
		return keyOr(key, ok)
	}
	k.mu.Lock()
	k.tried = k.now()
	k.mu.Unlock()
	b, err := k.fetch(ctx)
	var list map[string]Key
	if err == nil {
		list, err = parseKeys(b)
	}
	if err != nil {
		if ok {
			return key, nil
		}
		k.mu.Lock()
		k.tried = time.Time{} // nothing was learnt: the next one tries again
		k.mu.Unlock()
		return Key{}, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list, k.since = list, k.now()
	key, ok = list[id]
	return keyOr(key, ok)
}

func keyOr(key Key, ok bool) (Key, error) {
	if !ok {
		return Key{}, ErrForged
	}
	return key, nil
}

// known is what is known of a key; settled: it need not be fetched.
func (k *Keys) known(id string) (key Key, ok, settled bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok = k.list[id]
	now := k.now()
	fresh := k.list != nil && now.Sub(k.since) < freshFor
	lately := now.Sub(k.tried) < leastWait
	return key, ok, ok && (fresh || lately) || !ok && k.list != nil && lately
}

func parseKeys(b []byte) (map[string]Key, error) {
	var set struct {
		Keys []struct {
			Type         string   `json:"kty"`
			ID           string   `json:"kid"`
			Use          string   `json:"use"`
			N            string   `json:"n"`
			E            string   `json:"e"`
			Endorsements []string `json:"endorsements"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("they are no set of keys: %w", err)
	}
	out := map[string]Key{}
	for _, j := range set.Keys[:min(len(set.Keys), mostKeys)] {
		n, errN := base64.RawURLEncoding.DecodeString(strings.TrimRight(j.N, "="))
		e, errE := base64.RawURLEncoding.DecodeString(strings.TrimRight(j.E, "="))
		if j.Type != "RSA" || j.ID == "" || j.Use != "" && j.Use != "sig" || errN != nil || errE != nil || len(e) > 4 {
			continue
		}
		public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		if bits := public.N.BitLen(); bits < leastBits || bits > mostBits || public.E < 3 || public.E%2 == 0 {
			continue
		}
		out[j.ID] = Key{Endorsements: j.Endorsements, public: public}
	}
	if len(out) == 0 {
		return nil, errors.New("there is no key in the set that can be used")
	}
	return out, nil
}

// Sign makes a token.
func Sign(key *rsa.PrivateKey, keyID string, claims any) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": keyID})
	if err != nil {
		return "", fmt.Errorf("write a token: %w", err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("write a token: %w", err)
	}
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
