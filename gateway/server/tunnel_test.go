package server

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// tunnel leads to an address from a port of its own, as `ssh -L` does.
func tunnel(t *testing.T, to string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				work.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					_, _ = near.Close(), far.Close()
				})
			}
		}
	})
	return l.Addr().String()
}

// Through a tunnel or a mapped port the page and its socket work, and nobody
// else's page does: not one of the name's other ports, and none by another name.
func TestTunnelsByAnotherPort(t *testing.T) {
	g := start(t, nil)
	own := g.addr
	g.addr = tunnel(t, own)
	_, port, err := net.SplitHostPort(g.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{g.addr, "localhost:" + port, "[::1]:" + port} {
		if resp := g.ask(t, "GET", "/", host); resp == nil || resp.StatusCode != http.StatusOK {
			t.Errorf("the page at %s: %v", host, resp)
		}
		if got := g.upgrade(t, host, "Origin: http://"+host); got != http.StatusSwitchingProtocols {
			t.Errorf("its socket at %s: %d", host, got)
		}
		if got := g.upgrade(t, host); got != http.StatusSwitchingProtocols {
			t.Errorf("a program at %s: %d", host, got)
		}
		for _, origin := range []string{"http://evil.test", "http://localhost:1", "http://127.0.0.1:1", "https://" + host,
			"http://" + host + ".evil.test", "null"} {
			if got := g.upgrade(t, host, "Origin: "+origin); got != http.StatusForbidden {
				t.Errorf("a page of %s at %s: %d", origin, host, got)
			}
		}
	}
	if got := g.upgrade(t, "rebind.test:"+port, "Origin: http://rebind.test:"+port); got != http.StatusMisdirectedRequest {
		t.Errorf("a name that leads here: %d", got)
	}
	if got := g.upgrade(t, own, "Origin: http://"+g.addr); got != http.StatusForbidden {
		t.Errorf("a page of another port: %d", got)
	}
}

// Programs encode the separator in the name of a model; there it has one reading.
func TestNamesOfModelsMayBeEncoded(t *testing.T) {
	g := start(t, nil)
	if resp := g.ask(t, "GET", "/v1/models/hearth%2Fmain", "own"); resp == nil || resp.StatusCode == http.StatusBadRequest {
		t.Errorf("%v", resp)
	}
	for _, target := range []string{"/v1/models/%2e%2e%2fchat", "/v1/models/..%2fchat", "/v1/models/a%2f%2fb", "/v1/models/%2fa",
		"/v1/models/a%2f.", "/v1/models/a%252fb", "/v1/chat%2fcompletions", "/v1%2fmodels/a", "/V1/models/a%2fb"} {
		if resp := g.ask(t, "GET", target, "own"); resp == nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v", target, resp)
		}
	}
}
