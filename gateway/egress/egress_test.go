package egress

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// names is a name server; each lookup takes the next answer of a name and
// repeats the last.
type names map[string][]answer

type answer []string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	list := n[host]
	if len(list) == 0 {
		return nil, errors.New("no such host")
	}
	if len(list) > 1 {
		n[host] = list[1:]
	}
	var out []netip.Addr
	for _, s := range list[0] {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

// site is a public web site: an address that the client may reach and that the
// test serves, and a sinkhole that counts every other connection.
type site struct {
	*httptest.Server
	names names
	dials atomic.Int64 // connections to anything but the site
}

const siteIP = "93.184.215.14"

func newSite(t *testing.T, h http.Handler) (*site, *Client) {
	t.Helper()
	s := &site{Server: httptest.NewServer(h), names: names{"site.example": {{siteIP}}}}
	t.Cleanup(s.Close)
	c := Public(Options{Resolver: s.names, Own: func() []netip.Addr { return nil }, Dial: s.dial})
	t.Cleanup(c.http.CloseIdleConnections)
	return s, c
}

func (s *site) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(address); host != siteIP {
		s.dials.Add(1)
		return nil, errors.New("sinkhole")
	}
	var d net.Dialer
	return d.DialContext(ctx, network, s.Listener.Addr().String())
}

func forbidden(err error) bool {
	var f *ForbiddenError
	return errors.As(err, &f)
}

// privateSpellings are addresses of this machine, of private networks and of
// what is reserved, in the spellings that have got past other programs.
func privateSpellings() []string {
	hosts := []string{
		"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1",
		"0177.1", "127.0.0.01", "127.0.0.0x1",
		"0", "0.0.0.0", "0x0", "00", "localhost", "localhost.", "LOCALHOST", "LocalHost.", "a.localhost", "a.b.localhost.",
		"localhost.localdomain.local", "router", "printer.lan", "nas.local", "x.home.arpa", "db.internal", "metadata.google.internal",
		"metadata.google.internal.",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]",
		"[::7f00:1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001::1]",
		"[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001:10::1]", "[2001:2::1]",
		"[2600::5efe:127.0.0.1]", "[2600::200:5efe:7f00:1]", "[fe80::1]", "[fe80::1%25lo]", "[fe80::1%25eth0]", "[fc00::1]", "[fd00:ec2::254]",
		"[fdff:ffff::1]", "[ff02::1]", "[ff0e::1]", "[100::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[4000::1]", "[::2]",
		"10.0.0.1", "10.255.255.255", "0xa.0.0.1", "167772161", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1",
		"3232235521", "0xc0a80001", "192.168.0.1.", "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518",
		"[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "169.254.169.254.",
		"100.64.0.1", "100.100.100.200", "100.127.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1",
		"198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "0xffffffff",
		"4294967295", "4294967296", "99999999999", "1.2.3.4.5", "256.0.0.1",
		"①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "ｌｏｃａｌｈｏｓｔ", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc%61lhost", "127.0.0.1%00.example.com",
		"%31%32%37.0.0.1",
	}
	var out []string
	for _, h := range hosts {
		out = append(out, "http://"+h+"/")
	}
	return append(out,
		"http://evil@127.0.0.1/", "http://site.example@127.0.0.1/", "http://site.example:80@127.0.0.1/", "http://127.0.0.1:80@site.example/",
		"http:\\\\127.0.0.1\\", "http:/\\127.0.0.1", "http:///127.0.0.1/", "http:127.0.0.1", "http:/127.0.0.1", "//127.0.0.1/",
		"http://127.0.0.1#@site.example/", "http://site.example\\@127.0.0.1/", "http://[::ffff:127.0.0.1]:80/", "http://127.0.0.1:8080/",
		"https://127.0.0.1:443/", "http://0:80/", "http://:80/", "http://site.example:0/", "http://site.example:22/", "http://site.example:25/",
		"http://site.example:6379/", "http://site.example:18789/", "http://site.example:99999/", "http://site.example:-1/", "ht\n"+
			"tp://127.0.0.1/", "http://127.0.0.1\t/", " http://127.0.0.1/", "http://127.0.\u200b0.1/", "http://127.0.0.1\u2028/",
		"file:///etc/passwd", "FILE:///etc/passwd", "ftp://site.example/", "gopher://127.0.0.1:6379/_x", "dict://127.0.0.1:11211/",
		"jar:http://127.0.0.1!/", "data:text/html,x", "javascript:alert(1)", "ws://127.0.0.1/", "unix:///run/x", "", "http://", "https://?x",
		"http://site.example/"+strings.Repeat("a", maxURL))
}

