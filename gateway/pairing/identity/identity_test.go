package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bench is an identity with a clock that the test moves.
type bench struct {
	t    *testing.T
	path string
	now  time.Time
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, path: filepath.Join(t.TempDir(), "gateway.pem"), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
}

func (b *bench) open() *Identity {
	b.t.Helper()
	i, err := Open(Options{Path: b.path, Now: func() time.Time { return b.now }, Random: rand.Reader,
		Write: func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }})
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

func print(t *testing.T, i *Identity) string {
	t.Helper()
	f, err := i.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheSameAfterARestart(t *testing.T) {
	b := newBench(t)
	one := b.open()
	b.now = b.now.Add(100 * 24 * time.Hour)
	two := b.open()
	if one.ID() != two.ID() || !slices.Equal(one.Pins(), two.Pins()) || print(t, one) != print(t, two) || one.Host() != two.Host() {
		t.Error("another gateway after a restart")
	}
	if len(one.ID()) != 16 || one.Host() != "gw-"+one.ID()[:12]+".local" {
		t.Error(one.ID(), one.Host())
	}
	if other := newBench(t).open(); other.ID() == one.ID() {
		t.Error("two gateways with one id")
	}
}

// A renewal is not noticed by clients of ours.
func TestRenewalKeepsThePin(t *testing.T) {
	b := newBench(t)
	i := b.open()
	before := print(t, i)
	b.now = b.now.Add(leafLife - renewal - time.Hour)
	if print(t, i) != before {
		t.Error("renewed too early")
	}
	b.now = b.now.Add(2 * time.Hour)
	pins := i.Pins()
	if print(t, i) == before {
		t.Error("not renewed in time")
	}
	if !slices.Equal(pins, i.Pins()) || print(t, b.open()) != print(t, i) {
		t.Error("the renewal changed the key, or was not kept")
	}
}

func TestRotationOverlaps(t *testing.T) {
	b := newBench(t)
	i := b.open()
	id, old := i.ID(), i.Pins()
	until, err := i.Rotate()
	if err != nil || !until.Equal(b.now.Add(Overlap)) {
		t.Fatal(until, err)
	}
	if again, err := i.Rotate(); err != nil || !again.Equal(until) {
		t.Error("a second rotation at once:", again, err)
	}
	told := i.Pins()
	if len(told) != 2 || told[0] != old[0] {
		t.Fatal(told)
	}
	if got := handshake(t, i, old, nil); got != nil {
		t.Error("the old key is not used any more:", got)
	}
	b.now = until.Add(time.Minute)
	for name, x := range map[string]*Identity{"running": i, "restarted": b.open()} {
		if got := handshake(t, x, told, nil); got != nil {
			t.Errorf("%s: a client that was told in time: %v", name, got)
		}
		var wrong *MismatchError
		if got := handshake(t, x, old, nil); !errors.As(got, &wrong) {
			t.Errorf("%s: a client that was not told: %v", name, got)
		}
		if x.ID() != id || len(x.Pins()) != 1 || x.Pins()[0] != told[1] {
			t.Errorf("%s: %s %v", name, x.ID(), x.Pins())
		}
	}
}

// handshake is one TLS connection; it returns the client's error.
func handshake(t *testing.T, i *Identity, pins, prints []string, change ...func(client, server *tls.Config)) error {
	t.Helper()
	client, err := Client(pins, prints)
	if err != nil {
		t.Fatal(err)
	}
	server := &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return i.Certificate()
	}}
	for _, c := range change {
		c(client, server)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // a pipe without a buffer locks up
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		z, err := ln.Accept()
		if err != nil {
			return
		}
		defer z.Close()
		c := tls.Server(z, server)
		_ = c.Handshake()
		_, _ = io.Copy(io.Discard, c)
	}()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	err = tls.Client(a, client).HandshakeContext(t.Context())
	_ = a.Close()
	<-done
	return err
}

func TestSec_A_NET_18_ClientsPin(t *testing.T) {
	i, rogue := newBench(t).open(), newBench(t).open()
	if err := handshake(t, i, i.Pins(), nil); err != nil {
		t.Error("by its key:", err)
	}
	if err := handshake(t, i, nil, []string{print(t, i)}); err != nil {
		t.Error("by its certificate:", err)
	}
	var wrong *MismatchError
	err := handshake(t, rogue, i.Pins(), nil)
	if !errors.As(err, &wrong) || wrong.Got != rogue.Pins()[0] || wrong.Want[0] != i.Pins()[0] {
		t.Errorf("another key: %v", err)
	}
	if text := err.Error(); !strings.Contains(text, Short(wrong.Got)) || !strings.Contains(text, Short(wrong.Want[0])) {
		t.Errorf("both fingerprints are to be shown: %s", text)
	}
	if err := handshake(t, rogue, nil, []string{print(t, i)}); !errors.As(err, &wrong) {
		t.Errorf("another certificate: %v", err)
	}
	if _, err := Client(nil, nil); err == nil {
		t.Error("a client without a pin")
	}
}

