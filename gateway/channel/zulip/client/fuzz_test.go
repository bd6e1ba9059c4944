package client

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// FuzzEvents: whatever comes by the queue is events or nothing, in their order, and a
// message in one can be looked at.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		`[{"id":0,"type":"heartbeat"}]`, `[{"id":"x"},{"id":9,"type":7}]`, `[null,3]`,
		`[{"id":1,"type":"message","message":{"id":5,"content":"[a](/user_uploads/2/a/b)"}}]`,
		`[{"id":2,"type":"message","message":{"type":"private","display_recipient":[{"id":7}]}}]`,
	} {
		f.Add([]byte(s))
	}
	c := &Client{base: "https://chat.example.org"}
	f.Fuzz(func(t *testing.T, b []byte) {
		var list []json.RawMessage
		if json.Unmarshal(b, &list) != nil {
			return
		}
		events, next, more := parseEvents(list, -1)
		if more != (len(events) > 0) || more && next < 0 {
			t.Errorf("%d events, then %d, %v", len(events), next, more)
		}
		for _, ev := range events {
			var in channel.Inbound
			if ev.Message.where(&in, 1) && in.Conversation == "" {
				t.Errorf("%+v is nowhere", ev.Message)
			}
			_, files := c.split(ev.Message.Content)
			for _, m := range files {
				if !strings.HasPrefix(path.Clean(m.URL), "/user_uploads/") {
					t.Errorf("%q is taken for a file", m.URL)
				}
			}
		}
	})
}

// FuzzDefused: a text that was defused says the same, and calls nobody.
func FuzzDefused(f *testing.F) {
	for _, s := range []string{"@**all**", "@_*x*", "@@**x**", "@\x00**x**", "`@**x**`", strings.Repeat("@*", 6000)} {
		f.Add(s)
	}
	calls := regexp.MustCompile(`@_?\*`)
	f.Fuzz(func(t *testing.T, s string) {
		out := defused(s)
		same := func(s string) string {
			return strings.NewReplacer(unseen, "", "\x00", "", "＠", "@").Replace(strings.ToValidUTF8(s, "\uFFFD"))
		}
		if !utf8.ValidString(out) || same(out) != same(s) {
			t.Errorf("%q became %q", s, out)
		}
		if calls.MatchString(out) {
			t.Errorf("%q calls somebody", out)
		}
	})
}

// FuzzConversation: what is read of a conversation's name is written the same.
func FuzzConversation(f *testing.F) {
	for _, s := range []string{"#5", "@7", "@7,9", "@", "#", "@9,7", "#-1", "@+7", "#99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := placeOf(s)
		if err != nil {
			return
		}
		if (p.stream == 0) == (len(p.people) == 0) {
			t.Errorf("%q is %+v", s, p)
		}
		if p.people != nil {
			again, err := placeOf(conversationOf(p.people))
			if err != nil || len(again.people) != len(p.people) {
				t.Errorf("%q is %+v, then %+v, %v", s, p, again, err)
			}
		}
	})
}
