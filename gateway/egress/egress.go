// Package egress is the one way out of the gateway to the network. It has two
// kinds of client. Public ones fetch what a model, a page or a message named:
// they reach public addresses only, which is decided on the address itself at
// the moment of connecting, so that neither a spelling nor a name server that
// changes its mind gets past. Operator ones talk to the services that a person
// configured, which may well stand in the same room; what they share with the
// others is that credentials stay with the origin they were meant for.
//
// It does not know what is fetched or why, keeps no cache and has no settings.
// internal/meta sees to it that nobody else dials.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Limits of a Public client, of which the tests of this package and nobody else
// asks for other ones.
const (
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
	connectTime    = 10 * time.Second
	maxAddresses   = 16 // of one name; more is not a web site
)

// ErrUnreachable is all that is told of an address that does not answer,
// whether it refused, is closed or stays silent: the difference would let a
// page find out what runs where (A-SSRF-12).
var ErrUnreachable = errors.New("the address could not be reached")

// ForbiddenError says that an address may not be reached.
type ForbiddenError struct {
	Host   string
	Reason string // in plain words
}

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("%q may not be fetched: %s", e.Host, e.Reason)
}

// Resolver turns a name into addresses; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options of a Public client.
type Options struct {
	Resolver Resolver // nil = the system's
	// Own lists this machine's addresses, which are refused also when they are
	// public ones; nil asks the system.
	Own func() []netip.Addr
	// Proxy, when set, is a proxy that the owner trusts to keep this machine's
	// network out of reach: names are then resolved there. The environment's
	// proxies are never used (A-SSRF-05).
	Proxy *url.URL
	// Dial connects to a checked address; nil = the system.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Public returns a client for addresses that somebody else chose.
func Public(o Options) *Client {
	return &Client{http: &http.Client{Transport: guarded(o, Policy{}), CheckRedirect: redirects(check)}, parse: Parse}
}

func guarded(o Options, p Policy) *http.Transport {
	d := newGuard(o)
	d.policy = p
	t := &http.Transport{
		DialContext:            d.dial,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    connectTime,
		ResponseHeaderTimeout:  firstByteTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if o.Proxy != nil {
		t.Proxy = http.ProxyURL(o.Proxy)
		t.DialContext = d.system
	}
	return t
}

// Only returns a client for one origin that a person configured, wherever it
// is, with the limits of a Public one.
func Only(origin string) (*Client, error) {
	home, err := url.Parse(origin)
	if err != nil || home.Host == "" || home.Scheme != "http" && home.Scheme != "https" {
		return nil, fmt.Errorf("%q is not a web address that starts with http:// or https://", clip(origin))
	}
	t := Operator()
	t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = firstByteTime, maxHeaderBytes
	return &Client{http: &http.Client{Transport: t, CheckRedirect: SameOrigin}, parse: func(raw string) (*url.URL, error) {
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || !sameOrigin(u, home) {
			return nil, &ForbiddenError{Host: clip(raw), Reason: "it is not at " + home.Host}
		}
		return u, nil
	}}, nil
}

// Operator returns the transport for services that a person configured: any
// address, the environment's proxies, and sensible limits. Redirects are its
// user's to decide; SameOrigin is the strict answer.
func Operator() *http.Transport {
	d := &net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           d.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   connectTime,
		ExpectContinueTimeout: time.Second,
		// A proxy that refuses is told from a service that does.
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("it answered " + resp.Status)}
		},
	}
}

// SameOrigin is a redirect rule for requests that carry a key: a redirect that
// leaves the origin, or that loses the request's body, is not followed.
func SameOrigin(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.Method != first.Method || !sameOrigin(r.URL, first.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

// redirects looks at every hop as at the first address, and sends nothing of the
// request's own headers to another origin (A-SSRF-03, A-SSRF-04).
func redirects(check func(*url.URL) error) func(r *http.Request, via []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error { return checkRedirect(check, r, via) }
}

func checkRedirect(check func(*url.URL) error, r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &ForbiddenError{Host: via[0].URL.Host, Reason: fmt.Sprintf("it redirects more than %d times", maxRedirects)}
	}
	if err := check(r.URL); err != nil {
		return err
	}
	last := via[len(via)-1].URL
	if last.Scheme == "https" && r.URL.Scheme != "https" {
		return &ForbiddenError{Host: r.URL.Host, Reason: "it was redirected from https to plain http"}
	}
	if !sameOrigin(r.URL, via[0].URL) {
		bare := http.Header{}
		for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
			if v := r.Header.Get(name); v != "" {
				bare.Set(name, v)
			}
		}
		r.Header = bare
	}
	r.Header.Del("Referer") // an address may hold a key
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && portOf(a) == portOf(b)
}
