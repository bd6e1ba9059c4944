package identity

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"time"
)

// privateNetworks are the addresses that an authority may vouch for.
func privateNetworks() (out []*net.IPNet) {
	for _, cidr := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "fc00::/7",
		"fe80::/10"} {
		if _, n, err := net.ParseCIDR(cidr); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func serial(random io.Reader) (*big.Int, error) {
	return rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 120))
}

// makeAuthority signs the authority of one gateway by itself. What it may vouch
// for is part of it and binding on who reads it.
func makeAuthority(random io.Reader, key *ecdsa.PrivateKey, id string, now time.Time) (*x509.Certificate, error) {
	n, err := serial(random)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: n, Subject: pkix.Name{CommonName: "Hearth " + id[:12] + " (only this gateway)"},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(caLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{hostOf(id)}, PermittedIPRanges: privateNetworks(),
	}
	return selfSigned(random, t, key)
}

func selfSigned(random io.Reader, t *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(random, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func makeLeaf(random io.Reader, k keys, id string, now time.Time) (*x509.Certificate, error) {
	n, err := serial(random)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: n, Subject: pkix.Name{CommonName: hostOf(id)}, DNSNames: []string{hostOf(id)},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(leafLife),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(random, t, k.caCert, &k.current.PublicKey, k.ca)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
