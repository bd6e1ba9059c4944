// Package identity is who a gateway is to others on the network: a key that it
// keeps, the certificates made of it, and how a client tells that it talks to
// that key.
//
// It owns the two keys (the gateway's own and that of its certificate
// authority), the certificates, pins and the change of the key. It does not
// listen, and does not know who may do what.
//
// Clients of ours pin the key itself, so that a certificate may be renewed
// without anybody noticing. Other clients pin the whole certificate; it holds
// nothing that changes with the network, and lives for a year. The authority is
// for browsers, which want one: it can vouch for this gateway's own name and
// for private addresses only, and for nothing else in the world, so that who
// installs it risks nothing by it.
package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	leafLife = 397 * 24 * time.Hour // what browsers take at most
	caLife   = 10 * 365 * 24 * time.Hour
	renewal  = 30 * 24 * time.Hour // before the end
	// backdate is for clients whose clocks are slow.
	backdate = 24 * time.Hour
	// Overlap is how long a new key is told to paired clients before it is used.
	Overlap = 30 * 24 * time.Hour
)

// Options of an Identity.
type Options struct {
	// Path is the file with the keys. It is made when it is not there.
	Path string
	// Write replaces a private file as a whole.
	Write  func(path string, data []byte) error
	Now    func() time.Time
	Random io.Reader // of crypto/rand in a program
}

// Identity is who the gateway is. Its methods may be called at the same time.
type Identity struct {
	o  Options
	id string

	mu   sync.Mutex // guards all below
	keys keys
	leaf *tls.Certificate
	made *ecdsa.PrivateKey // of leaf
}

// keys is what the file holds.
type keys struct {
	ca      *ecdsa.PrivateKey
	caCert  *x509.Certificate
	current *ecdsa.PrivateKey
	next    *ecdsa.PrivateKey // nil unless the key is being changed
	switchT time.Time         // when next takes over
	first   string            // pin of the very first key: the gateway's id comes from it
	leafDER []byte
}

