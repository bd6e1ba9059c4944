// Package oauth logs in at services: with a code that the person types at
// the service (RFC 8628), or with a page of the service in the browser that
// comes back to this computer (PKCE, RFC 7636 and 8252). It owns these two
// exchanges, the renewal of a login, and the logins that are under way.
//
// It keeps no credential: what it gets is handed on.
package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/hearth-assistant/hearth/internal/sleep"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Kinds of login.
const (
	KindDevice  = "device-code"
	KindBrowser = "oauth"
)

// Issuer is where one can log in.
type Issuer struct {
	ID     string // as people name it, and the provider that the login is for
	Name   string
	Kind   string
	Scopes []string

	DeviceURL    string // KindDevice
	AuthorizeURL string // KindBrowser
	TokenURL     string
	RevokeURL    string // "" = none is known

	// KeyExchange: the service gives out an API key for a code, and takes the
	// callback's address as callback_url.
	KeyExchange bool
	// Hosts are where the result may be sent.
	Hosts []string

	// Of services that are not known beforehand:
	Via      http.RoundTripper // the way to it; nil = the client's
	Resource string            // what the tokens are for (RFC 8707)
	Issuer   string            // who must have sent the browser back (RFC 9207), if it says so
	NamesIt  bool              // the issuer always says so
	Near     bool              // it may be on this computer, without https
	Callback string            // where the browser comes back to; "" = anywhere on this computer
	// Register makes Hearth known there, with where the browser comes back to.
	Register func(ctx context.Context, callback string) (Registered, error)
	Registered
}

// Registered is what a service knows Hearth by, beside the client id.
type Registered struct {
	ClientID string
	Secret   string
	InHeader bool // the secret goes into a header rather than the form
}

// String keeps the secret out of logs.
func (r Registered) String() string { return "[" + r.ClientID + "]" }

// Format covers every verb of fmt.
func (r Registered) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, r.String()) }

// Services are the ones that Hearth may log in at.
func Services() []Issuer {
	return []Issuer{
		{
			ID: "github-copilot", Name: "GitHub Copilot", Kind: KindDevice, Registered: Registered{ClientID: "Iv1.b507a08c87ecfe98"},
			Scopes:    []string{"read:user"},
			DeviceURL: "https://github.com/login/device/code", TokenURL: "https://github.com/login/oauth/access_token",
			Hosts: []string{"api.github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com"},
		},
		{
			ID: "openrouter", Name: "OpenRouter", Kind: KindBrowser, KeyExchange: true,
			AuthorizeURL: "https://openrouter.ai/auth", TokenURL: "https://openrouter.ai/api/v1/auth/keys",
			Hosts: []string{"openrouter.ai"},
		},
	}
}

// Tokens is what a login brings.
type Tokens struct {
	Access  string
	Refresh string
	Expires time.Time // zero: it does not, or nobody knows
	IsKey   bool      // Access is an API key
}

// String and Format keep them out of logs.
func (t Tokens) String() string { return "[tokens]" }

// Format covers every verb of fmt.
func (t Tokens) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, t.String()) }

// Failures that callers tell apart.
var (
	ErrDenied  = errors.New("the login was declined at the service")
	ErrExpired = errors.New("the login took too long and has ended; start it again")
	ErrEnded   = errors.New("the service does not accept this login any more") // a renewal: log in again
)

// Options of a Client. Nil fields mean the real thing.
type Options struct {
	HTTP *http.Client
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
}

// Client talks to services. It is safe for concurrent use.
type Client struct {
	http http.Client
	now  func() time.Time
	wait func(ctx context.Context, d time.Duration) error
}

const (
	requestTime = 20 * time.Second
	maxAnswer   = 256 << 10
	maxToken    = 32 << 10
)

// New returns a client. Its requests follow no redirects: they carry codes and
// tokens.
func New(o Options) *Client {
	c := &Client{now: o.Now, wait: o.Wait}
	if o.HTTP != nil {
		c.http = *o.HTTP
	}
	c.http.Jar, c.http.Timeout = nil, requestTime
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.now == nil {
		c.now = time.Now
	}
	if c.wait == nil {
		c.wait = sleep.For
	}
	return c
}

// Renew trades a refresh token for a new login.
func (c *Client) Renew(ctx context.Context, s Issuer, refresh string) (Tokens, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
	if s.Resource != "" {
		form.Set("resource", s.Resource)
	}
	a, err := c.post(ctx, s, s.TokenURL, form, nil)
	if err != nil {
		return Tokens{}, err
	}
	if a.Error == "invalid_grant" || s.Issuer != "" && a.Error == "invalid_client" { // who was registered can be forgotten
		return Tokens{}, ErrEnded
	}
	return c.tokens(a)
}

