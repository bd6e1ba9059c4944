package client

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzFrame: whatever comes is a frame or nothing, and a message in it can be looked
// at.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		`{"op":10,"d":{"heartbeat_interval":1}}`, `{"op":0,"t":"MESSAGE_CREATE","s":2,"d":{"content":"<@1> x <:a:123456789012345678>"}}`,
		`{"op":0,"d":{"referenced_message":{"referenced_message":{}}}}`, `[]`, `{"op":0,"t":"GUILD_CREATE","d":{"channels":[{}]}}`,
	} {
		f.Add([]byte(s))
	}
	self := user{ID: "123456789012345678", Name: "hearth"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fr, ok := parseFrame(raw)
		if !ok {
			return
		}
		var g guild
		if json.Unmarshal(fr.Data, &g) == nil {
			newKnown().server(g)
		}
		var m message
		if json.Unmarshal(fr.Data, &m) != nil {
			return
		}
		text, _, mentioned := words(m, self)
		if !mentioned && !strings.Contains(m.Content, "<@") && strings.Count(text, "@") > strings.Count(m.Content, "@") {
			t.Errorf("%q became %q", m.Content, text)
		}
	})
}
