package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// raw sends bytes and returns the answer, nil when there is none.
func (g *gateway) raw(t testing.TB, request string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil && err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp
}

// ask sends a plain request with the given target, host and headers.
func (g *gateway) ask(t testing.TB, method, target, host string, headers ...string) *http.Response {
	t.Helper()
	if host == "own" {
		host = g.addr
	}
	text := method + " " + target + " HTTP/1.1\r\nConnection: close\r\n"
	if host != "" {
		text += "Host: " + host + "\r\n"
	}
	for _, h := range headers {
		text += h + "\r\n"
	}
	return g.raw(t, text+"\r\n")
}

func upgradeHeaders(more ...string) []string {
	return append([]string{"Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, more...)
}

// upgrade tries to open a socket. The Connection header is part of it.
func (g *gateway) upgrade(t testing.TB, host string, headers ...string) int {
	t.Helper()
	if host == "own" {
		host = g.addr
	}
	text := "GET / HTTP/1.1\r\nConnection: Upgrade\r\nHost: " + host + "\r\n"
	for _, h := range upgradeHeaders(headers...) {
		text += h + "\r\n"
	}
	conn, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func (g *gateway) port() string {
	_, port, _ := net.SplitHostPort(g.addr)
	return port
}

func evilOrigins(port string) []string {
	return []string{"http://evil.test", "http://localhost:8080", "http://127.0.0.1:1", "null", "file://", "chrome-extension://abc",
		"https://127.0.0.1:" + port, "http://127.0.0.1", "http://127.0.0.1:" + port + ".evil.test", "http://127.0.0.1:" + port + "/",
		"http://LOCALHOST:" + port, "ws://127.0.0.1:" + port}
}

func TestSec_A_WEB_01_ForeignOriginGetsNoSocket(t *testing.T) {
	g := start(t, nil)
	for _, origin := range evilOrigins(g.port()) {
		if got := g.upgrade(t, "own", "Origin: "+origin); got != http.StatusForbidden {
			t.Errorf("%s: %d", origin, got)
		}
	}
	if got := g.upgrade(t, "own", "Origin: http://"+g.addr, "Origin: http://evil.test"); got != http.StatusForbidden {
		t.Errorf("two origins: %d", got)
	}
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		host := name + ":" + g.port()
		if got := g.upgrade(t, host, "Origin: http://"+host); got != http.StatusSwitchingProtocols {
			t.Errorf("own page at %s: %d", host, got)
		}
	}
	if got := g.upgrade(t, "own"); got != http.StatusSwitchingProtocols {
		t.Errorf("no origin: %d", got)
	}
}

func TestSec_A_WEB_02_OriginRuleIsUnconditional(t *testing.T) {
	g := start(t, nil)
	for _, proxy := range []string{"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-IP: 127.0.0.1",
		"X-Forwarded-Host: 127.0.0.1"} {
		for _, origin := range evilOrigins(g.port()) {
			if got := g.upgrade(t, "own", "Origin: "+origin, proxy); got != http.StatusForbidden {
				t.Errorf("%s, %s: %d", origin, proxy, got)
			}
		}
	}
}

func TestSec_A_WEB_03_ForeignHost(t *testing.T) {
	g := start(t, nil)
	for _, host := range []string{"rebind.test", "rebind.test:" + g.port(), "localhost.", "localhost.:" + g.port(), "127.0.0.1.nip.io",
		"127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:080", "localhost:1x", "localhost:1:2", "localhost:1.rebind.test",
		"127.0.0.2:" + g.port(), "0.0.0.0:" + g.port(), "user@127.0.0.1", "127.1:" + g.port(), "2130706433", "[::ffff:127.0.0.1]:" + g.port()} {
		for _, target := range []string{"/", "/healthz", "/api/x", "/assets/app-12345678.js"} {
			if resp := g.ask(t, "GET", target, host); resp == nil || resp.StatusCode != http.StatusMisdirectedRequest &&
				resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s of %s: %v", target, host, resp)
			}
		}
		if strings.Contains(host, "@") {
			continue
		}
		if got := g.upgrade(t, host); got != http.StatusMisdirectedRequest {
			t.Errorf("socket of %s: %d", host, got)
		}
	}
	for _, text := range []string{"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET http://rebind.test/ HTTP/1.1\r\n" +
		"Host: 127.0.0.1\r\nConnection: close\r\n\r\n"} {
		if resp := g.raw(t, text); resp == nil || resp.StatusCode != http.StatusMisdirectedRequest && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %v", text, resp)
		}
	}
}

