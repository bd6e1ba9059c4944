package config

import (
	"strings"
	"testing"
)

func TestModernize(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"stream mode":       {`{ channels: { telegram: { streamMode: "block" /* mine */ } } }`, `mode: "block"`},
		"a word":            {`{ channels: { telegram: { streaming: "off" } } }`, `mode: "off"`},
		"yes":               {`{ channels: { telegram: { streaming: true } } }`, `mode: "partial"`},
		"of an account":     {`{ channels: { telegram: { accounts: { two: { streamMode: "off" } } } } }`, `mode: "off"`},
		"the new one rules": {`{ channels: { telegram: { streamMode: "block", streaming: { mode: "off" } } } }`, `mode: "off"`},
		"idle":              {`{ session: { idleMinutes: 30 } }`, `idleMinutes: 30`},
	} {
		path := place(t, c.text)
		f := open(t, path, Options{Networks: networks()})
		before := f.Snapshot()
		if len(before.Legacy()) == 0 {
			t.Errorf("%s: nothing to mend", name)
		}
		s, err := f.Modernize(t.Context())
		if err != nil || len(s.Legacy()) != 0 || !strings.Contains(s.Raw, c.want) || strings.Contains(s.Raw, "streamMode") {
			t.Errorf("%s: %v %v\n%s", name, err, s.Legacy(), s.Raw)
			continue
		}
		for id, a := range before.Config.Channels["telegram"].Accounts {
			if now := s.Config.Channels["telegram"].Accounts[id]; now.Streaming.Mode != a.Streaming.Mode && name != "the new one rules" {
				t.Errorf("%s: %s is %s, and was %s", name, id, now.Streaming.Mode, a.Streaming.Mode)
			}
		}
	}
	f := open(t, place(t, `{ channels: { telegram: { streaming: { mode: "off" } } }, session: { reset: { mode: "idle" }, idleMinutes: 5 } }`),
		Options{})
	if l := f.Snapshot().Legacy(); len(l) != 0 {
		t.Errorf("%v", l)
	}
}