// Open reads the keys of a gateway, or makes them.
func Open(o Options) (*Identity, error) {
	i := &Identity{o: o}
	b, err := os.ReadFile(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := i.create(); err != nil {
			return nil, fmt.Errorf("make the gateway's key: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("read the gateway's key: %w", err)
	default:
		if i.keys, err = decode(b); err != nil {
			return nil, fmt.Errorf("the gateway's key in %s is damaged: %w", o.Path, err)
		}
	}
	i.id = IDOf(i.keys.first)
	if err := i.refresh(); err != nil {
		return nil, err
	}
	return i, nil
}

func (i *Identity) create() (err error) {
	if i.keys.current, err = ecdsa.GenerateKey(elliptic.P256(), i.o.Random); err != nil {
		return err
	}
	if i.keys.ca, err = ecdsa.GenerateKey(elliptic.P256(), i.o.Random); err != nil {
		return err
	}
	if i.keys.first, err = PinOf(&i.keys.current.PublicKey); err != nil {
		return err
	}
	return nil
}

// ID names the gateway for ever, also after its key was changed: 16 hex digits.
func (i *Identity) ID() string { return i.id }

// IDOf is the id of the gateway whose first key has that pin.
func IDOf(pin string) string { return pin[:16] }

// Host is the name by which the gateway is reached on the local network.
func (i *Identity) Host() string { return hostOf(i.id) }

func hostOf(id string) string { return "gw-" + id[:12] + ".local" }

// Pins are the keys that a paired client may meet: the current one first and,
// while the key is being changed, the next.
func (i *Identity) Pins() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var out []string
	for _, k := range []*ecdsa.PrivateKey{i.keys.current, i.keys.next} {
		if k == nil {
			continue
		}
		if pin, err := PinOf(&k.PublicKey); err == nil {
			out = append(out, pin)
		}
	}
	return out
}

// Fingerprint is that of the whole certificate, for clients that pin it.
func (i *Identity) Fingerprint() (string, error) {
	c, err := i.Certificate()
	if err != nil {
		return "", err
	}
	return fingerprint(c.Certificate[0]), nil
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// Authority is the certificate that a browser can be told to trust.
func (i *Identity) Authority() *x509.Certificate {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys.caCert
}

// Certificate is that of the moment, with its key.
func (i *Identity) Certificate() (*tls.Certificate, error) {
	if err := i.refresh(); err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.leaf, nil
}

// refresh brings key and certificates up to date and saves what is new.
func (i *Identity) refresh() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.o.Now()
	if i.leaf != nil && i.made == i.keys.current && good(i.leaf.Leaf, now, renewal) && !i.due(now) {
		return nil
	}
	before := i.keys
	if i.due(now) {
		i.keys.current, i.keys.next, i.keys.leafDER = i.keys.next, nil, nil
	}
	if i.keys.caCert == nil || !good(i.keys.caCert, now, leafLife) {
		cert, err := makeAuthority(i.o.Random, i.keys.ca, i.id, now)
		if err != nil {
			i.keys = before
			return fmt.Errorf("make the gateway's certificate authority: %w", err)
		}
		i.keys.caCert, i.keys.leafDER = cert, nil
	}
	leaf, fresh, err := i.fit(now)
	if err != nil {
		i.keys = before
		return fmt.Errorf("make the gateway's certificate: %w", err)
	}
	if fresh {
		if err := i.save(); err != nil {
			i.keys = before
			return fmt.Errorf("keep the gateway's certificate: %w", err)
		}
	}
	i.leaf, i.made = leaf, i.keys.current
	return nil
}

func (i *Identity) due(now time.Time) bool {
	return i.keys.next != nil && !now.Before(i.keys.switchT)
}

// good tells whether a certificate counts now and for so long after. One from the
// future was made when the clock of this machine was wrong.
func good(c *x509.Certificate, now time.Time, after time.Duration) bool {
	return !now.Before(c.NotBefore) && now.Before(c.NotAfter.Add(-after))
}

// fit returns the certificate that is kept, or a new one in its place.
func (i *Identity) fit(now time.Time) (leaf *tls.Certificate, fresh bool, err error) {
	if c, err := x509.ParseCertificate(i.keys.leafDER); err == nil && good(c, now, renewal) && i.keys.current.PublicKey.Equal(c.PublicKey) {
		return i.chain(c), false, nil
	}
	c, err := makeLeaf(i.o.Random, i.keys, i.id, now)
	if err != nil {
		return nil, false, err
	}
	i.keys.leafDER = c.Raw
	return i.chain(c), true, nil
}

func (i *Identity) chain(c *x509.Certificate) *tls.Certificate {
	return &tls.Certificate{Certificate: [][]byte{c.Raw, i.keys.caCert.Raw}, PrivateKey: i.keys.current, Leaf: c}
}

// Rotate begins to change the key: the new one is told to paired clients with
// Pins from now on, and used when Overlap is over. A client that does not
// connect in between has to be paired again. Rotating twice changes nothing.
func (i *Identity) Rotate() (until time.Time, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.keys.next != nil {
		return i.keys.switchT, nil
	}
	next, err := ecdsa.GenerateKey(elliptic.P256(), i.o.Random)
	if err != nil {
		return time.Time{}, fmt.Errorf("make a new key: %w", err)
	}
	i.keys.next, i.keys.switchT = next, i.o.Now().Add(Overlap).Truncate(time.Second)
	if err := i.save(); err != nil {
		i.keys.next = nil
		return time.Time{}, fmt.Errorf("keep the new key: %w", err)
	}
	return i.keys.switchT, nil
}

func (i *Identity) save() error {
	b, err := i.keys.encode()
	if err != nil {
		return err
	}
	return i.o.Write(i.o.Path, b)
}

// The blocks of the file.
const (
	blockCurrent = "HEARTH GATEWAY KEY"
	blockNext    = "HEARTH NEXT GATEWAY KEY"
	blockCA      = "HEARTH AUTHORITY KEY"
	blockCACert  = "HEARTH AUTHORITY CERTIFICATE"
	blockLeaf    = "HEARTH GATEWAY CERTIFICATE"
)

func (k *keys) encode() ([]byte, error) {
	var out []byte
	for _, b := range []struct {
		kind    string
		key     *ecdsa.PrivateKey
		headers map[string]string
	}{
		{blockCurrent, k.current, map[string]string{"First": k.first}},
		{blockNext, k.next, map[string]string{"From": k.switchT.UTC().Format(time.RFC3339)}},
		{blockCA, k.ca, nil},
	} {
		if b.key == nil {
			continue
		}
		der, err := x509.MarshalPKCS8PrivateKey(b.key)
		if err != nil {
			return nil, err
		}
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: b.kind, Headers: b.headers, Bytes: der})...)
	}
	if k.caCert != nil {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: blockCACert, Bytes: k.caCert.Raw})...)
	}
	if k.leafDER != nil {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: blockLeaf, Bytes: k.leafDER})...)
	}
	return out, nil
}

func decode(b []byte) (k keys, err error) {
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case blockCurrent:
			k.first = block.Headers["First"]
			k.current, err = parseKey(block.Bytes)
		case blockNext:
			if k.switchT, err = time.Parse(time.RFC3339, block.Headers["From"]); err == nil {
				k.next, err = parseKey(block.Bytes)
			}
		case blockCA:
			k.ca, err = parseKey(block.Bytes)
		case blockCACert:
			k.caCert, err = x509.ParseCertificate(block.Bytes)
		case blockLeaf:
			k.leafDER = block.Bytes
		}
		if err != nil {
			return keys{}, fmt.Errorf("%s: %w", block.Type, err)
		}
	}
	if k.current == nil || k.ca == nil || !isPin(k.first) {
		return keys{}, errors.New("a key is missing")
	}
	return k, nil
}

func parseKey(der []byte) (*ecdsa.PrivateKey, error) {
	k, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	e, ok := k.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("not a key for ECDSA")
	}
	return e, nil
}
