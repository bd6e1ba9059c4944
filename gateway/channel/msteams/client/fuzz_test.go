package client

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
)

// FuzzEvent: whatever comes is an event or nothing, and what is read of it keeps the
// contract.
func FuzzEvent(f *testing.F) {
	for _, s := range []string{
		`{"type":"message","id":"1","conversation":{"id":"19:x@thread.v2;messageid=7","conversationType":"channel"},"from":{"id":"29:1"},
		"recipient":{"id":"28:b"},"text":"<at>H</at> x",
		"entities":[{"type":"mention","text":"<at>H</at>","mentioned":{"id":"28:b","name":"H"}}]}`,
		`{"type":"messageReaction","id":"1","replyToId":"2","conversation":{"id":"a:1"},"from":{"id":"29:1"},
		"reactionsAdded":[{"type":"1f440-fe0f_x"},{"type":"😀"}]}`,
		`{"type":"message","id":"1","conversation":{"id":"a:1","conversationType":"personal"},"from":{"id":"29:1"},"attachments":
		[{"contentType":"text/html","content":"<blockquote itemtype=\"http://schema.skype.com/Reply\"><p itemprop=\"copy\">x</p>"}]}`,
		`{"type":"message","id":"0","conversation":{"id":"@00"},"from":{"id":"0"},"text":"0"}`,
		`{"value":{"hearthChoice":"x"},"replyToId":"1"}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	c := &Client{Receiver: endpoint.New(endpoint.Options{Now: func() time.Time { return time.Unix(1_790_000_000, 0) }})}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var ev event
		if json.Unmarshal(raw, &ev) != nil {
			return
		}
		for _, one := range c.read(ev) {
			in := one.in
			if in.Conversation == "" || in.SenderID == "" || in.MessageID == "" || in.Chat == "" ||
				!utf8.ValidString(in.Text+in.Command+in.ReplyToText) {
				t.Errorf("%s became %+v", raw, in)
			}
			if msteams.Kind().Group(in.Conversation) == (in.Chat == channel.Direct) {
				t.Errorf("%s: %q is %s", raw, in.Conversation, in.Chat)
			}
			if in.Press.Pressed() && in.Text != "" || in.Reaction.Reacted() && in.Text != "" || in.Mentioned && !in.Press.Pressed() &&
				!strings.Contains(string(raw), "mention") {
				t.Errorf("%s became %+v", raw, in)
			}
		}
	})
}
