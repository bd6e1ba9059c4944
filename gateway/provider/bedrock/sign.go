package bedrock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Signer puts the proof of who asks on a request, in the way that its key wants:
// a Bedrock API key goes as it is, a pair of access keys signs the request
// (Amazon's Signature Version 4).
type Signer struct {
	// Key is an API key, "ACCESS_KEY_ID:SECRET" or "ACCESS_KEY_ID:SECRET:SESSION_TOKEN".
	Key    func() string
	Region string // "" = as the address says
	Now    func() time.Time
}

// Prepare is a wire.Service's Prepare.
func (s Signer) Prepare(r *http.Request, body []byte) error {
	key := strings.TrimSpace(s.Key())
	id, rest, pair := strings.Cut(key, ":")
	if !pair || !accessKeyID(id) {
		if accessKeyID(key) {
			return &model.Error{Class: model.ClassAuth, Detail: "the access key id came without its secret: AWS_SECRET_ACCESS_KEY is empty"}
		}
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		return nil
	}
	secret, token, _ := strings.Cut(rest, ":")
	if token != "" {
		r.Header.Set("X-Amz-Security-Token", token)
	}
	region := s.Region
	if region == "" {
		region = regionOf(r.URL.Hostname())
	}
	sign(r, body, credentials{id, secret}, scope{region, "bedrock"}, s.Now())
	return nil
}

// accessKeyID tells an access key id: AKIA or ASIA and sixteen more.
func accessKeyID(s string) bool {
	return len(s) >= 16 && len(s) <= 128 && (strings.HasPrefix(s, "AKIA") || strings.HasPrefix(s, "ASIA")) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') })
}

// regionOf reads bedrock-runtime.<region>.amazonaws.com.
func regionOf(host string) string {
	if parts := strings.Split(host, "."); len(parts) > 2 && strings.HasPrefix(parts[0], "bedrock") {
		return parts[1]
	}
	return "us-east-1"
}

type credentials struct{ id, secret string }

type scope struct{ region, service string }

// sign adds X-Amz-Date and Authorization.
func sign(r *http.Request, body []byte, c credentials, sc scope, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	day := stamp[:8]
	r.Header.Set("X-Amz-Date", stamp)
	names, headers := canonicalHeaders(r)
	canonical := strings.Join([]string{r.Method, canonicalPath(r.URL), canonicalQuery(r.URL), headers, names, sum(body)}, "\n")
	where := strings.Join([]string{day, sc.region, sc.service, "aws4_request"}, "/")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, where, sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + c.secret)
	for _, part := range []string{day, sc.region, sc.service, "aws4_request"} {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", c.id, where, names,
		mac(key, toSign)))
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(s))
	return h.Sum(nil)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// canonicalHeaders signs what no proxy changes: type, host and Amazon's own.
func canonicalHeaders(r *http.Request) (names, headers string) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	values := map[string]string{"host": host}
	for name, v := range r.Header {
		lower := strings.ToLower(name)
		if lower == "content-type" || strings.HasPrefix(lower, "x-amz-") {
			values[lower] = strings.Join(strings.Fields(strings.Join(v, ",")), " ")
		}
	}
	var list []string
	for name := range values {
		list = append(list, name)
	}
	slices.Sort(list)
	for _, name := range list {
		headers += name + ":" + values[name] + "\n"
	}
	return strings.Join(list, ";"), headers
}

// canonicalPath is the path as it is sent, escaped once more.
func canonicalPath(u *url.URL) string {
	p := u.EscapedPath()
	if p == "" {
		return "/"
	}
	segments := strings.Split(p, "/")
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return strings.Join(segments, "/")
}

func canonicalQuery(u *url.URL) string {
	var all []string
	for name, values := range u.Query() {
		for _, v := range values {
			all = append(all, escape(name)+"="+escape(v))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "&")
}

// escape leaves only what RFC 3986 calls unreserved.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