// A certificate that everybody trusts, for the right name, is still not the
// gateway.
func TestSec_A_NET_18_AuthoritiesDoNotMatter(t *testing.T) {
	i, rogue := newBench(t).open(), newBench(t).open()
	ca, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: i.Host()}, DNSNames: []string{i.Host()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	cert, err := selfSigned(rand.Reader, tmpl, ca)
	if err != nil {
		t.Fatal(err)
	}
	err = handshake(t, rogue, i.Pins(), nil, func(client, server *tls.Config) {
		server.GetCertificate = nil
		server.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: ca}}
		client.RootCAs = x509.NewCertPool()
		client.RootCAs.AddCert(cert)
		client.ServerName = i.Host()
	})
	var wrong *MismatchError
	if !errors.As(err, &wrong) {
		t.Error(err)
	}
}

func TestSec_A_NET_19_OnlyTLS13(t *testing.T) {
	i := newBench(t).open()
	err := handshake(t, i, i.Pins(), nil, func(client, _ *tls.Config) {
		client.MinVersion, client.MaxVersion = tls.VersionTLS12,
			tls.VersionTLS12
	})
	if err == nil {
		t.Error("the server speaks TLS 1.2")
	}
	err = handshake(t, i, i.Pins(), nil, func(_, server *tls.Config) {
		server.MinVersion, server.MaxVersion = tls.VersionTLS12,
			tls.VersionTLS12
	})
	if err == nil {
		t.Error("the client speaks TLS 1.2")
	}
}

// Who installs the authority lets it vouch for this gateway and nothing else.
func TestAuthorityVouchesForNothingElse(t *testing.T) {
	b := newBench(t)
	i := b.open()
	roots := x509.NewCertPool()
	roots.AddCert(i.Authority())
	verify := func(c *x509.Certificate, name string) error {
		_, err := c.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: b.now, KeyUsages: []x509.ExtKeyUsage{
			x509.ExtKeyUsageServerAuth}})
		return err
	}
	leaf, err := i.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(leaf.Leaf, i.Host()); err != nil {
		t.Error("its own name:", err)
	}
	forge := func(change func(*x509.Certificate)) *x509.Certificate {
		t.Helper()
		tmpl := *leaf.Leaf
		change(&tmpl)
		der, err := x509.CreateCertificate(rand.Reader, &tmpl, i.keys.caCert, &i.keys.current.PublicKey, i.keys.ca)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := verify(forge(func(c *x509.Certificate) { c.DNSNames = []string{"bank.example"} }), "bank.example"); err == nil {
		t.Error("it vouches for a bank")
	}
	public := forge(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, []net.IP{net.ParseIP("8.8.8.8")} })
	if err := verify(public, "8.8.8.8"); err == nil {
		t.Error("it vouches for a public address")
	}
	private := forge(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, []net.IP{net.ParseIP("192.168.1.2")} })
	if err := verify(private, "192.168.1.2"); err != nil {
		t.Error("a private address:", err)
	}
	if ca := i.Authority(); !ca.PermittedDNSDomainsCritical || !ca.MaxPathLenZero || !ca.IsCA || leaf.Leaf.IsCA {
		t.Error("the authority is not bound")
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	b := newBench(t)
	b.open()
	whole, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "noise": "hello", "half": string(whole[:len(whole)/4]),
		"no first": strings.Replace(string(whole), "First: ", "Last: ", 1),
	} {
		if err := os.WriteFile(b.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Path: b.path, Now: time.Now, Random: rand.Reader, Write: func(string, []byte) error {
			t.Errorf("%s: it was replaced", name)
			return nil
		}}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	i := &Identity{o: Options{Random: rand.Reader, Now: time.Now, Write: func(string, []byte) error { return nil }}}
	if err := i.create(); err != nil {
		f.Fatal(err)
	}
	b, err := i.keys.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := decode(b); err == nil && (k.current == nil || k.ca == nil || !isPin(k.first)) {
			t.Error("half an identity was taken")
		}
	})
}

// A gateway that was started with a wrong clock makes certificates of another
// time. They are made anew when the clock is right, by the same keys: browsers
// take them, and who is paired notices nothing.
func TestFault_F_CLK_01_CertificatesOfAWrongClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"years ahead": 10 * 365 * 24 * time.Hour, "days ahead": 3 * 24 * time.Hour,
		"years behind": -30 * 365 * 24 * time.Hour, "hours behind": -9 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			right := b.now
			b.now = right.Add(wrong)
			before := b.open()
			pins := before.Pins()
			b.now = right
			for how, i := range map[string]*Identity{"running": before, "started again": b.open()} {
				cert, err := i.Certificate()
				if err != nil {
					t.Fatal(err)
				}
				for _, der := range cert.Certificate {
					c, err := x509.ParseCertificate(der)
					if err != nil || right.Before(c.NotBefore) || right.After(c.NotAfter) {
						t.Errorf("%s: counts from %v to %v, now is %v (%v)", how, c.NotBefore, c.NotAfter, right, err)
					}
				}
				if !slices.Equal(i.Pins(), pins) {
					t.Errorf("%s: another key", how)
				}
			}
		})
	}
}
