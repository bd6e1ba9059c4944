package server

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// withRemote is a gateway that other machines can reach, in this test by
// another port of this one.
func withRemote(t *testing.T) (g *gateway, remote string, client *tls.Config) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g = start(t, func(o *Options) {
		// A config that would allow too much.
		o.Remote = &Remote{Listener: ln, TLS: &tls.Config{MinVersion: tls.VersionTLS10, NextProtos: []string{"h2"},
			Certificates: []tls.Certificate{selfSigned(t)}}}
		o.Mounts = map[string]http.Handler{"/v1/": constant(`{"open":true}`)}
	})
	return g, ln.Addr().String(), &tls.Config{InsecureSkipVerify: true}
}

// selfSigned is a gateway's certificate, or somebody else's.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"gw.local"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// raw sends one request and returns the status line and body.
func raw(t *testing.T, c net.Conn, path string, header ...string) (int, string) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: gw.local\r\n%s\r\n", path, strings.Join(append(header, ""), "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return resp.StatusCode, string(b)
}

const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="

func TestSec_A_NET_17_PlaintextIsNeverServedToOthers(t *testing.T) {
	_, addr, _ := withRemote(t)
	for name, header := range map[string][]string{"socket": {upgrade}, "page": nil} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if status, body := raw(t, c, "/", header...); status == http.StatusSwitchingProtocols || status == http.StatusOK {
			t.Errorf("%s: %d %s", name, status, body)
		}
		_ = c.Close()
	}
	// Nor by the handler itself, should it ever stand behind something else.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://192.168.1.5/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := new(Remote).judge(r); v.status != http.StatusUpgradeRequired {
		t.Errorf("%+v", v)
	}
}

func TestSec_A_NET_19_OthersSpeakTLS13(t *testing.T) {
	_, addr, conf := withRemote(t)
	old := conf.Clone()
	old.MaxVersion = tls.VersionTLS12
	if c, err := tls.Dial("tcp", addr, old); err == nil {
		_ = c.Close()
		t.Error("TLS 1.2 was spoken")
	}
	c, err := tls.Dial("tcp", addr, conf)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v := c.ConnectionState().Version; v != tls.VersionTLS13 {
		t.Errorf("version %x", v)
	}
}

// Other machines find the socket and whether it lives, nothing else; and a
// browser that somebody's page sends finds nothing.
func TestWhatOtherMachinesFind(t *testing.T) {
	_, addr, conf := withRemote(t)
	for _, c := range []struct {
		path   string
		header []string
		status int
	}{
		{"/healthz", nil, 200}, {"/health", nil, 200},
		{"/", nil, 404}, {"/index.html", nil, 404}, {"/assets/app-12345678.js", nil, 404}, {"/api/x", nil, 404}, {"/v1/models", nil, 404},
		{"/readyz", nil, 404},
		{"/", []string{upgrade}, 101},
		{"/", []string{upgrade, "Origin: https://gw.local"}, 403},
		{"/", []string{upgrade, "Origin: http://evil.example"}, 403},
		{"/healthz", []string{"Origin: http://evil.example"}, 403},
		{"/", []string{upgrade, "X-Forwarded-For: 127.0.0.1"}, 403},
		{"/healthz", []string{"Forwarded: for=127.0.0.1"}, 403},
		{"/%2e%2e/x", nil, 400},
	} {
		tc, err := tls.Dial("tcp", addr, conf)
		if err != nil {
			t.Fatal(err)
		}
		if status, body := raw(t, tc, c.path, c.header...); status != c.status {
			t.Errorf("%s %v: %d, want %d: %s", c.path, c.header, status, c.status, body)
		}
		_ = tc.Close()
	}
}

// A connection by the network is never this machine's own, not even from its
// loopback address: the shared token pairs nobody there.
func TestSec_A_PAIR_07_RemoteIsNeverLocal(t *testing.T) {
	_, addr, conf := withRemote(t)
	ws, _, err := websocket.Dial(t.Context(), "wss://"+addr+"/", &websocket.DialOptions{Host: "127.0.0.1",
		HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: conf}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	c := &client{t: t, ws: ws}
	f, err := c.tryRead()
	if err != nil {
		t.Fatal(err)
	}
	if f.Event != "connect.challenge" {
		t.Fatalf("%+v", f)
	}
	err = ws.Write(t.Context(), websocket.MessageText,
		[]byte(`{"type":"req","id":"1","method":"connect","params":{"minProtocol":4,"maxProtocol":4,`+
			`"client":{"id":"cli","mode":"cli","version":"1","platform":"linux"},"role":"operator","scopes":["operator.admin","operator.read"],"auth":{"token":"`+testToken+`"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if f, err = c.tryRead(); err != nil || !f.OK || !strings.Contains(string(f.Payload), `"scopes":[]`) {
		t.Errorf("%v %+v %s", err, f, f.Payload)
	}
}
