package profile

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// ThisComputer stands for every address of the computer itself.
const ThisComputer = "this computer"

// Origin is the part of a base URL that a key is bound to: the host, with the
// port unless it is the usual one, and with http:// when the way there is not
// encrypted. "" means that there is none.
func Origin(baseURL string) string {
	u, err := url.Parse(strings.TrimSpace(baseURL))
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return ThisComputer
	}
	port := u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Scheme == "https" {
		if port != "" && port != "443" {
			host += ":" + port
		}
		return host
	}
	if port != "" && port != "80" {
		host += ":" + port
	}
	return "http://" + host
}

// mayGo refuses to send a key where it was not meant to go: somebody who can
// change baseUrl must not get the key with it.
func (r *row) mayGo(host string) error {
	if r.Type == None && r.key == "" || slices.Contains(r.Hosts, host) {
		return nil
	}
	known := "no host"
	if len(r.Hosts) > 0 {
		known = strings.Join(r.Hosts, ", ")
	}
	return &Error{ID: r.ID, Reason: ReasonHost, Message: fmt.Sprintf(
		"The key of %s was given for %s, but models.providers.%s.baseUrl leads to %s now, so it was not sent. If that is what you want, run "+
			"`hearth models auth allow %s %s`; otherwise correct baseUrl.",
		r.ID, known, r.Provider, host, r.ID, host)}
}

// Allow lets the key of an account go to one more host; ok is false when there
// is no such account.
func (b *Book) Allow(ctx context.Context, id, host string) (ok bool, err error) {
	if o := Origin(host); strings.Contains(host, "://") && o != "" {
		host = o
	}
	host = strings.ToLower(strings.TrimSpace(host))
	if host != ThisComputer && Origin("https://"+strings.TrimPrefix(host, "http://")) == "" {
		return false, &Error{ID: id, Reason: ReasonName, Message: fmt.Sprintf("%q is no host. Write it like \"api.example.com\".", host)}
	}
	b.mu.Lock()
	r := b.rows[id]
	if r == nil || !r.usable() {
		b.mu.Unlock()
		return false, nil
	}
	if !slices.Contains(r.Hosts, host) {
		r.Hosts = append(slices.Clone(r.Hosts), host)
	}
	rec := r.Record.clone()
	b.mu.Unlock()
	return true, b.save(ctx, rec)
}
