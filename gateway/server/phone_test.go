package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
)

// withPhone is a gateway with a page for phones, which knows one name of its own.
func withPhone(t *testing.T) (addr string, conf *tls.Config) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pages := testPages()
	pages["phone/index.html"] = &fstest.MapFile{Data: []byte("<!doctype html><title>Hearth</title>phone")}
	pages["phone/sw.js"] = &fstest.MapFile{Data: []byte("// worker")}
	pages["phone/assets/phone-1.js"] = &fstest.MapFile{Data: []byte("//")}
	cert := selfSigned(t)
	start(t, func(o *Options) {
		o.Pages = pages
		o.Remote = &Remote{Listener: ln, TLS: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}},
			Names: func() []string { return []string{"gw.local:18789"} }, Authority: func() ([]byte, error) { return []byte("certificate"), nil }}
	})
	return ln.Addr().String(), &tls.Config{InsecureSkipVerify: true}
}

// get asks as a browser does that came by host.
func get(t *testing.T, addr string, conf *tls.Config, host, path string, header ...string) (*http.Response, string) {
	t.Helper()
	c, err := tls.Dial("tcp", addr, conf)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, strings.Join(append(header, ""), "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, ""
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return resp, string(b)
}

// Other machines get the page for phones and nothing of the other one, and only
// under a name of ours; the socket opens for that page alone.
func TestSec_A_WEB_01_PhonePageAndItsSocket(t *testing.T) {
	addr, conf := withPhone(t)
	const own = "gw.local:18789"
	for _, c := range []struct {
		host, path string
		header     []string
		status     int
	}{
		{own, "/phone", nil, 200}, {own, "/phone/", nil, 200}, {own, "/phone/sw.js", nil, 200}, {own, "/phone/assets/phone-1.js", nil, 200}, {own, "/ca.crt", nil, 200},
		{own, "/phone/assets/none.js", nil, 404}, {own, "/phone/%2e%2e/index.html", nil, 400}, {own, "/index.html", nil, 404}, {own, "/assets/app-12345678.js", nil, 404}, {own, "/", nil, 404},
		{own, "/", []string{upgrade, "Origin: https://" + own}, 101},
		{own, "/", []string{upgrade, "Origin: http://" + own}, 403},
		{own, "/", []string{upgrade, "Origin: https://gw.local"}, 403},
		{own, "/", []string{upgrade, "Origin: null"}, 403},
		{own, "/", []string{upgrade, "Origin: https://evil.example"}, 403},
		{own, "/", []string{upgrade, "Origin: https://" + own, "Origin: https://evil.example"}, 403},
		{own, "/", []string{upgrade, "Origin: https://" + own, "X-Forwarded-For: 10.0.0.1"}, 403},
		{own, "/phone", []string{"Origin: https://evil.example"}, 403},
	} {
		if resp, body := get(t, addr, conf, c.host, c.path, c.header...); resp.StatusCode != c.status {
			t.Errorf("%s %v: %d, want %d: %s", c.path, c.header, resp.StatusCode, c.status, body)
		}
	}
}

// A name that leads here but is not ours (DNS rebinding) finds no page, and a
// page under it no socket.
func TestSec_A_WEB_03_PhonePageOnlyUnderOurNames(t *testing.T) {
	addr, conf := withPhone(t)
	for _, host := range []string{"rebind.example:18789", "gw.local", "gw.local:1", "127.0.0.1", "gw.local.:18789", "192.168.1.5:18789.nip.io"} {
		for _, path := range []string{"/phone", "/phone/", "/ca.crt"} {
			if resp, _ := get(t, addr, conf, host, path); resp.StatusCode == 200 {
				t.Errorf("%s%s: %d", host, path, resp.StatusCode)
			}
		}
		if resp, _ := get(t, addr, conf, host, "/", upgrade, "Origin: https://"+host); resp.StatusCode != http.StatusForbidden {
			t.Errorf("a socket for %s: %d", host, resp.StatusCode)
		}
	}
}

// The page may ask for camera and position and nothing else; every answer has
// the strict policy, and what is not named by its content is not kept.
func TestSec_A_WEB_08_PhonePageHeaders(t *testing.T) {
	addr, conf := withPhone(t)
	const own = "gw.local:18789"
	for path, cache := range map[string]string{"/phone": "no-store", "/phone/sw.js": "no-store", "/phone/assets/phone-1.js": "public, max-age=31536000, immutable", "/ca.crt": "no-store"} {
		resp, _ := get(t, addr, conf, own, path)
		h := resp.Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.HasPrefix(path, "/phone") && (!strings.Contains(csp, "connect-src 'self' wss://"+own+";") || strings.Contains(csp, "ws://127")) {
			t.Errorf("%s: %s", path, csp)
		}
		if h.Get("Cache-Control") != cache || h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
		p := h.Get("Permissions-Policy")
		may := strings.Contains(p, "camera=(self)") && strings.Contains(p, "geolocation=(self)")
		if may != strings.HasPrefix(path, "/phone") || !strings.Contains(p, "microphone=()") {
			t.Errorf("%s: %s", path, p)
		}
	}
}