func TestSec_A_SSRF_01_PrivateAddressesInEverySpelling(t *testing.T) {
	s, c := newSite(t, http.NotFoundHandler())
	list := privateSpellings()
	if len(list) < 140 {
		t.Fatalf("only %d spellings", len(list))
	}
	for _, raw := range list {
		if _, err := c.Fetch(t.Context(), Request{URL: raw}); !forbidden(err) {
			t.Errorf("%q: %v, want it refused", raw, err)
		}
	}
	if n := s.dials.Load(); n != 0 {
		t.Errorf("%d connections were tried", n)
	}
}

// The system's dialer is asked as well, so that nothing depends on the checks
// before it.
func TestSec_A_SSRF_01_TheDialerItselfRefuses(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	g := newGuard(Options{Own: func() []netip.Addr { return nil }})
	if conn, err := g.system(t.Context(), "tcp", ln.Addr().String()); !forbidden(err) {
		t.Errorf("connected to %v: %v", conn, err)
	}
}

func TestPublicAddressesAreLetThrough(t *testing.T) {
	for _, s := range []string{"8.8.8.8", "93.184.215.14", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.0.1.1",
		"2606:4700::1111", "2a00:1450:4001::200e", "::ffff:8.8.8.8"} {
		if !public(netip.MustParseAddr(s)) {
			t.Errorf("%s is refused", s)
		}
	}
}

func TestParseKeepsWebAddresses(t *testing.T) {
	for raw, want := range map[string]string{
		"https://site.example/a?b=c#d":   "https://site.example/a?b=c",
		"HTTP://Site.Example:8080/":      "http://site.example:8080/",
		"https://bücher.example/":        "https://xn--bcher-kva.example/",
		"https://site.example./":         "https://site.example/",
		"http://8.8.8.8/":                "http://8.8.8.8/",
		"https://[2606:4700::1111]:443/": "https://[2606:4700::1111]:443/",
	} {
		u, err := Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %s", raw, u, err, want)
		}
	}
}

func TestSec_A_SSRF_02_NamesThatLeadInside(t *testing.T) {
	s, c := newSite(t, http.NotFoundHandler())
	for name, list := range map[string][]answer{
		"private.example": {{"127.0.0.1"}}, "mixed.example": {{siteIP, "10.0.0.1"}}, "mixed6.example": {{siteIP, "::1"}},
		"six.example":  {{"fd00::1"}},
		"zero.example": {{"0.0.0.0"}}, "mapped.example": {{"::ffff:10.0.0.1"}}, "meta.example": {{"169.254.169.254"}},
		"nat.example": {{"64:ff9b::a00:1"}},
	} {
		s.names[name] = list
		if _, err := c.Fetch(t.Context(), Request{URL: "http://" + name + "/"}); !forbidden(err) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
	if n := s.dials.Load(); n != 0 {
		t.Errorf("%d connections were tried", n)
	}
}

// A name server that says "public" when it is asked first and "private" when
// the connection is made gets the connection to the public address.
func TestSec_A_SSRF_02_NamesThatChangeTheirMind(t *testing.T) {
	list := names{}
	var inside, outside int
	g := newGuard(Options{Resolver: list, Own: func() []netip.Addr { return nil }, Dial: func(_ context.Context, _, address string) (net.Conn,
		error) {
		if address == siteIP+":80" {
			outside++
		} else {
			inside++
		}
		return nil, errors.New("nobody there")
	}})
	for i := range 1000 {
		name := fmt.Sprintf("flip%d.example", i)
		list[name] = []answer{{siteIP}, {"127.0.0.1"}}
		if _, err := g.dial(t.Context(), "tcp", name+":80"); !errors.Is(err, ErrUnreachable) {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := g.dial(t.Context(), "tcp", name+":80"); !forbidden(err) {
			t.Fatalf("%s, asked again: %v, want it refused", name, err)
		}
	}
	if inside != 0 || outside != 1000 {
		t.Errorf("%d connections inside, %d outside", inside, outside)
	}
}

func TestSec_A_SSRF_02_OwnPublicAddress(t *testing.T) {
	s, _ := newSite(t, http.NotFoundHandler())
	c := Public(Options{Resolver: s.names, Own: func() []netip.Addr { return []netip.Addr{netip.MustParseAddr(siteIP)} }, Dial: s.dial})
	if _, err := c.Fetch(t.Context(), Request{URL: "http://site.example/"}); !forbidden(err) {
		t.Errorf("%v, want it refused", err)
	}
}

func TestSec_A_SSRF_03_Redirects(t *testing.T) {
	var to atomic.Value
	var code atomic.Int64
	s, c := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", to.Load().(string))
		w.WriteHeader(int(code.Load()))
	}))
	for _, status := range []int64{301, 302, 303, 307, 308} {
		for _, target := range []string{"http://127.0.0.1/", "//169.254.169.254/latest/", "http://[::1]/", "http://localhost./",
			"file:///etc/passwd", "gopher://site.example/", "http://2130706433/", "http://user@site.example/", "/again",
			"http://site.example:6379/"} {
			code.Store(status)
			to.Store(target)
			if _, err := c.Fetch(t.Context(), Request{URL: "http://site.example/"}); !forbidden(err) {
				t.Errorf("%d to %s: %v, want it refused", status, target, err)
			}
		}
	}
	if n := s.dials.Load(); n != 0 {
		t.Errorf("%d connections were tried", n)
	}
}

