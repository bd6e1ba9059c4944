package server

import (
	"strings"
	"testing"
)

// Browsers ignore, with an error in their console, a source that names an IPv6
// address; 'self' covers the socket there.
func TestPolicyNamesNoIPv6Address(t *testing.T) {
	for host, want := range map[string]string{
		"192.168.1.9:41889": "connect-src 'self' wss://192.168.1.9:41889;",
		"hearth.local":      "connect-src 'self' wss://hearth.local;",
		"[fd00::2]:41889":   "connect-src 'self';",
		"[::1]":             "connect-src 'self';",
	} {
		if got := policy("wss", safeHost(host)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", host, got)
		}
	}
}
