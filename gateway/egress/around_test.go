package egress

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestNear(t *testing.T) {
	for raw, want := range map[string]bool{
		"http://127.0.0.1:8000/mcp": true, "http://localhost/mcp": true, "https://192.168.1.4/mcp": true, "https://[::1]:3/": true,
		"https://nas.local/mcp": true, "https://tools/": true,
		"https://mcp.example.com/mcp": false, "https://8.8.8.8/": false, "https://127.1/": false, "https://0x7f000001/": false,
		"https://%31/": false,
	} {
		u, err := url.Parse(raw)
		if err != nil {
			u = &url.URL{Scheme: "https", Host: "%31"}
		}
		if got := Near(u); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

// A service that everybody reaches cannot send us to this computer or into its
// network; one that is here itself may.
func TestSec_A_SSRF_07_WhatAServiceNames(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(inside.Close)
	get := func(home, to string) error {
		u, err := url.Parse(home)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := Around(u, Options{}).RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	for _, to := range []string{inside.URL, "http://169.254.169.254/latest", "http://localhost:80/", "http://10.0.0.1/", "http://router/"} {
		var forbidden *ForbiddenError
		if err := get("https://mcp.example.com/mcp", to); !errors.As(err, &forbidden) {
			t.Errorf("%s: %v", to, err)
		}
	}
	if err := get("http://127.0.0.1:1/mcp", inside.URL); err != nil {
		t.Error(err)
	}
	if err := get(inside.URL+"/mcp", inside.URL+"/login"); err != nil {
		t.Error(err)
	}
}
