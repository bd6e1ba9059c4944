package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// PinOf is the pin of a public key: SHA-256 over its standard form, in hex.
func PinOf(public any) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

func isPin(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// MismatchError: somebody answered, and it is not who it should be.
type MismatchError struct {
	Want []string
	Got  string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("this is not the gateway you paired with: its key is %s, it should be %s. Nothing was sent to it", Short(e.Got),
		Short(strings.Join(e.Want, ", ")))
}

// Short is a pin in a form that people can compare: the first 16 digits in
// fours.
func Short(pin string) string {
	if !isPin(pin) {
		return pin
	}
	return strings.Join([]string{pin[:4], pin[4:8], pin[8:12], pin[12:16]}, " ")
}

// Client is how a client speaks TLS with a gateway that it knows by the pin of
// its key, or by the fingerprint of its certificate. Names, dates and
// authorities do not matter then.
func Client(pins, fingerprints []string) (*tls.Config, error) {
	if len(pins)+len(fingerprints) == 0 {
		return nil, errors.New("a connection off this machine needs the pin of the gateway's key; pair with it first")
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{"http/1.1"},
		InsecureSkipVerify: true, // VerifyConnection checks more strictly
		// A resumed connection would skip the check of the certificate.
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the gateway showed no certificate")
			}
			leaf := s.PeerCertificates[0]
			pin, err := PinOf(leaf.PublicKey)
			if err != nil {
				return fmt.Errorf("the gateway's key cannot be read: %w", err)
			}
			if among(pins, pin) || among(fingerprints, fingerprint(leaf.Raw)) {
				return nil
			}
			if len(pins) == 0 {
				return &MismatchError{Want: slices.Clone(fingerprints), Got: fingerprint(leaf.Raw)}
			}
			return &MismatchError{Want: slices.Clone(pins), Got: pin}
		},
	}, nil
}

func among(list []string, s string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return subtle.ConstantTimeCompare([]byte(p), []byte(s)) == 1 })
}
