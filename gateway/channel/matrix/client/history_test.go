//go:build goolm

package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// TestHistory: what was said is read back as people see it, one thread by itself, and what
// is no message is refused.
func TestHistory(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	got, _, _ := running(t, c)
	until(t, "connecting", connected(c))
	to := channel.Target{Conversation: home}
	first := tell(t, c, home, "frist")
	if err := c.Edit(t.Context(), to, first, "first"); err != nil {
		t.Fatal(err)
	}
	s.add(object{"type": event, "sender": ada, "event_id": "$forged", "origin_server_ts": 1_700_000_000_000, "content": object{
		"msgtype": "m.text", "body": "* worst", "m.new_content": object{"msgtype": "m.text", "body": "worst"},
		"m.relates_to": object{"rel_type": "m.replace", "event_id": first}}})
	s.Receive(channel.Inbound{SenderID: ada, MessageID: "$apart", Text: "apart", Thread: first})
	s.arrive(ada, "$file", event, object{"msgtype": "m.file", "body": "look", "filename": "a.pdf", "url": "mxc://test.local/0"})
	for _, want := range []string{"apart", "look"} {
		hear(t, got, want)
	}
	read := func(to channel.Target, before string) (out []string) {
		t.Helper()
		all, err := c.Read(t.Context(), to, before, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			out = append(out, m.SenderName+": "+m.Text)
		}
		return out
	}
	if all := strings.Join(read(to, ""), " | "); all != "hearth: first | ada: apart | ada: look\n[file: a.pdf]" {
		t.Errorf("%q", all)
	}
	if all := strings.Join(read(channel.Target{Conversation: home, Thread: first}, ""), " | "); all != "hearth: first | ada: apart" {
		t.Errorf("the thread: %q", all)
	}
	if all := strings.Join(read(to, "$apart"), " | "); all != "hearth: first" {
		t.Errorf("before: %q", all)
	}
	for _, wrong := range []string{"7", "$nowhere"} {
		if _, err := c.Read(t.Context(), to, wrong, 10); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("before %q: %v", wrong, err)
		}
	}
	s.with(func() { s.mayNotPin = true })
	if err := c.Pin(t.Context(), to, first, true); !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "the right to pin") {
		t.Errorf("without the right: %v", err)
	}
	if err := c.Pin(t.Context(), to, "$nowhere", true); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("no message: %v", err)
	}
}
