package identity

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"
)

// Validity is how long the certificates in a gateway's file hold. Both are made anew
// by Open, and by Certificate while a gateway runs.
type Validity struct {
	Leaf      time.Time // zero: there is none
	Authority time.Time
}

// Over reports whether one of them does not hold at a moment.
func (v Validity) Over(now time.Time) bool {
	return !v.Leaf.IsZero() && !now.Before(v.Leaf) || !v.Authority.IsZero() && !now.Before(v.Authority)
}

// Look reads how long the certificates of a file hold, and changes nothing.
func Look(path string) (v Validity, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	k, err := decode(b)
	if err != nil {
		return v, fmt.Errorf("the gateway's key in %s is damaged: %w", path, err)
	}
	if k.caCert != nil {
		v.Authority = k.caCert.NotAfter
	}
	if leaf, err := x509.ParseCertificate(k.leafDER); err == nil {
		v.Leaf = leaf.NotAfter
	}
	return v, nil
}
