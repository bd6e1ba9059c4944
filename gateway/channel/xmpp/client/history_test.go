package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp/client"
)

// readBack is what was said in a conversation, as people read it.
func readBack(t *testing.T, c *client.Client, conversation, before string, limit int) string {
	t.Helper()
	all, err := c.Read(t.Context(), channel.Target{Conversation: conversation}, before, limit)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range all {
		out = append(out, m.SenderName+": "+m.Text)
	}
	return strings.Join(out, " | ")
}

// TestHistory: an archive is read back page by page, from a message on that was never
// read before too, and nothing of it comes in again.
func TestHistory(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.port(), nil))
	got, _ := running(t, c)
	until(t, "connecting", connected(c))
	const all = 130
	for i := range all {
		s.arrive(arrived{id: fmt.Sprint("m", i), from: "ada@test.local/phone", text: fmt.Sprint("number ", i)})
		hear(t, got, fmt.Sprint("number ", i))
	}
	const changes = "<replace xmlns='urn:xmpp:message-correct:0' id='%s'/>"
	s.arrive(arrived{id: "e1", from: "ada@test.local/phone", text: "number one", extra: fmt.Sprintf(changes, "m1")})
	hear(t, got, "number one")
	s.arrive(arrived{id: "e2", from: "eve@test.local/phone", text: "forged", extra: fmt.Sprintf(changes, "m2")})
	hear(t, got, "forged")
	if last := readBack(t, c, "ada@test.local", "", 2); last != "ada: number 128 | ada: number 129" {
		t.Errorf("%q", last)
	}
	if first := readBack(t, c, "ada@test.local", "m3", 5); first != "ada: number 0 | ada: number one | ada: number 2" {
		t.Errorf("%q", first)
	}
	whole, err := c.Read(t.Context(), channel.Target{Conversation: "ada@test.local"}, "", 500)
	if err != nil || len(whole) != all || whole[0].MessageID != "m0" {
		t.Errorf("%d messages, %v", len(whole), err)
	}
	if _, err := c.Read(t.Context(), channel.Target{Conversation: "ada@test.local"}, "nowhere", 5); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("before a message that is not there: %v", err)
	}
	select {
	case in := <-got:
		t.Errorf("it comes in again: %+v", in)
	default:
	}
}
