package sections_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/feature/lan"
	"github.com/hearth-assistant/hearth/gateway/reach"
)

func TestBind(t *testing.T) {
	for text, want := range map[string]reach.Configured{
		"{}":                               {Bind: reach.Loopback},
		"{ gateway: { bind: 'lan' } }":     {Bind: reach.LAN},
		"{ gateway: { bind: 'tailnet' } }": {Bind: reach.Tailnet},
		"{ gateway: { bind: 'custom', customBindHost: '192.168.1.5' } }":     {Bind: reach.Custom, Custom: "192.168.1.5"},
		"{ gateway: { customBindHost: '::ffff:10.0.0.1', bind: 'custom' } }": {Bind: reach.Custom, Custom: "10.0.0.1"},
		"{ gateway: { bind: 'loopback', customBindHost: 'fd00::1' } }":       {Bind: reach.Loopback, Custom: "fd00::1"},
	} {
		s := open(t, place(t, text)).Snapshot()
		if g := reach.Section.Of(s.Config); !s.Valid || g.Bind != want.Bind || g.Custom != want.Custom {
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
		f := open(t, path)
		if _, err := f.MergePatch(t.Context(), "", c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.text, err)
		}
		if b := reach.Section.Of(f.Snapshot().Config).Bind; b != reach.Loopback {
			t.Errorf("%s: bind is %s", c.text, b)
		}
	}
}

// A key that is misspelt opens nothing.
func TestSec_A_NET_02_ATypoOpensNothing(t *testing.T) {
	for _, typo := range []string{"{gatway:{bind:'lan'}}", "{gateway:{Bind:'lan'}}", "{gateway:{bnid:'lan'}}", "{gateway:{auth:{}}}"} {
		s := open(t, place(t, typo)).Snapshot()
		if g := reach.Section.Of(s.Config); g.Bind != reach.Loopback || g.Custom != "" || !s.Valid {
			t.Errorf("%s: %+v", typo, g)
		}
	}
}

func TestDiscovery(t *testing.T) {
	for text, want := range map[string]string{"{}": "minimal", "{ discovery: { mdns: { mode: 'off' } } }": "off",
		"{ discovery: { mdns: { mode: 'full' } } }": "full", "{ discovery: { mdns: {} } }": "minimal"} {
		if s := open(t, place(t, text)).Snapshot(); !s.Valid || lan.Section.Of(s.Config).Announced != want {
			t.Errorf("%s: %+v %v", text, lan.Section.Of(s.Config), s.Issues)
		}
	}
}
