package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// browserLife is how long the way back into this computer is open.
const browserLife = 5 * time.Minute

// Browser is a login on a page of the service, which then sends the browser
// back to a port of this computer.
type Browser struct {
	URL     string // to open in a browser on this computer
	Expires time.Time

	client   *Client
	service  Issuer
	callback string
	host     string // of the callback: name and port
	path     string
	state    string
	verifier string
	server   *http.Server
	got      chan result
	once     sync.Once
}

type result struct {
	code string
	err  error
}

// Browser opens the way back and makes the address to visit. Close must be
// called, or Await.
func (c *Client) Browser(ctx context.Context, s Issuer) (*Browser, error) {
	to, err := url.Parse(s.AuthorizeURL)
	if err != nil || !s.Private(to) {
		return nil, fmt.Errorf("%q is no https address, so nobody is sent there to log in", s.AuthorizeURL)
	}
	b := &Browser{
		Expires: c.now().Add(browserLife), client: c, service: s,
		path: "/" + random(18), state: random(24), verifier: random(48), got: make(chan result, 1),
	}
	ln, err := b.listen(ctx)
	if err != nil {
		return nil, err
	}
	if s.Register != nil {
		if b.service.Registered, err = s.Register(ctx, b.callback); err != nil {
			_ = ln.Close()
			return nil, err
		}
	}
	to.RawQuery = b.query(to.Query()).Encode()
	b.URL = to.String()
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		MaxHeaderBytes: 16 << 10}
	go func() { _ = b.server.Serve(ln) }()
	return b, nil
}

// listen opens the way back: anywhere, or where the service was told by hand.
func (b *Browser) listen(ctx context.Context) (net.Listener, error) {
	at := "127.0.0.1:0"
	if b.service.Callback != "" {
		u, err := url.Parse(b.service.Callback)
		if err != nil || u.Scheme != "http" || !here(u) || u.Port() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return nil, fmt.Errorf("%q is no address of this computer that a browser could come back to, such as http://127.0.0.1:8765/callback",
				b.service.Callback)
		}
		at = net.JoinHostPort("127.0.0.1", u.Port())
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			at = net.JoinHostPort(ip.String(), u.Port())
		}
		b.host, b.path, b.callback = u.Host, cmp.Or(u.Path, "/"), b.service.Callback
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("open a port for the way back from the browser: %w", err)
	}
	if b.callback == "" {
		b.host = ln.Addr().String()
		b.callback = "http://" + b.host + b.path
	}
	return ln, nil
}

func (b *Browser) query(q url.Values) url.Values {
	sum := sha256.Sum256([]byte(b.verifier))
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	if b.service.KeyExchange {
		q.Set("callback_url", b.callback+"?state="+b.state)
		return q
	}
	q.Set("response_type", "code")
	q.Set("client_id", b.service.ClientID)
	q.Set("redirect_uri", b.callback)
	q.Set("state", b.state)
	if len(b.service.Scopes) > 0 {
		q.Set("scope", strings.Join(b.service.Scopes, " "))
	}
	if b.service.Resource != "" {
		q.Set("resource", b.service.Resource)
	}
	return q
}

// ServeHTTP takes the browser that comes back: once, at the address that only
// the service was told, with the state that only the service was told. Anything
// else changes nothing.
func (b *Browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the address holds the code
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Connection", "close")
	q := r.URL.Query()
	if r.Method != http.MethodGet || r.Host != b.host || !same(r.URL.Path, b.path) || !same(q.Get("state"), b.state) || len(q["state"]) != 1 {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "This is not the way back from a login of Hearth's.\n")
		return
	}
	res, words := result{code: q.Get("code")}, "You are logged in. Hearth goes on; this page can be closed.\n"
	switch {
	case !b.service.issuedBy(q["iss"]): // RFC 9207: another service sent it, to mix the two up
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "Another service sent this browser back than the one that Hearth asked. Start the login again in Hearth.\n")
		return
	case q.Get("error") != "":
		res = result{err: refused(answer{Error: q.Get("error"), Description: q.Get("error_description")})}
		words = "The login was not completed. Hearth says why; this page can be closed.\n"
	case res.code == "" || len(res.code) > maxToken || len(q["code"]) != 1:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "The service sent no code. Start the login again in Hearth.\n")
		return
	}
	first := false
	b.once.Do(func() {
		first = true
		b.got <- res
	})
	if !first {
		w.WriteHeader(http.StatusGone)
		words = "This login was used already.\n"
	}
	_, _ = io.WriteString(w, words)
}

// issuedBy reports whether the browser came back from the right service.
func (s Issuer) issuedBy(iss []string) bool {
	if s.Issuer == "" || len(iss) == 0 {
		return !s.NamesIt || s.Issuer == ""
	}
	return len(iss) == 1 && iss[0] == s.Issuer
}

func same(x, y string) bool { return subtle.ConstantTimeCompare([]byte(x), []byte(y)) == 1 }

// Await waits for the browser to come back and trades the code for tokens.
func (b *Browser) Await(ctx context.Context) (Tokens, error) {
	defer b.Close(ctx)
	late, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if b.client.wait(late, b.Expires.Sub(b.client.now())) == nil {
			cancel(ErrExpired)
		}
	}()
	select {
	case res := <-b.got:
		if res.err != nil {
			return Tokens{}, res.err
		}
		return b.exchange(ctx, res.code)
	case <-late.Done():
		if errors.Is(context.Cause(late), ErrExpired) {
			return Tokens{}, ErrExpired
		}
		return Tokens{}, ctx.Err()
	}
}

func (b *Browser) exchange(ctx context.Context, code string) (Tokens, error) {
	var (
		a   answer
		err error
	)
	if b.service.KeyExchange {
		a, err = b.client.post(ctx, b.service, b.service.TokenURL, nil, map[string]string{"code": code, "code_verifier": b.verifier,
			"code_challenge_method": "S256"})
	} else {
		form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {b.callback}, "code_verifier": {b.verifier}}
		if b.service.Resource != "" {
			form.Set("resource", b.service.Resource)
		}
		a, err = b.client.post(ctx, b.service, b.service.TokenURL, form, nil)
	}
	if err != nil {
		return Tokens{}, err
	}
	return b.client.tokens(a)
}

// closeTime lets the last page reach the browser.
const closeTime = time.Second

// Close ends the way back.
func (b *Browser) Close(ctx context.Context) {
	b.once.Do(func() {})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if b.server.Shutdown(ctx) != nil { // the browser's last answer may be on its way
		_ = b.server.Close()
	}
}
