package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/webhook"
)

const (
	slackBody = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
		"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2F" +
		"T1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	stripeBody = "{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}"
)

type sample struct {
	name   string
	scheme webhook.Scheme
	head   map[string]string
	body   string
	at     int64
	signed string // the header with the signature
}

// samples: GitHub's and Slack's are of their documentation, that of Standard
// Webhooks of its specification, Stripe's was made with generateTestHeaderString of
// its own library (stripe 17 for Node).
func samples() []sample {
	return []sample{
		{"github", webhook.Scheme{Kind: webhook.GitHub, Secret: secret.New("It's a Secret to Everybody")},
			map[string]string{"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
			"Hello, World!", 1700000000, "X-Hub-Signature-256"},
		{"slack", webhook.Scheme{Kind: webhook.Slack, Secret: secret.New("8f742231b10e8888abcd99yyyzzz85a5")},
			map[string]string{
				"X-Slack-Signature":         "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
				"X-Slack-Request-Timestamp": "1531420618",
			}, slackBody, 1531420618, "X-Slack-Signature"},
		{"stripe", webhook.Scheme{Kind: webhook.Stripe, Secret: secret.New("whsec_test_secret")},
			map[string]string{"Stripe-Signature": "t=1700000000,v1=4f1cd7feda9826e746b7d482c4badebb657398df1099e1046364f6196a230150"},
			stripeBody, 1700000000, "Stripe-Signature"},
		{"standard", webhook.Scheme{Kind: webhook.Standard, Secret: secret.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")},
			map[string]string{
				"Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": "1614265330",
				"Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
			}, `{"test": 2432232314}`, 1614265330, "Webhook-Signature"},
		{"generic", webhook.Scheme{Kind: webhook.Generic, Secret: secret.New("k"), Header: "X-Sig", Encoding: "base64", Algorithm: "sha512"},
			map[string]string{"X-Sig": base64.StdEncoding.EncodeToString(mac512("k", "body"))}, "body", 1700000000, "X-Sig"},
		{"generic with a time", webhook.Scheme{Kind: webhook.Generic, Secret: secret.New("k"), Prefix: "v1=", TimestampHeader: "X-Time"},
			map[string]string{"X-Signature": "v1=" + hex.EncodeToString(mac256("k", "1700000000.body")), "X-Time": "1700000000"}, "body",
			1700000000, "X-Signature"},
	}
}

func mac256(key, text string) []byte {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func mac512(key, text string) []byte {
	m := hmac.New(sha512.New, []byte(key))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func (s sample) headers() http.Header {
	h := http.Header{}
	for k, v := range s.head {
		h.Set(k, v)
	}
	return h
}

// TestSec_A_NET_22_SignaturesOfServices: the documented examples hold, and nothing
// near them.
func TestSec_A_NET_22_SignaturesOfServices(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			now := time.Unix(s.at, 0)
			id, err := webhook.Verify(s.scheme, s.headers(), []byte(s.body), now)
			if err != nil || id == "" {
				t.Fatalf("its own example: %q, %v", id, err)
			}
			wrong := s.scheme
			wrong.Secret = secret.New("whsec_b3RoZXI=")
			refused(t, "another secret", webhook.ErrForged, wrong, s.headers(), s.body, now)
			for i := range s.body {
				b := []byte(s.body)
				b[i] ^= 1
				refused(t, "a byte of the body", webhook.ErrForged, s.scheme, s.headers(), string(b), now)
			}
			refused(t, "an empty body", webhook.ErrForged, s.scheme, s.headers(), "", now)
			refused(t, "no headers", webhook.ErrUnsigned, s.scheme, http.Header{}, s.body, now)
			h := s.headers()
			h.Add(s.signed, h.Get(s.signed))
			refused(t, "twice the header", webhook.ErrUnsigned, s.scheme, h, s.body, now)
			h = s.headers()
			h.Set(s.signed, h.Get(s.signed)[:len(h.Get(s.signed))-2])
			if _, err := webhook.Verify(s.scheme, h, []byte(s.body), now); err == nil {
				t.Error("a shorter signature holds")
			}
			none := s.scheme
			none.Secret = secret.Secret{}
			if _, err := webhook.Verify(none, s.headers(), []byte(s.body), now); err == nil {
				t.Error("without a secret everything holds")
			}
		})
	}
}

func refused(t *testing.T, what string, want error, s webhook.Scheme, h http.Header, body string, now time.Time) {
	t.Helper()
	if _, err := webhook.Verify(s, h, []byte(body), now); !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestSec_A_NET_23_OldSignatures: what was signed at another time is a replay, and
// an event has one id in every spelling of its signature.
func TestSec_A_NET_23_OldSignatures(t *testing.T) {
	for _, s := range samples() {
		at := time.Unix(s.at, 0)
		id, _ := webhook.Verify(s.scheme, s.headers(), []byte(s.body), at)
		for _, d := range []time.Duration{webhook.Tolerance + time.Second, -webhook.Tolerance - time.Second} {
			_, err := webhook.Verify(s.scheme, s.headers(), []byte(s.body), at.Add(d))
			if timeless := s.name == "github" || s.name == "generic"; timeless != (err == nil) {
				t.Errorf("%s, %v later: %v", s.name, d, err)
			}
		}
		h := s.headers()
		switch s.name {
		case "github":
			h.Set(s.signed, "sha256=757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17")
		case "stripe": // an old secret signs as well
			h.Set(s.signed, "t=1700000000,v1="+hex.EncodeToString(make([]byte, 32))+","+h.Get(s.signed)[len("t=1700000000,"):])
		default:
			continue
		}
		if again, err := webhook.Verify(s.scheme, h, []byte(s.body), at); err != nil || again != id {
			t.Errorf("%s written in another way is %q (%v), not %q", s.name, again, err, id)
		}
	}
}

func FuzzVerify(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.scheme.Kind, s.head[s.signed], "1700000000", s.body)
	}
	f.Fuzz(func(t *testing.T, kind, sig, at, body string) {
		h := http.Header{}
		for _, name := range []string{"X-Hub-Signature-256", "Stripe-Signature", "X-Slack-Signature", "Webhook-Signature", "X-Signature"} {
			h.Set(name, sig)
		}
		h.Set("Webhook-Id", at)
		h.Set("Webhook-Timestamp", at)
		h.Set("X-Slack-Request-Timestamp", at)
		s := webhook.Scheme{Kind: kind, Secret: secret.New("a secret that nobody guesses")}
		if id, err := webhook.Verify(s, h, []byte(body), time.Unix(1700000000, 0)); err == nil {
			t.Errorf("%q was taken for signed: %s", sig, id)
		}
	})
}
