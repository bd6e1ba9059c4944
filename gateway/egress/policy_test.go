package egress

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// The owner may name hosts that lead to this machine, on any port, and hosts that
// are never reached; nothing else is loosened by that, redirects neither.
func TestSec_A_SSRF_20_WhatTheOwnerNames(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("other")) }))
	defer other.Close()
	at, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://localhost:"+at.Port()+"/", http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write([]byte("here"))
	}))
	defer site.Close()
	named := Policy{Allowed: []string{"127.0.0.1"}}
	for name, c := range map[string]struct {
		p    Policy
		url  string
		want bool
	}{
		"nothing is named":         {Policy{}, site.URL, false},
		"named":                    {named, site.URL, true},
		"named in capitals":        {Policy{Allowed: []string{" LOCALHOST "}}, "http://localhost:" + at.Port(), true},
		"another host":             {named, "http://localhost:" + at.Port(), false},
		"a redirect elsewhere":     {named, site.URL + "/away", false},
		"blocked wins":             {Policy{Allowed: []string{"127.0.0.1"}, Blocked: []string{"127.0.0.1"}}, site.URL, false},
		"a user name hides a host": {named, "http://x@127.0.0.1:" + at.Port(), false},
		"another scheme":           {named, "ftp://127.0.0.1/", false},
		"below a blocked name":     {Policy{Blocked: []string{"*.example.org"}}, "https://a.b.example.org/", false},
	} {
		page, err := PublicBut(Options{}, c.p).Fetch(t.Context(), Request{URL: c.url})
		if ok := err == nil && page.Status == http.StatusOK; ok != c.want || !ok && !forbidden(err) {
			t.Errorf("%s: %d %v", name, page.Status, err)
		}
	}
}
