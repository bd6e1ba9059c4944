package bearer_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
)

func key(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// set is the keys of an issuer as it publishes them.
func set(t *testing.T, keys map[string]*rsa.PublicKey) []byte {
	t.Helper()
	var list []map[string]any
	for id, k := range keys {
		list = append(list, map[string]any{"kty": "RSA", "kid": id, "use": "sig", "n": base64.RawURLEncoding.EncodeToString(k.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.E)).Bytes()), "endorsements": []string{"chat"}})
	}
	b, err := json.Marshal(map[string]any{"keys": list})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type claims map[string]any

// TestSec_A_NET_22_Bearers: nothing but a fresh token of the issuer's, for us, is
// believed.
func TestSec_A_NET_22_Bearers(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	own, other := key(t, 2048), key(t, 2048)
	fetched := 0
	keys := bearer.NewKeys(func(context.Context) ([]byte, error) {
		fetched++
		return set(t, map[string]*rsa.PublicKey{"k1": &own.PublicKey}), nil
	}, func() time.Time { return now })
	want := bearer.Expect{Issuers: []string{"https://issuer"}, Audience: "us"}
	right := func(change ...func(claims)) claims {
		c := claims{"iss": "https://issuer", "aud": "us", "iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix()}
		for _, f := range change {
			f(c)
		}
		return c
	}
	sign := func(k *rsa.PrivateKey, id string, c claims) string {
		s, err := bearer.Sign(k, id, c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	good := sign(own, "k1", right())
	if c, k, err := keys.Verify(t.Context(), good, want); err != nil || c.Issuer != "https://issuer" || len(k.Endorsements) != 1 {
		t.Fatalf("%+v %+v %v", c, k, err)
	}
	if _, _, err := keys.Verify(t.Context(), sign(own, "k1", right(func(c claims) { c["aud"] = []string{"a", "us"} })), want); err != nil {
		t.Errorf("several audiences: %v", err)
	}
	p := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k1"}`))
	hs := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"k1"}`))
	crit := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"k1","crit":["b64"]}`))
	admin := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://issuer","aud":"us","exp":9999999999,"admin":1}`))
	for name, tc := range map[string]struct {
		token string
		want  error
	}{
		"nothing":           {"", bearer.ErrNone},
		"two parts":         {p[0] + "." + p[1], bearer.ErrNone},
		"four parts":        {good + "." + p[2], bearer.ErrNone},
		"no algorithm":      {none + "." + p[1] + ".", bearer.ErrNone},
		"a shared key":      {hs + "." + p[1] + "." + p[2], bearer.ErrNone},
		"an extension":      {crit + "." + p[1] + "." + p[2], bearer.ErrNone},
		"too long":          {good + strings.Repeat("A", 9000), bearer.ErrNone},
		"other words":       {p[0] + "." + admin + "." + p[2], bearer.ErrForged},
		"another's key":     {sign(other, "k1", right()), bearer.ErrForged},
		"an unknown key":    {sign(other, "k2", right()), bearer.ErrForged},
		"expired":           {sign(own, "k1", right(func(c claims) { c["exp"] = now.Add(-bearer.Skew - time.Second).Unix() })), bearer.ErrOld},
		"without an end":    {sign(own, "k1", right(func(c claims) { delete(c, "exp") })), bearer.ErrOld},
		"of tomorrow":       {sign(own, "k1", right(func(c claims) { c["nbf"] = now.Add(time.Hour).Unix() })), bearer.ErrOld},
		"made tomorrow":     {sign(own, "k1", right(func(c claims) { c["iat"] = now.Add(time.Hour).Unix() })), bearer.ErrOld},
		"for somebody else": {sign(own, "k1", right(func(c claims) { c["aud"] = "them" })), bearer.ErrOther},
		"for nobody":        {sign(own, "k1", right(func(c claims) { delete(c, "aud") })), bearer.ErrOther},
		"another issuer":    {sign(own, "k1", right(func(c claims) { c["iss"] = "https://issuer.evil" })), bearer.ErrOther},
	} {
		if _, _, err := keys.Verify(t.Context(), tc.token, want); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	if fetched > 2 {
		t.Errorf("the keys were fetched %d times: unknown names make us ask", fetched)
	}
	anybody := sign(own, "k1", right(func(c claims) { c["aud"] = "" }))
	if _, _, err := keys.Verify(t.Context(), anybody, bearer.Expect{Issuers: want.Issuers}); err == nil {
		t.Error("no audience is anybody")
	}
}

// TestKeysChange: new keys are found, old ones are used while the issuer is away, and
// weak ones never.
func TestKeysChange(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	first, second, weak := key(t, 2048), key(t, 2048), key(t, 1024)
	published := map[string]*rsa.PublicKey{"k1": &first.PublicKey, "weak": &weak.PublicKey}
	var away error
	keys := bearer.NewKeys(func(context.Context) ([]byte, error) { return set(t, published), away }, func() time.Time { return now })
	try := func(k *rsa.PrivateKey, id string) error {
		s, err := bearer.Sign(k, id, claims{"iss": "i", "aud": "us", "exp": now.Add(time.Hour).Unix()})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = keys.Verify(t.Context(), s, bearer.Expect{Issuers: []string{"i"}, Audience: "us"})
		return err
	}
	away = errors.New("away")
	if err := try(first, "k1"); err == nil || errors.Is(err, bearer.ErrForged) {
		t.Errorf("without keys nothing is known: %v", err)
	}
	away = nil
	if err := try(first, "k1"); err != nil {
		t.Error(err)
	}
	if err := try(weak, "weak"); !errors.Is(err, bearer.ErrForged) {
		t.Errorf("a key of 1024 bits: %v", err)
	}
	published = map[string]*rsa.PublicKey{"k2": &second.PublicKey}
	if now = now.Add(2 * time.Minute); try(second, "k2") != nil {
		t.Error("a new key is not found")
	}
	if now = now.Add(2 * time.Minute); !errors.Is(try(first, "k1"), bearer.ErrForged) {
		t.Error("a key that was withdrawn is used")
	}
	away = errors.New("away")
	if now = now.Add(24 * time.Hour); try(second, "k2") != nil {
		t.Error("the old key is not used while the issuer is away")
	}
}

func TestToken(t *testing.T) {
	for _, tc := range []struct {
		values []string
		want   string
	}{
		{[]string{"Bearer abc"}, "abc"}, {[]string{"bearer abc"}, "abc"}, {nil, ""}, {[]string{"Basic abc"}, ""}, {[]string{"Bearer "}, ""},
		{[]string{"Bearer a", "Bearer b"}, ""}, {[]string{"Bearer " + strings.Repeat("x", 9000)}, ""},
	} {
		if got, _ := bearer.Token(http.Header{"Authorization": tc.values}); got != tc.want {
			t.Errorf("%.60q: %q", tc.values, got)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.AA")
	f.Fuzz(func(t *testing.T, token string) {
		keys := bearer.NewKeys(func(context.Context) ([]byte, error) { return []byte(`{"keys":[]}`), nil }, time.Now)
		if _, _, err := keys.Verify(t.Context(), token, bearer.Expect{Issuers: []string{"i"}, Audience: "a"}); err == nil {
			t.Errorf("%q is taken", token)
		}
	})
}