func TestSec_A_SSRF_03_NoDowngrade(t *testing.T) {
	srv := httptest.NewTLSServer(http.RedirectHandler("http://site.example/", http.StatusFound))
	defer srv.Close()
	var plainDials atomic.Int64
	c := Public(Options{Resolver: names{"site.example": {{siteIP}}}, Own: func() []netip.Addr { return nil },
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasSuffix(address, ":80") {
				plainDials.Add(1)
			}
			var d net.Dialer
			return d.DialContext(ctx, network, srv.Listener.Addr().String())
		}})
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	if _, err := c.Fetch(t.Context(), Request{URL: "https://site.example/"}); !forbidden(err) || plainDials.Load() != 0 {
		t.Errorf("%v, %d plain connections; want it refused", err, plainDials.Load())
	}
}

func TestSec_A_SSRF_04_CredentialsStayWithTheirOrigin(t *testing.T) {
	var seen http.Header
	s, c := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "site.example" {
			http.Redirect(w, r, "http://other.example/?secret=1", http.StatusTemporaryRedirect)
			return
		}
		seen = r.Header.Clone()
	}))
	s.names["other.example"] = []answer{{siteIP}}
	h := http.Header{"Authorization": {"Bearer x"}, "X-Api-Key": {"x"}, "X-Subscription-Token": {"x"}, "Cookie": {"a=b"}, "X-Custom": {"x"},
		"User-Agent": {"Hearth"}}
	if _, err := c.Fetch(t.Context(), Request{URL: "http://site.example/", Header: h}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Subscription-Token", "Cookie", "X-Custom", "Referer"} {
		if v := seen.Get(name); v != "" {
			t.Errorf("%s: %s went to another origin", name, v)
		}
	}
	if seen.Get("User-Agent") != "Hearth" {
		t.Errorf("the user agent was lost: %v", seen)
	}
}

func TestSec_A_SSRF_05_EnvironmentProxyIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:9")
	s, c := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") }))
	p, err := c.Fetch(t.Context(), Request{URL: "http://site.example/"})
	if err != nil || string(p.Body) != "direct" || s.dials.Load() != 0 {
		t.Errorf("%q %v, %d other connections", p.Body, err, s.dials.Load())
	}
	if tr := c.http.Transport.(*http.Transport); tr.Proxy != nil {
		t.Error("a public client has a proxy")
	}
}