// answer is what token and device endpoints say.
type answer struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`

	AccessToken  string      `json:"access_token"`
	RefreshToken string      `json:"refresh_token"`
	TokenType    string      `json:"token_type"`
	ExpiresIn    json.Number `json:"expires_in"`
	Key          string      `json:"key"`

	DeviceCode      string      `json:"device_code"`
	UserCode        string      `json:"user_code"`
	VerificationURI string      `json:"verification_uri"`
	Complete        string      `json:"verification_uri_complete"`
	Interval        json.Number `json:"interval"`
}

// Private reports whether what is sent to an address stays between the two.
func (s Issuer) Private(u *url.URL) bool {
	if u.Host == "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || s.Near && here(u) && u.Scheme == "http"
}

func here(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// post sends a form, or a JSON body, to an endpoint of a service.
func (c *Client) post(ctx context.Context, s Issuer, to string, form url.Values, body any) (a answer, err error) {
	if u, err := url.Parse(to); err != nil || !s.Private(u) {
		return a, fmt.Errorf("%q is no https address, so no login is sent there", to)
	}
	if body == nil {
		s.identify(form)
	}
	kind, raw := "application/x-www-form-urlencoded", []byte(form.Encode())
	if body != nil {
		kind = "application/json"
		if raw, err = json.Marshal(body); err != nil {
			return a, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(raw))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Hearth")
	if s.InHeader && s.Secret != "" { // RFC 6749 2.3.1
		req.SetBasicAuth(url.QueryEscape(s.ClientID), url.QueryEscape(s.Secret))
	}
	way := c.http
	if s.Via != nil {
		way.Transport = s.Via
	}
	resp, err := way.Do(req)
	if err != nil {
		return a, reached(ctx, req.URL.Host, err)
	}
	defer resp.Body.Close()
	return read(resp)
}

// identify puts who asks into a form.
func (s Issuer) identify(form url.Values) {
	switch {
	case s.Secret == "":
		form.Set("client_id", s.ClientID)
	case !s.InHeader:
		form.Set("client_id", s.ClientID)
		form.Set("client_secret", s.Secret)
	}
}

// Revoke tells a service that a token is not used any more (RFC 7009).
func (c *Client) Revoke(ctx context.Context, s Issuer, token string) error {
	_, err := c.post(ctx, s, s.RevokeURL, url.Values{"token": {token}}, nil)
	return err
}

// reached words a request that got no answer. The address may hold a code, so
// it is not repeated.
func reached(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return fmt.Errorf("%s cannot be reached: %w", host, err)
}

func read(resp *http.Response) (a answer, err error) {
	host := resp.Request.URL.Host
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return a, fmt.Errorf("%s redirects to another address, which a login does not follow", host)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return a, fmt.Errorf("read the answer of %s: %w", host, err)
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if json.Unmarshal(raw, &a) != nil || !strings.Contains(media, "json") {
		return answer{}, fmt.Errorf("%s answered something that is no login (HTTP %d)", host, resp.StatusCode)
	}
	if resp.StatusCode != http.StatusOK && a.Error == "" {
		return answer{}, fmt.Errorf("%s refused the login (HTTP %d)", host, resp.StatusCode)
	}
	return a, nil
}

// tokens checks and takes what an endpoint gave.
func (c *Client) tokens(a answer) (t Tokens, err error) {
	if a.Error != "" {
		return t, refused(a)
	}
	t = Tokens{Access: a.AccessToken, Refresh: a.RefreshToken}
	if t.Access == "" && a.Key != "" {
		t.Access, t.IsKey = a.Key, true
	}
	bad := func(s string) bool {
		return len(s) > maxToken || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
	}
	switch {
	case t.Access == "" || bad(t.Access) || bad(t.Refresh):
		return Tokens{}, errors.New("the service answered without a token that could be used")
	case a.TokenType != "" && !strings.EqualFold(a.TokenType, "bearer"):
		return Tokens{}, fmt.Errorf("the service gives out tokens of the kind %q, which Hearth does not know", clean(a.TokenType))
	}
	if n, err := a.ExpiresIn.Int64(); err == nil && n > 0 {
		t.Expires = c.now().Add(time.Duration(min(n, 10*365*86400)) * time.Second)
	}
	return t, nil
}

func refused(a answer) error {
	switch a.Error {
	case "access_denied":
		return ErrDenied
	case "expired_token":
		return ErrExpired
	}
	if a.Description != "" {
		return fmt.Errorf("the service refused the login: %s (%s)", clean(a.Description), clean(a.Error))
	}
	return fmt.Errorf("the service refused the login: %s", clean(a.Error))
}

// clean makes words of a service one short line.
func clean(s string) string { return OneLine(s, 200) }

// OneLine makes words from outside one line of at most so many characters,
// without any that control or turn it.
func OneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return text.Ellipsis(text.Line(s), most)
}

// random is n bytes of chance as text.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}