func TestSec_A_WEB_05_CrossSiteMutation(t *testing.T) {
	var calls atomic.Int32
	g := start(t, func(o *Options) {
		o.Mounts = map[string]http.Handler{"/api/": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) })}
	})
	for _, headers := range [][]string{
		{"Origin: http://evil.test", "Content-Type: application/x-www-form-urlencoded"},
		{"Origin: http://evil.test", "Content-Type: text/plain"},
		{"Origin: null"},
		{"Sec-Fetch-Site: cross-site"},
		{"Sec-Fetch-Site: same-site"},
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			if resp := g.ask(t, method, "/api/x", "own", append(headers, "Content-Length: 0")...); resp == nil ||
				resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s %v: %v", method, headers, resp)
			}
		}
	}
	if n := calls.Load(); n != 0 {
		t.Fatalf("%d requests came through", n)
	}
	if resp := g.ask(t, "POST", "/api/x", "own", "Origin: http://"+g.addr, "Content-Length: 0"); resp.StatusCode != http.StatusOK ||
		calls.Load() != 1 {
		t.Errorf("own page: %v", resp)
	}
}

// Programs below /v1/ read refusals in the form of OpenAI's API; the page and its
// browser read words.
func TestProgramsReadRefusalsInTheirForm(t *testing.T) {
	g := start(t, func(o *Options) { o.Mounts = map[string]http.Handler{"/v1/": http.NotFoundHandler()} })
	for _, x := range []struct {
		target, host, header string
		status               int
		kind, words          string
	}{
		{"/v1/chat/completions", "own", "Origin: http://evil.test", 403, "permission_error", "Another page"},
		{"/v1/chat/completions", "own", "Sec-Fetch-Site: cross-site", 403, "permission_error", "Another page"},
		{"/v1/chat/completions", "rebind.test", "X-A: b", 421, "invalid_request_error", "not Hearth's own"},
		{"/v1//chat", "own", "X-A: b", 400, "invalid_request_error", "more than one reading"},
		{"/v1/models", "own", "X-Forwarded-For: 10.0.0.1", 403, "proxy_attribution_required", "proxy"},
		{"/x", "own", "Origin: http://evil.test", 403, "", "Another page"},
	} {
		resp := g.ask(t, "POST", x.target, x.host, x.header, "Content-Length: 0")
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Error struct{ Message, Type string }
		}
		isJSON := json.Unmarshal(raw, &body) == nil && resp.Header.Get("Content-Type") == "application/json"
		if resp.StatusCode != x.status || body.Error.Type != x.kind || isJSON != (x.kind != "") || !strings.Contains(string(raw), x.words) {
			t.Errorf("%s %s: %d %q", x.target, x.header, resp.StatusCode, raw)
		}
	}
}

func TestSec_A_WEB_06_NoCORS(t *testing.T) {
	g := start(t, nil)
	for _, method := range []string{"OPTIONS", "GET", "POST"} {
		for _, target := range []string{"/", "/healthz", "/api/x"} {
			resp := g.ask(t, method, target, "own", "Origin: http://evil.test", "Access-Control-Request-Method: POST",
				"Access-Control-Request-Private-Network: true", "Content-Length: 0")
			for name := range resp.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s: %s", method, target, name)
				}
			}
			if method == "OPTIONS" && resp.StatusCode/100 == 2 {
				t.Errorf("the preflight of %s was granted", target)
			}
		}
	}
}

