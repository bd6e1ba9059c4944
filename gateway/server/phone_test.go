package server

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/protocol/devicetest"
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

// What comes by the proxy of `tailscale serve` is a stranger's until it has a
// device's key: no header makes it this machine's own, nobody from the open
// internet gets in, and only our own page opens a socket.
func TestSec_A_WEB_02_BehindTailscale(t *testing.T) {
	const name = "attic.tail1234.ts.net"
	pages := testPages()
	pages["phone/index.html"] = &fstest.MapFile{Data: []byte("<!doctype html>phone")}
	pages["words/de/errors.json"] = &fstest.MapFile{Data: []byte("{}")}
	g := start(t, func(o *Options) {
		o.Pages = pages
		o.Front = func(_ context.Context, host string) bool { return host == name }
	})
	by := []string{"X-Forwarded-For: 100.64.0.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: " + name,
		"Tailscale-User-Login: anna@example.com"}
	for what, c := range map[string]struct {
		host, path string
		header     []string
		status     int
	}{
		"the page":               {name, "/phone", by, 200},
		"the way to it":          {name, "/", by, 302},
		"the other page":         {name, "/index.html", by, 404},
		"what errors say":        {name, "/phone/words/de/errors.json", by, 200},
		"the other page's words": {name, "/words/de/errors.json", by, 404},
		"what is no words":       {name, "/phone/words/../index.html", by, 400},
		"programs' paths":        {name, "/api/x", by, 404},
		"its socket":             {name, "/", append([]string{upgrade, "Origin: https://" + name}, by...), 101},
		"another page's socket":  {name, "/", append([]string{upgrade, "Origin: https://evil.example"}, by...), 403},
		"a program's socket":     {name, "/", append([]string{upgrade}, by...), 403},
		"from the open internet": {name, "/phone", append([]string{"Tailscale-Funnel-Request: ?1"}, by...), 403},
		"without TLS":            {name, "/phone", []string{"X-Forwarded-For: 100.64.0.7", "X-Forwarded-Proto: http"}, 403},
		"not by the proxy":       {name, "/phone", nil, 421},
		"another name":           {"cellar.tail1234.ts.net", "/phone", by, 421},
		"this machine's name":    {"127.0.0.1", "/", append([]string{upgrade, "Origin: https://" + name}, by...), 403},
	} {
		conn, err := net.Dial("tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", c.path, c.host, strings.Join(append(c.header, ""), "\r\n"))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", what, resp.StatusCode, c.status)
		}
		_ = conn.Close()
	}
	// The shared token, which pairs silently on this machine, pairs nobody there.
	h := http.Header{"Origin": {"https://" + name}, "X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Proto": {"https"}}
	ws, _, err := websocket.Dial(t.Context(), g.url(), &websocket.DialOptions{Host: name, HTTPHeader: h})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	c := &client{t: t, ws: ws}
	f, err := c.tryRead()
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var challenge protocol.Challenge
	if err := json.Unmarshal(f.Payload, &challenge); err != nil {
		t.Fatal(err)
	}
	p := protocol.ConnectParams{MinProtocol: 4, MaxProtocol: 4, Client: protocol.ClientInfo{ID: "hearth-phone", Mode: "ui", Version: "1",
		Platform: "android"},
		Scopes: []protocol.Scope{protocol.ScopeAdmin}, Auth: &protocol.Auth{Token: testToken}}
	devicetest.Sign(key, &p, challenge.Nonce, challenge.TS)
	params, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"type":"req","id":"1","method":"connect","params":%s}`,
		params)); err != nil {
		t.Fatal(err)
	}
	if f, err = c.tryRead(); err != nil || f.OK || !strings.Contains(fmt.Sprintf("%+v", f.Error), "not approved") {
		t.Errorf("%v %+v", err, f.Error)
	}
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
		{own, "/phone", nil, 200}, {own, "/phone/", nil, 200}, {own, "/phone/sw.js", nil, 200}, {own, "/phone/assets/phone-1.js", nil, 200},
		{own, "/ca.crt", nil, 200},
		{own, "/phone/assets/none.js", nil, 404}, {own, "/phone/%2e%2e/index.html", nil, 400}, {own, "/index.html", nil, 404},
		{own, "/assets/app-12345678.js", nil, 404}, {own, "/", nil, 404},
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
	for _, host := range []string{"rebind.example:18789", "gw.local", "gw.local:1", "127.0.0.1", "gw.local.:18789",
		"192.168.1.5:18789.nip.io"} {
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
	for path, cache := range map[string]string{"/phone": "no-store", "/phone/sw.js": "no-store", "/phone/assets/phone-1.js": "public, " +
		"max-age=31536000, immutable", "/ca.crt": "no-store"} {
		resp, _ := get(t, addr, conf, own, path)
		h := resp.Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.HasPrefix(path, "/phone") && (!strings.Contains(csp, "connect-src 'self' wss://"+own+";") ||
			strings.Contains(csp, "ws://127")) {
			t.Errorf("%s: %s", path, csp)
		}
		if h.Get("Cache-Control") != cache || h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer" ||
			h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
		p := h.Get("Permissions-Policy")
		may := strings.Contains(p, "camera=(self)") && strings.Contains(p, "geolocation=(self)")
		if may != strings.HasPrefix(path, "/phone") || !strings.Contains(p, "microphone=()") {
			t.Errorf("%s: %s", path, p)
		}
	}
}