func TestSec_A_SSRF_09_Bodies(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 1<<20)
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	for range 16 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	_, c := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		case "/endless500":
			w.WriteHeader(500)
			fallthrough
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(big); err != nil {
					return
				}
			}
		case "/headers":
			for i := range 2000 {
				w.Header().Set(fmt.Sprintf("X-Fill-%d", i), strings.Repeat("y", 100))
			}
		}
	}))
	for _, path := range []string{"/bomb", "/endless", "/endless500"} {
		p, err := c.Fetch(t.Context(), Request{URL: "http://site.example" + path, MaxBytes: 64 << 10})
		if err != nil || len(p.Body) != 64<<10 || !p.Truncated {
			t.Errorf("%s: %d bytes, truncated %v, %v", path, len(p.Body), p.Truncated, err)
		}
	}
	if _, err := c.Fetch(t.Context(), Request{URL: "http://site.example/headers"}); err == nil {
		t.Error("200 KB of headers were taken")
	}
}

func TestSec_A_SSRF_09_SlowServers(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"says nothing":        func(net.Conn) {},
		"stops in the middle": func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") },
		"a byte a second": func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
			for {
				<-time.After(time.Second) // in a bubble: no real time passes
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var work sync.WaitGroup
				var far net.Conn
				c := Public(Options{Resolver: names{"site.example": {{siteIP}}}, Own: func() []netip.Addr { return nil },
					Dial: func(context.Context, string, string) (net.Conn, error) {
						near, end := net.Pipe()
						far = end
						work.Go(func() { _, _ = io.Copy(io.Discard, end) })
						work.Go(func() { serve(end) })
						return near, nil
					}})
				start := time.Now()
				p, err := c.Fetch(t.Context(), Request{URL: "http://site.example/"})
				if err == nil && !p.Truncated {
					t.Errorf("a page of %d bytes", len(p.Body))
				}
				if took := time.Since(start); took > totalTime {
					t.Errorf("took %s", took)
				}
				c.http.CloseIdleConnections()
				far.Close()
				work.Wait()
			})
		})
	}
}

// What is told of a public address must not tell what runs there.
func TestSec_A_SSRF_12_OneErrorForAll(t *testing.T) {
	var said []string
	for _, failure := range []error{errors.New("connection refused"), errors.New("no route to host"), errors.New("i/o timeout")} {
		c := Public(Options{Resolver: names{"site.example": {{siteIP}}}, Own: func() []netip.Addr { return nil },
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, failure }})
		_, err := c.Fetch(t.Context(), Request{URL: "http://site.example/?q=secret"})
		if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
		said = append(said, err.Error())
	}
	if said[0] != said[1] || said[1] != said[2] {
		t.Errorf("the errors differ: %q", said)
	}
}

func TestSameOrigin(t *testing.T) {
	first, _ := http.NewRequest(http.MethodPost, "https://api.example/v1", nil)
	for to, follow := range map[string]bool{"https://api.example/v2": true, "https://api.example:443/v2": true,
		"https://other.example/": false, "http://api.example/v1": false, "https://api.example:8443/": false} {
		r, _ := http.NewRequest(http.MethodPost, to, nil)
		if err := SameOrigin(r, []*http.Request{first}); (err == nil) != follow {
			t.Errorf("%s: %v", to, err)
		}
	}
	get, _ := http.NewRequest(http.MethodGet, "https://api.example/v1", nil)
	if SameOrigin(get, []*http.Request{first}) == nil {
		t.Error("a redirect that loses the body was followed")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range privateSpellings() {
		f.Add(s)
	}
	f.Add("https://site.example/x")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("Parse(%q) = %q, read again: %v, %v", raw, u, again, err)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !public(a) {
			t.Fatalf("Parse(%q) lets %s through", raw, a)
		}
	})
}

func TestOnlyReachesItsOrigin(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://localhost.localdomain:1/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "here")
	}))
	defer srv.Close()
	c, err := Only(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.http.CloseIdleConnections()
	if p, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/search"}); err != nil || string(p.Body) != "here" {
		t.Errorf("%q %v", p.Body, err)
	}
	if p, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/away"}); err != nil || p.Status != http.StatusFound {
		t.Errorf("followed a redirect to another place: %d %v", p.Status, err)
	}
	for _, raw := range []string{"http://127.0.0.1:1/", "http://site.example/", "http://user@" + srv.Listener.Addr().String() + "/",
		"file:///etc/passwd"} {
		if _, err := c.Fetch(t.Context(), Request{URL: raw}); !forbidden(err) {
			t.Errorf("%s: %v, want it refused", raw, err)
		}
	}
	if _, err := Only("searx.local"); err == nil {
		t.Error("an address without a scheme was taken")
	}
}