// Every answer, good or bad, has the headers that keep a page apart.
func TestSec_A_WEB_07_08_09_HeadersEverywhere(t *testing.T) {
	g := start(t, nil)
	want := map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	}
	for _, target := range []string{"/", "/chat/agent:main:main", "/healthz", "/readyz", "/api/x", "/missing.js", "//x", "/sw.js",
		"/assets/app-12345678.js", "/assets/missing"} {
		resp := g.ask(t, "GET", target, "own")
		for name, value := range want {
			if got := resp.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q", target, name, got)
			}
		}
		csp := resp.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'",
			"form-action 'none'",
			"require-trusted-types-for 'script'", "connect-src 'self' ws://" + g.addr + ";"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy lacks %s", target, part)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: %s", target, csp)
		}
		if cache := resp.Header.Get("Cache-Control"); (cache != "no-store") != (target == "/assets/app-12345678.js") {
			t.Errorf("%s: Cache-Control %q", target, cache)
		}
		for _, name := range []string{"Server", "X-Powered-By", "Set-Cookie"} {
			if resp.Header.Get(name) != "" {
				t.Errorf("%s: %s", target, name)
			}
		}
	}
	if resp := g.ask(t, "GET", "/", "own"); strings.Contains(resp.Header.Get("Service-Worker-Allowed"), "/") {
		t.Error("a service worker is allowed beyond where its file is")
	}
}

// What anybody may ask says nothing about this machine.
func TestSec_A_WEB_09_OpenRoutesAreConstant(t *testing.T) {
	g := start(t, func(o *Options) { o.Ready = func() (bool, []string) { return false, []string{"store: disk full"} } })
	first := make(map[string]string)
	for round := range 2 {
		for _, target := range []string{"/healthz", "/health", "/", "/readyz"} {
			resp := g.ask(t, "GET", target, "own", "Sec-Fetch-Site: cross-site")
			body, _ := io.ReadAll(resp.Body)
			if round == 0 {
				first[target] = string(body)
			} else if first[target] != string(body) {
				t.Errorf("%s changed: %s", target, body)
			}
			if strings.Contains(string(body), "disk") || strings.Contains(string(body), "1.2.3") {
				t.Errorf("%s tells: %s", target, body)
			}
		}
		g.connected(t, asCLI())
	}
	if first["/healthz"] != `{"ok":true,"status":"live"}` || first["/readyz"] != `{"ready":false}` {
		t.Errorf("%q", first)
	}
	resp := g.ask(t, "GET", "/readyz", "own")
	if body, _ := io.ReadAll(resp.Body); string(body) != `{"ready":false,"failing":["store: disk full"]}` || resp.StatusCode != 503 {
		t.Errorf("a program on this machine: %d %s", resp.StatusCode, body)
	}
	if resp := g.ask(t, "POST", "/healthz", "own", "Content-Length: 0"); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %v", resp)
	}
}

// A launch code is used once, and nothing of it stays in a log.
func TestSec_A_WEB_10_LaunchCodeOnce(t *testing.T) {
	var logged lockedBuffer
	g := start(t, func(o *Options) { o.Logger = logged.logger() })
	launch, _, err := g.registry.MintLaunch(0)
	if err != nil {
		t.Fatal(err)
	}
	page := func() *connecting {
		p := asCLI(protocol.ScopeRead, protocol.ScopeAdmin).device(newKey(t)).auth(&protocol.Auth{BootstrapToken: launch})
		p.Client.ID, p.Client.Mode = "webchat-ui", "webchat"
		return p
	}
	own := http.Header{"Origin": {"http://" + g.addr}}
	h := g.dial(t, own).hello(page())
	if h.Auth.Method != "bootstrap-token" || h.Auth.DeviceToken == "" || scopeText(h.Auth.Scopes) != "operator.read,operator.admin" {
		t.Errorf("%+v", h.Auth)
	}
	if f := g.dial(t, own).connect(page()); code(f) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("the second time: %s", code(f))
	}
	for _, secret := range []string{launch, h.Auth.DeviceToken, testToken} {
		if strings.Contains(logged.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
	if !strings.Contains(logged.String(), "AUTH_BOOTSTRAP_TOKEN_INVALID") {
		t.Error("the refusal is not in the log")
	}
}

func TestSec_A_NET_08_25_ForwardedIsNeverLocal(t *testing.T) {
	g := start(t, nil)
	for _, header := range []string{"X-Forwarded-For: 127.0.0.1", "Forwarded: for=[::1]", "X-Real-IP: 127.0.0.1", "x-forwarded-proto: http",
		"Via: 1.1 x", "CF-Connecting-IP: 127.0.0.1", "Tailscale-User-Login: admin@x"} {
		if got := g.upgrade(t, "own", header); got != http.StatusForbidden {
			t.Errorf("%s: %d", header, got)
		}
	}
	resp := g.ask(t, "GET", "/", "own", append(upgradeHeaders(), "X-Forwarded-For: 127.0.0.1")...)
	var body struct {
		Error struct{ Type string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Error.Type != "proxy_attribution_required" {
		t.Errorf("%+v %v", body, err)
	}
	gate := newGate(1, nil, nil)
	r := &http.Request{RemoteAddr: "127.0.0.1:9", Host: "127.0.0.1:1", Header: http.Header{}}
	if !gate.isLocal(r) {
		t.Error("a direct connection is not local")
	}
	for name, change := range map[string]func(*http.Request){
		"forwarded": func(r *http.Request) { r.Header.Set("X-Forwarded-For", "127.0.0.1") },
		"peer":      func(r *http.Request) { r.RemoteAddr = "192.168.1.2:9" },
		"host":      func(r *http.Request) { r.Host = "hearth.lan" },
	} {
		c := r.Clone(t.Context())
		change(c)
		if gate.isLocal(c) {
			t.Errorf("%s: still local", name)
		}
	}
}

func TestSec_A_NET_14_OnePathOneReading(t *testing.T) {
	var calls atomic.Int32
	g := start(t, func(o *Options) {
		o.Mounts = map[string]http.Handler{"/api/": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) })}
	})
	for _, target := range []string{"/api/..%2fadmin", "/api/%252e%252e/x", "//api", "/API/x", "/Api/x", "/api/;x", "/api%00", "/api/.",
		"/api./x", "/api/x.",
		"/x/../api/y", "/./api/x", "/api//x", "/%2e%2e/api", "/api%5cx", `/api\x`, "/a%0db", "*", "/" + strings.Repeat("a", 8000), "/%ff",
		"/assetS/x"} {
		if resp := g.ask(t, "GET", target, "own"); resp == nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%.60s: %v", target, resp)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d requests reached a handler", n)
	}
}

