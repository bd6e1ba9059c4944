package config

import (
	"strings"
	"testing"
)

func TestBind(t *testing.T) {
	for text, want := range map[string]Gateway{
		"{}":                               {Bind: BindLoopback},
		"{ gateway: { bind: 'lan' } }":     {Bind: BindLAN},
		"{ gateway: { bind: 'tailnet' } }": {Bind: BindTailnet},
		"{ gateway: { bind: 'custom', customBindHost: '192.168.1.5' } }":     {Bind: BindCustom, CustomBindHost: "192.168.1.5"},
		"{ gateway: { customBindHost: '::ffff:10.0.0.1', bind: 'custom' } }": {Bind: BindCustom, CustomBindHost: "10.0.0.1"},
		"{ gateway: { bind: 'loopback', customBindHost: 'fd00::1' } }":       {Bind: BindLoopback, CustomBindHost: "fd00::1"},
	} {
		s := open(t, place(t, text), Options{}).Snapshot()
		if g := s.Config.Gateway; !s.Valid || g.Bind != want.Bind || g.CustomBindHost != want.CustomBindHost {
			t.Errorf("%s: %+v %v", text, g, s.Issues)
		}
	}
}

// Whatever is written: a gateway opens itself to others only by a word that
// says so.
func TestSec_A_NET_02_BindIsNeverWiderThanSaid(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"{ gateway: { bind: '0.0.0.0' } }", "lan"},
		{"{ gateway: { bind: 'LAN' } }", "lan"},
		{"{ gateway: { bind: 'custom' } }", "customBindHost"},
		{"{ gateway: { bind: 'custom', customBindHost: '0.0.0.0' } }", "never opened"},
		{"{ gateway: { bind: 'custom', customBindHost: '::' } }", "never opened"},
		{"{ gateway: { bind: 'custom', customBindHost: '127.0.0.1' } }", "loopback"},
		{"{ gateway: { bind: 'custom', customBindHost: 'my.host' } }", "IP address"},
	} {
		path := place(t, "{}")
		f := open(t, path, Options{})
		if _, err := f.MergePatch(t.Context(), "", c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.text, err)
		}
		if b := f.Snapshot().Config.Gateway.Bind; b != BindLoopback {
			t.Errorf("%s: bind is %s", c.text, b)
		}
	}
}

func TestDiscovery(t *testing.T) {
	for text, want := range map[string]string{"{}": MDNSMinimal, "{ discovery: { mdns: { mode: 'off' } } }": MDNSOff,
		"{ discovery: { mdns: { mode: 'full' } } }": MDNSFull, "{ discovery: { mdns: {} } }": MDNSMinimal} {
		if s := open(t, place(t, text), Options{}).Snapshot(); !s.Valid || s.Config.Discovery.MDNS != want {
			t.Errorf("%s: %+v %v", text, s.Config.Discovery, s.Issues)
		}
	}
}
