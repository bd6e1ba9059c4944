package compare

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"math/big"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// certificate is one of a gateway, or of somebody who would like to be one.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// connected are the two ends of one TLS connection, as both see it.
func connected(t *testing.T, cert tls.Certificate) (client, gateway Channel) {
	t.Helper()
	a, b := net.Pipe()
	c := tls.Client(a, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	s := tls.Server(b, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13})
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	done := make(chan error, 1)
	go func() { done <- s.Handshake() }()
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	cs, ss := c.ConnectionState(), s.ConnectionState()
	pin, err := GatewayPin(&cs)
	if err != nil {
		t.Fatal(err)
	}
	if client, err = ChannelOf(&cs, pin); err != nil {
		t.Fatal(err)
	}
	// The gateway knows its own key.
	if gateway, err = ChannelOf(&ss, pin); err != nil {
		t.Fatal(err)
	}
	return client, gateway
}

func newKey(t testing.TB) ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func asJSON(t testing.TB, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var who = protocol.ClientInfo{ID: "cli", Mode: "cli", DisplayName: "laptop"}

// talk is a whole conversation; what comes between the messages is the test's.
func talk(t *testing.T, client, gateway Channel, key ed25519.PrivateKey) (shownByClient, shownByGateway string) {
	t.Helper()
	a, err := NewAsker(rand.Reader, client, key)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewAnswerer(rand.Reader, gateway, asJSON(t, a.Ask(who, protocol.RoleOperator, []protocol.Scope{protocol.ScopeRead})))
	if err != nil {
		t.Fatal(err)
	}
	reveal, mine, err := a.Reveal(asJSON(t, g.Nonce()))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := g.Check(asJSON(t, reveal))
	if err != nil {
		t.Fatal(err)
	}
	return mine, theirs
}

func TestBothShowTheSame(t *testing.T) {
	cert, key := certificate(t), newKey(t)
	seen := map[string]bool{}
	for range 4 {
		client, gateway := connected(t, cert)
		a, b := talk(t, client, gateway, key)
		if a != b || len(a) != 6 {
			t.Errorf("%q %q", a, b)
		}
		seen[a] = true
	}
	if len(seen) < 3 {
		t.Error("the digits do not change:", seen)
	}
}

// Somebody in between ends TLS on both sides, with a certificate and a key of
// their own, and is as clever as the order of the messages allows: they learn
// everything that is sent. The two codes are then two numbers of a million.
func TestSec_A_PAIR_06_SomebodyInBetween(t *testing.T) {
	mine, theirs := certificate(t), certificate(t)
	victim, thief := newKey(t), newKey(t)
	toMiddle, middleIn := connected(t, theirs) // the victim's connection ends here
	middleOut, gateway := connected(t, mine)
	if toMiddle.Pin == middleOut.Pin {
		t.Fatal("the test is none")
	}
	const tries = 500
	same := 0
	for range tries {
		v, err := NewAsker(rand.Reader, toMiddle, victim)
		if err != nil {
			t.Fatal(err)
		}
		ask := asJSON(t, v.Ask(who, protocol.RoleOperator, nil))
		// To the gateway they ask for themselves: they cannot show a key that is not
		// theirs. They commit before they see any number.
		m, err := NewAsker(rand.Reader, middleOut, thief)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewAnswerer(rand.Reader, gateway, asJSON(t, m.Ask(who, protocol.RoleOperator, nil)))
		if err != nil {
			t.Fatal(err)
		}
		// To the victim they may send the gateway's own number.
		if _, err := NewAnswerer(rand.Reader, middleIn, ask); err != nil {
			t.Fatal(err)
		}
		_, shownToVictim, err := v.Reveal(asJSON(t, g.Nonce()))
		if err != nil {
			t.Fatal(err)
		}
		reveal, _, err := m.Reveal(asJSON(t, g.Nonce()))
		if err != nil {
			t.Fatal(err)
		}
		shownByGateway, err := g.Check(asJSON(t, reveal))
		if err != nil {
			t.Fatal(err)
		}
		if shownToVictim == shownByGateway {
			same++
		}
	}
	// Of 500 tries with a chance of 10^-6 each, two are as good as impossible.
	if same > 1 {
		t.Errorf("%d of %d conversations looked the same", same, tries)
	}
}

// Relaying does not work at all: what the victim signs is about another
// connection and another key.
func TestSec_A_PAIR_06_RelayedWordsAreRefused(t *testing.T) {
	mine, theirs := certificate(t), certificate(t)
	for name, cert := range map[string]tls.Certificate{"with another certificate": theirs, "with the same, on another connection": mine} {
		toMiddle, _ := connected(t, cert)
		_, gateway := connected(t, mine)
		v, err := NewAsker(rand.Reader, toMiddle, newKey(t))
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewAnswerer(rand.Reader, gateway, asJSON(t, v.Ask(who, protocol.RoleOperator, nil)))
		if err != nil {
			t.Fatal(err)
		}
		reveal, _, err := v.Reveal(asJSON(t, g.Nonce()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Check(asJSON(t, reveal)); err == nil {
			t.Error(name, "the gateway took words that were said to somebody else")
		}
	}
}

// Without the commitment a code could be made to fit: who knows the other number
// first tries their own until it does. The order of the messages forbids it.
func TestSec_A_PAIR_06_TheCommitmentBinds(t *testing.T) {
	client, gateway := connected(t, certificate(t))
	key := newKey(t)
	a, err := NewAsker(rand.Reader, client, key)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewAnswerer(rand.Reader, gateway, asJSON(t, a.Ask(who, protocol.RoleOperator, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // what would be looked for
		a.nonce = []byte("another number, thought of later" + strconv.Itoa(i))[:nonceSize]
		a.nonce[0] = byte(i)
		reveal, _, err := a.Reveal(asJSON(t, g.Nonce()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Check(asJSON(t, reveal)); err == nil {
			t.Fatal("a number that was not committed to was taken")
		}
	}
	// Nor may it be said for another key.
	b, err := NewAsker(bytes.NewReader(bytes.Repeat([]byte{7}, nonceSize)), client, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	ask := b.Ask(who, protocol.RoleOperator, nil)
	ask.PublicKey = b64(key.Public().(ed25519.PublicKey))
	g, err = NewAnswerer(rand.Reader, gateway, asJSON(t, ask))
	if err != nil {
		t.Fatal(err)
	}
	reveal, _, _ := b.Reveal(asJSON(t, g.Nonce()))
	if _, err := g.Check(asJSON(t, reveal)); err == nil {
		t.Error("somebody asked in the name of another key")
	}
}

func TestOldTLSIsNoChannel(t *testing.T) {
	if _, err := ChannelOf(nil, "x"); err == nil {
		t.Error("nothing is no channel")
	}
	if _, err := ChannelOf(&tls.ConnectionState{Version: tls.VersionTLS12}, "x"); err == nil {
		t.Error("TLS 1.2 is no channel")
	}
}

func FuzzAnswerer(f *testing.F) {
	ch := Channel{Pin: "p", exporter: make([]byte, 32)}
	_, key, err := ed25519.GenerateKey(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		f.Fatal(err)
	}
	a, err := NewAsker(bytes.NewReader(make([]byte, nonceSize)), ch, key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asJSON(f, a.Ask(who, protocol.RoleOperator, nil)), []byte(`{"type":"reveal","nonce":"","signature":""}`))
	f.Add([]byte(`{"type":"ask"}`), []byte(`[]`))
	f.Add([]byte(`null`), []byte(`{`))
	f.Fuzz(func(t *testing.T, ask, reveal []byte) {
		g, err := NewAnswerer(bytes.NewReader(make([]byte, nonceSize)), ch, ask)
		if err != nil {
			return
		}
		if len(g.public) != ed25519.PublicKeySize || len(g.Ask.Scopes) > maxScopes {
			t.Error("a broken question was taken")
		}
		if _, err := g.Check(reveal); err == nil && !bytes.Contains(reveal, []byte("signature")) {
			t.Error("nothing was proven")
		}
		_, _, _ = a.Reveal(reveal)
	})
}
