package server

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	caller "github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/compare"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// withIntroductions is a gateway that machines without anything may ask.
func withIntroductions(t *testing.T) (g *gateway, url string, asked chan struct{}) {
	t.Helper()
	asked = make(chan struct{}, 100)
	g, addr, _ := withRemote(t)
	g.remote.Introduce = func(ctx context.Context, l pairing.Line, source netip.Addr, s *tls.ConnectionState) error {
		leaf, err := x509.ParseCertificate(g.remote.TLS.Certificates[0].Certificate[0])
		if err != nil {
			return err
		}
		pin, err := identity.PinOf(leaf.PublicKey)
		if err != nil {
			return err
		}
		ch, err := compare.ChannelOf(s, pin)
		if err != nil {
			return err
		}
		asked <- struct{}{}
		return g.registry.Introduce(ctx, pairing.Introduction{Line: l, Source: source, Channel: ch, ID: "0123456789abcdef"})
	}
	return g, "wss://" + addr, asked
}

func asker(t *testing.T, url string) caller.Options {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return caller.Options{URL: url, Device: &caller.Identity{Key: key}, Client: protocol.ClientInfo{ID: "cli", Mode: "cli",
		DisplayName: "laptop"},
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}}
}

// A machine without a code is let in by its digits, with limited rights, and
// connects with what it was given.
func TestIntroduction(t *testing.T) {
	g, url, _ := withIntroductions(t)
	o := asker(t, url)
	in, err := caller.Introduce(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	all := g.registry.Waiting()
	if len(all) != 1 || all[0].Code != in.Code || len(in.Code) != 6 || all[0].DisplayName != "laptop" {
		t.Fatalf("%+v, here %s", all, in.Code)
	}
	boss := pairing.Approval{By: []protocol.Scope{protocol.ScopeAdmin}, Code: protocol.ShownCode(in.Code)}
	if _, err := g.registry.Approve(t.Context(), all[0].ID, boss); err != nil {
		t.Fatal(err)
	}
	res, err := in.Wait(t.Context())
	if err != nil || res.Type != "approved" || res.DeviceToken == "" {
		t.Fatalf("%+v %v", res, err)
	}
	for _, s := range res.Scopes {
		if s == protocol.ScopeAdmin {
			t.Error("admin, though nobody gave it")
		}
	}
	o.Auth, o.Scopes = &protocol.Auth{DeviceToken: res.DeviceToken}, []protocol.Scope{protocol.ScopeRead}
	c, _, err := caller.DialPinned(t.Context(), []string{url}, []string{in.Pin}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// Revoked: the socket ends at once.
	if err := g.registry.Revoke(t.Context(), all[0].DeviceID); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
}

// One try: other digits end the request, and the machine gets nothing.
func TestSec_A_PAIR_06_OtherDigitsEndTheRequest(t *testing.T) {
	g, url, _ := withIntroductions(t)
	in, err := caller.Introduce(t.Context(), asker(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	id := g.registry.Waiting()[0].ID
	other := "000000"
	if in.Code == other {
		other = "000001"
	}
	boss := pairing.Approval{By: []protocol.Scope{protocol.ScopeAdmin}, Code: other}
	if _, err := g.registry.Approve(t.Context(), id, boss); !errors.Is(err, pairing.ErrCodeDiffers) {
		t.Fatal(err)
	}
	if res, err := in.Wait(t.Context()); err != nil || res.Type != "gone" || res.DeviceToken != "" {
		t.Errorf("%+v %v", res, err)
	}
	boss.Code = in.Code
	if _, err := g.registry.Approve(t.Context(), id, boss); !errors.Is(err, pairing.ErrNoRequest) {
		t.Error("a second try:", err)
	}
}

// A request is there as long as the machine that makes it.
func TestIntroductionEndsWithItsMachine(t *testing.T) {
	g, url, _ := withIntroductions(t)
	in, err := caller.Introduce(t.Context(), asker(t, url))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.registry.Waiting()) != 1 {
		t.Fatal("nobody waits")
	}
	in.Close()
	eventually(t, func() bool { return len(g.registry.Waiting()) == 0 })
}

func TestSec_A_PAIR_06_AskingIsLimited(t *testing.T) {
	g, url, asked := withIntroductions(t)
	var refused *caller.RefusedError
	let := 0
	for range 14 {
		in, err := caller.Introduce(t.Context(), asker(t, url))
		if err == nil {
			let++
			defer in.Close()
		} else if !errors.As(err, &refused) {
			t.Fatal(err)
		}
	}
	if let != 3 || len(g.registry.Waiting()) != 3 || len(asked) != 14 || !strings.Contains(refused.Why, "minute") {
		t.Errorf("%d of 14 wait, %d in the row: %v", let, len(g.registry.Waiting()), refused)
	}
}

// Somebody ends TLS in between with a certificate of their own, to both sides as
// clever as can be: they pass on what they hear. Nothing comes of it.
func TestSec_A_NET_18_NobodyPairsThroughAnother(t *testing.T) {
	g, url, _ := withIntroductions(t)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	defer work.Wait()
	defer ln.Close()
	work.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := tls.Dial("tcp", strings.TrimPrefix(url, "wss://"), &tls.Config{InsecureSkipVerify: true})
			if err != nil {
				_ = in.Close()
				return
			}
			for _, w := range [][2]net.Conn{{in, out}, {out, in}} {
				work.Go(func() { relay(w[0], w[1]) })
			}
		}
	})
	in, err := caller.Introduce(t.Context(), asker(t, "wss://"+ln.Addr().String()))
	if err == nil {
		in.Close()
		t.Error("the gateway took words that were said to somebody else")
	}
	if all := g.registry.Waiting(); len(all) != 0 || len(g.registry.Devices()) != 0 {
		t.Errorf("%+v", all)
	}
}

// eventually waits for what happens a moment later.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	end, look := time.After(10*time.Second), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-end:
			t.Fatal("it does not happen")
		case <-look.C:
		}
	}
}

func relay(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if _, werr := to.Write(b[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