func TestSec_A_NET_15_16_BrokenRequestsLeaveTheGatewayAlive(t *testing.T) {
	g := start(t, nil)
	host := "Host: " + g.addr + "\r\n"
	for _, text := range []string{
		"GET http://[::1 HTTP/1.1\r\n" + host + "\r\n",
		"GET /%zz HTTP/1.1\r\n" + host + "\r\n",
		"GET / HTTP/1.1\r\n" + host + "X: a\rb\r\n\r\n",
		"GET / HTTP/1.1\r\n" + host + host + "\r\n",
		"GET / HTTP/9.9\r\n" + host + "\r\n",
		"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\r\n\r\n",
		"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
		"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n",
		"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n",
		"GET / HTTP/1.1\r\n" + host + "X: a\r\n folded\x00\r\n\r\n",
		"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 64<<10) + "\r\n\r\n",
		"GET /" + strings.Repeat("b", 64<<10) + " HTTP/1.1\r\n" + host + "\r\n",
	} {
		resp := g.raw(t, text)
		if resp != nil && resp.StatusCode/100 != 4 && resp.StatusCode/100 != 5 {
			t.Errorf("%.50q: %d", text, resp.StatusCode)
		}
		if resp := g.ask(t, "GET", "/healthz", "own"); resp == nil || resp.StatusCode != 200 {
			t.Fatalf("dead after %.50q", text)
		}
	}
	smuggled := "POST / HTTP/1.1\r\n" + host + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG"
	if resp := g.raw(t, smuggled); resp != nil && resp.StatusCode/100 == 2 {
		t.Errorf("CL.TE: %d", resp.StatusCode)
	}
}

