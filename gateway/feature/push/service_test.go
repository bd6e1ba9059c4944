package push

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// service is a push service with the browsers that it serves. It checks what
// services check (RFC 8030, 8292) and decrypts as browsers do (RFC 8188, 8291).
type service struct {
	t        *testing.T
	now      func() time.Time
	mu       sync.Mutex
	browsers map[string]*browser // by endpoint
	// answer is what it says to a push that is right; nil: 201.
	answer func(b *browser, n int) (int, http.Header)
	tries  int
}

// browser is one that subscribed.
type browser struct {
	endpoint string
	private  *ecdh.PrivateKey
	auth     []byte
	server   string // applicationServerKey of its subscription
	got      []received
}

// received is a push that a browser was given.
type received struct {
	body                string
	urgency, topic, ttl string
	size                int
}

func newService(t *testing.T, now func() time.Time) *service {
	return &service{t: t, now: now, browsers: map[string]*browser{}}
}

// respond sets what it answers from now on.
func (s *service) respond(answer func(b *browser, n int) (int, http.Header)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// subscribe makes a browser's subscription.
func (s *service) subscribe(server string) *browser {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	b := &browser{private: private, auth: make([]byte, 16), server: server}
	if _, err := rand.Read(b.auth); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.endpoint = fmt.Sprintf("https://push.example.org/wpush/v2/%d", len(s.browsers))
	s.browsers[b.endpoint] = b
	return b
}

func (b *browser) params() protocol.PushSubscribeParams {
	enc := base64.RawURLEncoding.EncodeToString
	return protocol.PushSubscribeParams{Endpoint: b.endpoint, Keys: protocol.PushKeys{
		P256dh: enc(b.private.PublicKey().Bytes()), Auth: enc(b.auth),
	}}
}

// Fetch is the service's end of the wire.
func (s *service) Fetch(_ context.Context, req egress.Request) (egress.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
	b := s.browsers[req.URL]
	if b == nil {
		return egress.Page{Status: http.StatusNotFound}, nil
	}
	if err := s.authorized(b, req); err != nil {
		s.t.Errorf("VAPID: %v", err)
		return egress.Page{Status: http.StatusForbidden}, nil
	}
	h := http.Header{}
	for k, v := range req.Header {
		h[http.CanonicalHeaderKey(k)] = v
	}
	ttl, err := strconv.Atoi(h.Get("TTL"))
	if err != nil || ttl < 0 || req.Method != http.MethodPost || h.Get("Content-Encoding") != "aes128gcm" || len(req.Body) > 4096 {
		s.t.Errorf("%s with TTL %q, encoding %q, %d bytes", req.Method, h.Get("TTL"), h.Get("Content-Encoding"), len(req.Body))
	}
	if topic := h.Get("Topic"); !regexp.MustCompile(`^[\w-]{1,32}$`).MatchString(topic) {
		s.t.Errorf("topic %q", topic)
	}
	status, header := http.StatusCreated, http.Header{}
	if s.answer != nil {
		status, header = s.answer(b, s.tries)
	}
	if status == http.StatusCreated {
		words, err := b.decrypt(req.Body)
		if err != nil {
			s.t.Errorf("the browser cannot read it: %v", err)
		}
		b.got = append(b.got, received{words, h.Get("Urgency"), h.Get("Topic"), h.Get("TTL"), len(req.Body)})
	}
	return egress.Page{Status: status, Header: header}, nil
}

// authorized checks the VAPID header: the signature, for whom, until when, by whom.
func (s *service) authorized(b *browser, req egress.Request) error {
	m := regexp.MustCompile(`^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$`).FindStringSubmatch(req.Header.Get("Authorization"))
	if m == nil {
		return fmt.Errorf("no header: %q", req.Header.Get("Authorization"))
	}
	if m[4] != b.server {
		return fmt.Errorf("another key than the browser subscribed for")
	}
	var parts [4][]byte
	for i := range parts {
		var err error
		if parts[i], err = base64.RawURLEncoding.DecodeString(m[i+1]); err != nil {
			return err
		}
	}
	head, claims, sig, key := parts[0], parts[1], parts[2], parts[3]
	var alg struct{ Typ, Alg string }
	if err := json.Unmarshal(head, &alg); err != nil || alg.Alg != "ES256" || alg.Typ != "JWT" {
		return fmt.Errorf("head %s", head)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(m[1] + "." + m[2]))
	if len(sig) != 64 || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		return fmt.Errorf("the signature is wrong")
	}
	var c struct {
		Aud, Sub string
		Exp      int64
	}
	u, err := url.Parse(req.URL)
	if err != nil || json.Unmarshal(claims, &c) != nil || c.Aud != u.Scheme+"://"+u.Host {
		return fmt.Errorf("claims %s for %s", claims, req.URL)
	}
	left := time.Unix(c.Exp, 0).Sub(s.now())
	if left <= 0 || left > 24*time.Hour {
		return fmt.Errorf("it is good for %s", left)
	}
	if !strings.HasPrefix(c.Sub, "https://") && !strings.HasPrefix(c.Sub, "mailto:") {
		return fmt.Errorf("nobody to write to: %q", c.Sub)
	}
	return nil
}

// decrypt reads one record of aes128gcm.
func (b *browser) decrypt(body []byte) (string, error) {
	if len(body) < 86 || body[20] != 65 {
		return "", fmt.Errorf("a head of %d bytes", len(body))
	}
	salt, size, point, sealed := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if int(size) < len(sealed) {
		return "", fmt.Errorf("a record of %d bytes, said to be %d", len(sealed), size)
	}
	from, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return "", err
	}
	shared, err := b.private.ECDH(from)
	if err != nil {
		return "", err
	}
	info := "WebPush: info\x00" + string(b.private.PublicKey().Bytes()) + string(point)
	ikm, err := hkdf.Key(sha256.New, shared, b.auth, info, 32)
	if err != nil {
		return "", err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return "", err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return "", err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return "", err
	}
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	if err != nil {
		return "", err
	}
	words := strings.TrimRight(string(plain), "\x00")
	if !strings.HasSuffix(words, "\x02") {
		return "", fmt.Errorf("no end of the last record")
	}
	return strings.TrimSuffix(words, "\x02"), nil
}
