package client

import (
	"strings"
	"testing"
)

// FuzzFrame: whatever comes is a frame or nothing, and a message in it can be looked
// at.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{`{"type":"hello"}`, `[]`,
		`{"type":"events_api","payload":{"event":{"type":"message","text":"<!x|y>","ts":"1.000001"}}}`} {
		f.Add([]byte(s))
	}
	c := &Client{known: newKnown()}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fr, ok := parseFrame(raw)
		if !ok {
			return
		}
		m := fr.Payload.Event.message
		if n := micros(m.TS); n != 0 && micros(tsOf(n)) != n {
			t.Errorf("%q is no time", m.TS)
		}
		text := strings.ReplaceAll(m.Text, "<@", "<") // whoever is named would be asked for
		if out, err := c.words(t.Context(), text); err != nil || len(out) > len(text)+3*strings.Count(text, "<")+2*strings.Count(text, "&") {
			t.Errorf("%q became %q, %v", text, out, err)
		}
	})
}
