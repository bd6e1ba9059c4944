package egress

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Around is the way to a service that a person configured and to the addresses
// that it names. Its own origin is reached wherever it is; others only where
// everybody could reach them, unless the service itself is near (Near): then
// what it names may be so too.
func Around(home *url.URL, o Options) http.RoundTripper {
	own, others := Operator(), guarded(o, Policy{})
	// Few requests, far apart: no connection is kept.
	own.DisableKeepAlives, others.DisableKeepAlives = true, true
	own.ResponseHeaderTimeout, own.MaxResponseHeaderBytes = firstByteTime, maxHeaderBytes
	return &around{home: home, near: Near(home), own: own, others: others}
}

type around struct {
	home        *url.URL
	near        bool
	own, others http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a *around) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.near || sameOrigin(r.URL, a.home) {
		return a.own.RoundTrip(r)
	}
	if err := check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return a.others.RoundTrip(r)
}

// Near reports whether an address is by its spelling one of this computer or of
// a network that not everybody reaches.
func Near(u *url.URL) bool {
	c := *u
	if normalize(&c) != nil {
		return false
	}
	host := strings.ToLower(c.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil {
		return !public(ip)
	}
	return !numeric(host) && localName(host)
}
