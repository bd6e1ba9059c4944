package reach

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func address(cidr string) Address {
	p := netip.MustParsePrefix(cidr)
	return Address{Addr: p.Addr(), Network: p}
}

func TestWhatIsOpened(t *testing.T) {
	house := []Address{address("192.168.1.5/24"), address("8.8.4.4/24"), address("fd00::5/64"), address("2001:db8::5/64"),
		address("127.0.0.1/8")}
	all := append(house, address("100.100.1.2/32"), address("fd7a:115c:a1e0::1/128"), address("172.17.0.1/16"))
	l := New(Options{Local: func() []Address { return house }, All: func() []Address { return all }})
	for _, c := range []struct {
		want    Want
		open    string
		problem string
	}{
		{Want{Mode: Loopback}, "", ""},
		{Want{Mode: "nonsense"}, "", ""},
		{Want{Mode: LAN}, "192.168.1.5 fd00::5 2001:db8::5", ""},
		{Want{Mode: Tailnet}, "100.100.1.2 fd7a:115c:a1e0::1", ""},
		{Want{Mode: Custom, Custom: netip.MustParseAddr("172.17.0.1")}, "172.17.0.1", ""},
		{Want{Mode: Custom, Custom: netip.MustParseAddr("10.9.9.9")}, "", "does not have the address 10.9.9.9"},
	} {
		list, problem := l.choose(c.want)
		var got []string
		for _, a := range list {
			got = append(got, a.Addr.String())
		}
		if strings.Join(got, " ") != c.open || !strings.Contains(problem, c.problem) || c.problem == "" && problem != "" {
			t.Errorf("%v: %v %q", c.want, got, problem)
		}
	}
	none := New(Options{Local: func() []Address { return nil }, All: func() []Address { return nil }})
	for _, m := range []Mode{LAN, Tailnet} {
		if _, problem := none.choose(Want{Mode: m}); problem == "" {
			t.Errorf("%s without a network is no problem", m)
		}
	}
}

func TestSec_A_NET_02_NobodyFromTheInternet(t *testing.T) {
	home, six := address("192.168.1.5/24"), address("2001:db8::5/64")
	for from, want := range map[string]bool{
		"192.168.1.9": true, "10.1.2.3": true, "172.16.0.1": true, "169.254.3.3": true, "100.64.0.9": true, "::ffff:192.168.1.9": true,
		"8.8.8.8": false, "100.128.0.1": false, "172.32.0.1": false, "127.0.0.1": false, "0.0.0.0": false, "2001:4860::8888": false,
	} {
		if got := welcome(home, &net.TCPAddr{IP: net.ParseIP(from)}); got != want {
			t.Errorf("from %s: %v", from, got)
		}
	}
	if !welcome(six, &net.TCPAddr{IP: net.ParseIP("2001:db8::9")}) || welcome(six, &net.TCPAddr{IP: net.ParseIP("2001:db8:1::9")}) {
		t.Error("the same network, and another one")
	}
	if welcome(home, &net.UnixAddr{}) {
		t.Error("a stranger of no address")
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "0.0.0.0", "::", "127.0.0.1", "::ffff:127.0.0.1", "localhost", "224.0.0.1", "10.0.0.0/8"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for in, want := range map[string]string{"192.168.1.5": "192.168.1.5", "[fd00::1]": "fd00::1", " 10.0.0.1 ": "10.0.0.1",
		"::ffff:10.0.0.1": "10.0.0.1"} {
		if a, err := Parse(in); err != nil || a.String() != want {
			t.Errorf("%q: %v %v", in, a, err)
		}
	}
}

// real listens on 127.0.0.2 in the part of a local network's address: the
// kernel gives it to every Linux machine. Its guests come from there too, so
// welcome is not in the way of what is tested.
func realListener(t *testing.T, mode *atomic.Value, ready func() error) (*Listener, int) {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("127.0.0.2 is not there:", err)
	}
	port := probe.Addr().(*net.TCPAddr).Port
	_ = probe.Close()
	l := New(Options{
		Port: port, Want: func() Want { return Want{Mode: mode.Load().(Mode), Custom: netip.MustParseAddr("127.0.0.2")} },
		Local: func() []Address { return nil }, All: func() []Address { return []Address{address("127.0.0.2/32")} },
		Ready: ready, Interval: time.Hour,
	})
	return l, port
}

func TestOpensAndClosesWithTheSettings(t *testing.T) {
	var mode atomic.Value
	mode.Store(Loopback)
	changed := make(chan State, 16)
	l, port := realListener(t, &mode, func() error { return nil })
	l.o.OnChange = func(s State) { changed <- s }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()

	mode.Store(Custom)
	l.Kick()
	if s := <-changed; len(s.Addresses) != 1 || s.Problem != "" {
		t.Fatalf("%+v", s)
	}
	to := net.JoinHostPort("127.0.0.2", strconv.Itoa(port))
	// A loopback peer is nobody's guest: it is cut off.
	c, err := net.Dial("tcp", to)
	if err == nil {
		if _, err = c.Read(make([]byte, 1)); err == nil {
			t.Error("a guest that is not welcome was not cut off")
		}
		_ = c.Close()
	}
	mode.Store(Loopback)
	l.Kick()
	if s := <-changed; len(s.Addresses) != 0 || s.Mode != Loopback {
		t.Fatalf("%+v", s)
	}
	if c, err := net.Dial("tcp", to); err == nil {
		_ = c.Close()
		t.Error("still open after it was switched off")
	}
	cancel()
	<-ended
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// Switching off also ends what came in before.
func TestClosingADoorEndsItsGuests(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{ln: ln, conns: map[net.Conn]struct{}{}}
	out, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	raw, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	in, ok := d.track(raw)
	if !ok {
		t.Fatal("not tracked")
	}
	d.close()
	if _, err := out.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Error("the guest was not cut off:", err)
	}
	_ = in.Close()
	if _, ok := d.track(raw); ok {
		t.Error("a guest after closing")
	}
}

// Without a key there is no open address.
func TestSec_A_NET_17_NothingOpensWithoutAKey(t *testing.T) {
	var mode atomic.Value
	mode.Store(Custom)
	l, port := realListener(t, &mode, func() error { return errors.New("no key") })
	changed := make(chan State, 16)
	l.o.OnChange = func(s State) { changed <- s }
	go l.Run(t.Context())
	if s := <-changed; len(s.Addresses) != 0 || s.Problem != "no key" {
		t.Fatalf("%+v", s)
	}
	if c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.2", strconv.Itoa(port))); err == nil {
		_ = c.Close()
		t.Error("it is open")
	}
}
