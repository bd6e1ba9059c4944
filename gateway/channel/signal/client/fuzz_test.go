package client

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
)

// FuzzEvents: whatever comes by the connection, what is made of it is whole.
func FuzzEvents(f *testing.F) {
	f.Add("id:1\nevent:receive\ndata:{\"envelope\":{\"sourceUuid\":\"00000000-0000-4000-8000-000000000002\"," +
		"\"dataMessage\":{\"timestamp\":5,\"message\":\"\ufffc\",\"mentions\":[{\"uuid\":\"x\",\"start\":0,\"length\":1}]}}}\n\n")
	f.Add("data\n\n:\ndata:{}\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := New(channel.Account{ID: "a", Texts: map[string]string{signal.KeyAccount: "+4915112345678"}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		err = readEvents(strings.NewReader(s), func() {}, func(e event) error { return c.happened(t.Context(), e) })
		if err != nil {
			t.Errorf("%q: %v", s, err)
		}
		d := &dataMessage{Timestamp: 1, Message: s, Mentions: []callOf{{UUID: "x", Start: len(s) / 2, Length: 1}}}
		in, _, ok := c.inbound(envelope{UUID: "00000000-0000-4000-8000-000000000002", Data: d})
		if ok && !utf8.ValidString(in.Text) && utf8.ValidString(s) {
			t.Errorf("%q became %q", s, in.Text)
		}
	})
}
