package client

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// address turns what a person or the runtime file says into the URL to dial.
// The decision whether plaintext is allowed is made here, on the text alone,
// so that a name that must be refused is never looked up.
func address(raw string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("the gateway's address %q is not a URL; it looks like ws://127.0.0.1:18789", raw)
	}
	if u.User != nil {
		return "", fmt.Errorf("the gateway's address must not hold a user name or password")
	}
	u.Fragment = ""
	switch strings.ToLower(u.Scheme) {
	case "wss", "https":
		u.Scheme = "wss"
		return u.String(), nil
	case "ws", "http":
		u.Scheme = "ws"
	default:
		return "", fmt.Errorf("the gateway's address %q must start with ws:// or wss://", raw)
	}
	host, ok := loopback(u.Hostname())
	if !ok {
		return "", fmt.Errorf("%q: %w", u.Hostname(), ErrPlaintext)
	}
	if port := u.Port(); port != "" {
		u.Host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	} else {
		u.Host = host
	}
	return u.String(), nil
}

// loopback returns the literal address of this machine for host. "localhost"
// is not left to the resolver, which a hosts file or DNS could turn elsewhere.
func loopback(host string) (string, bool) {
	if strings.EqualFold(host, "localhost") {
		return "127.0.0.1", true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Unmap().IsLoopback() {
		return "", false
	}
	return ip.String(), true
}