func TestPages(t *testing.T) {
	g := start(t, nil)
	tests := []struct {
		method, target string
		status         int
		kind, contains string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "<title>Hearth"},
		{"GET", "/index.html", 200, "text/html; charset=utf-8", "<title>Hearth"},
		{"GET", "/settings/models", 200, "text/html; charset=utf-8", "<title>Hearth"},
		{"GET", "/chat/agent:main:main?x=1", 200, "text/html; charset=utf-8", "<title>Hearth"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", ""},
		{"GET", "/favicon.svg", 200, "image/svg+xml", "<svg/>"},
		{"GET", "/assets/app-12345678.js", 200, "text/javascript; charset=utf-8", "console.log"},
		{"GET", "/assets/missing.js", 404, "", ""},
		{"GET", "/.well-known/oauth-authorization-server", 404, "", ""},
		{"GET", "/assets/missing", 404, "", ""},
		{"GET", "/missing.png", 404, "", ""},
		{"GET", "/api/missing", 404, "", ""},
		{"GET", "/secret.key", 200, "text/html; charset=utf-8", "<title>Hearth"},
		{"POST", "/", 405, "", ""},
	}
	for _, tt := range tests {
		resp := g.ask(t, tt.method, tt.target, "own", "Content-Length: 0")
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != tt.status || tt.kind != "" && resp.Header.Get("Content-Type") != tt.kind ||
			!strings.Contains(string(body), tt.contains) || tt.method == "HEAD" && len(body) > 0 {
			t.Errorf("%s %s: %d %s %.80s", tt.method, tt.target, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		}
	}
	resp := g.ask(t, "GET", "/assets/app-12345678.js", "own", "Accept-Encoding: br, gzip")
	body, _ := io.ReadAll(resp.Body)
	if resp.Header.Get("Content-Encoding") != "gzip" || len(body) > 200 || fmt.Sprint(len(body)) != resp.Header.Get("Content-Length") {
		t.Errorf("not compressed: %d bytes, %v", len(body), resp.Header)
	}
	if resp := g.ask(t, "GET", "/assets/app-12345678.js", "own", "Accept-Encoding: gzip;q=0"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("compressed for a client that cannot take it")
	}
}

func TestPagesNotBuilt(t *testing.T) {
	g := start(t, func(o *Options) { o.Pages = nil })
	resp := g.ask(t, "GET", "/", "own")
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 503 || !strings.Contains(string(body), "build/run") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// The page comes out of the program. No spelling of a path leads to a file of
// this machine, and what is not part of the page is not there.
func TestSec_A_FILE_12_OnlyTheBuiltInPages(t *testing.T) {
	g := start(t, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary-of-this-machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 20)
	for _, target := range []string{
		secret, "/" + up + secret[1:], "/assets/" + up + secret[1:], "/assets/..%2f..%2f" + secret[1:], "/%2e%2e/%2e%2e" + secret,
		"/assets/%2e%2e/secret.key",
		"/..\\..\\" + secret, "/.env", "/.git/config", "/assets/.hidden", "/hearth.db", "/gateway.token", "/secret.key",
		"/assets/app-12345678.js.map", "/assets/",
		"//" + secret, "/file://" + secret, "/assets/app-12345678.js%00.png",
	} {
		resp := g.ask(t, "GET", target, "own")
		if resp == nil {
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		if strings.Contains(string(body), "canary") || strings.Contains(string(body), "no kind that is served") ||
			strings.Contains(string(body), "<pre>") {
			t.Errorf("%s: %d %.80s", target, resp.StatusCode, body)
		}
	}
}

// A page that the owner named may open a socket, which is where it has to prove
// who it is; it may do nothing else, and nobody like it may.
func TestSec_A_WEB_01_NamedOriginGetsASocketOnly(t *testing.T) {
	named := []string{"http://127.0.0.1:8080"}
	g := start(t, func(o *Options) { o.Origins = func() []string { return named } })
	if got := g.upgrade(t, "own", "Origin: http://127.0.0.1:8080"); got != http.StatusSwitchingProtocols {
		t.Errorf("a named page: %d", got)
	}
	for _, origin := range append(evilOrigins(g.port()), "http://127.0.0.1:80", "https://127.0.0.1:8080") {
		if got := g.upgrade(t, "own", "Origin: "+origin); got != http.StatusForbidden {
			t.Errorf("%s: %d", origin, got)
		}
	}
	for _, headers := range [][]string{{"Origin: http://127.0.0.1:8080", "Content-Length: 0"},
		{"Origin: http://127.0.0.1:8080", "Upgrade: websocket", "Content-Length: 0"}} {
		if resp := g.ask(t, "POST", "/api/x", "own", headers...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("POST with %v: %d", headers, resp.StatusCode)
		}
	}
	named = nil
	if got := g.upgrade(t, "own", "Origin: http://127.0.0.1:8080"); got != http.StatusForbidden {
		t.Errorf("after it was taken from the settings: %d", got)
	}
}
