package egress

import (
	"net/http"
	"net/url"
	"strings"
)

// Policy is what the owner says about addresses beside the rules of a Public
// client. The zero one changes nothing.
type Policy struct {
	Allowed []string // hosts that may lead to this machine or a private network, on any port
	Blocked []string // hosts that are never reached; "*.example.org" is all below
}

// PublicBut is Public, with a policy of the owner.
func PublicBut(o Options, p Policy) *Client {
	parse := func(raw string) (*url.URL, error) {
		u, err := read(raw)
		if err != nil {
			return nil, err
		}
		return u, p.check(u)
	}
	return &Client{http: &http.Client{Transport: guarded(o, p), CheckRedirect: redirects(p.check)}, parse: parse}
}

// Check refuses an address that may not be reached, as far as that can be said before its
// name is resolved.
func (p Policy) Check(raw string) error {
	u, err := read(raw)
	if err != nil {
		return err
	}
	return p.check(u)
}

// check is what check decides, where the owner has decided nothing.
func (p Policy) check(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	switch {
	case named(p.Blocked, host):
		return &ForbiddenError{Host: clip(u.Host), Reason: "the settings block it"}
	case !p.trusts(host):
		return check(u)
	case u.Scheme != "http" && u.Scheme != "https" || u.User != nil || host == "":
		return &ForbiddenError{Host: clip(u.Host), Reason: "it is not a plain web address"}
	}
	return nil
}

func (p Policy) trusts(host string) bool {
	return !named(p.Blocked, strings.ToLower(host)) && named(p.Allowed, strings.ToLower(host))
}

// named reports whether a list holds a host.
func named(list []string, host string) bool {
	for _, l := range list {
		l = strings.ToLower(strings.Trim(strings.TrimSpace(l), "[]"))
		if below, ok := strings.CutPrefix(l, "*"); l == host || ok && strings.HasPrefix(below, ".") && strings.HasSuffix(host, below) {
			return true
		}
	}
	return false
}
