package cli

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Tailscale is offered where it is there, told of where it leads to us, and
// refused where the whole internet would come by it.
func TestTailscaleWords(t *testing.T) {
	for want, tail := range map[string]*protocol.ReachTailscale{
		"":                                 nil,
		"`tailscale serve --bg 18789`":     {Name: "attic.ts.net"},
		"https://attic.ts.net/phone":       {Name: "attic.ts.net", URL: "https://attic.ts.net/phone"},
		"open to the whole internet (Funn": {Name: "attic.ts.net", Public: true},
	} {
		var b strings.Builder
		for _, p := range tailscaleWords(&protocol.ReachStatus{Port: 18789, Tailscale: tail}) {
			if s, ok := p.(interface{ String() string }); ok {
				b.WriteString(s.String())
			} else if s, ok := p.(string); ok {
				b.WriteString(s)
			}
		}
		if !strings.Contains(b.String(), want) || (tail == nil) != (b.Len() == 0) {
			t.Errorf("%+v: %q, want %q", tail, b.String(), want)
		}
	}
}
