package server

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	caller "github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// The clock of the gateway's machine is hours, days or years off: a machine with
// another one is paired by a code and comes back with its token, and a code ends
// by the gateway's clock alone.
func TestFault_F_CLK_01_OurMachinesDoNotCompareClocks(t *testing.T) {
	for name, off := range map[string]time.Duration{"9 hours behind": -9 * time.Hour, "9 hours ahead": 9 * time.Hour,
		"3 days ahead":    72 * time.Hour,
		"30 years behind": -30 * 365 * 24 * time.Hour, "10 years ahead": 10 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			var later atomic.Int64
			now := func() time.Time { return time.Now().Add(off + time.Duration(later.Load())) }
			who, err := identity.Open(identity.Options{Path: filepath.Join(t.TempDir(), "gateway.pem"), Now: now, Random: rand.Reader,
				Write: func(path string, b []byte) error { return os.WriteFile(path, b, 0o600) }})
			if err != nil {
				t.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			registry := newRegistry(t, pairing.Options{Now: now})
			start(t, func(o *Options) {
				o.Now, o.Auth = now, registry
				o.Remote = &Remote{Listener: ln, TLS: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
					return who.Certificate()
				}}}
			})
			code, _, err := registry.MintSetup(pairing.AccessLimited)
			if err != nil {
				t.Fatal(err)
			}
			url := "wss://" + ln.Addr().String()
			o := asker(t, url)
			o.Scopes, o.Auth = []protocol.Scope{protocol.ScopeRead}, &protocol.Auth{BootstrapToken: code}
			c, _, err := caller.DialPinned(t.Context(), []string{url}, who.Pins(), nil, o)
			if err != nil {
				t.Fatal("with the code:", err)
			}
			token := c.Hello().Auth.DeviceToken
			_ = c.Close()
			o.Auth = &protocol.Auth{DeviceToken: token}
			if c, _, err = caller.DialPinned(t.Context(), []string{url}, who.Pins(), nil, o); err != nil {
				t.Fatal("with the token:", err)
			}
			_ = c.Close()

			late, _, err := registry.MintSetup(pairing.AccessLimited)
			if err != nil {
				t.Fatal(err)
			}
			later.Store(int64(11 * time.Minute))
			o = asker(t, url)
			o.Scopes, o.Auth = []protocol.Scope{protocol.ScopeRead}, &protocol.Auth{BootstrapToken: late}
			_, _, err = caller.DialPinned(t.Context(), []string{url}, who.Pins(), nil, o)
			var refusal *protocol.Error
			if !errors.As(err, &refusal) || refusal.Details["code"] != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
				t.Errorf("a code that is over: %v", err)
			}
		})
	}
}
