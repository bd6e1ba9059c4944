//go:build goolm

package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	s, files, kept := newServer(t), &channeltest.Files{}, &durable{kept: map[string][]byte{}}
	matrix := func() channel.Channel {
		return open(t, account(s.URL, func(a *channel.Account) { a.OpenFile, a.MaxFile, a.Durable = files.Open, 1<<20, kept }))
	}
	return &channeltest.Setup{
		Channel: matrix(), Net: s, Connected: true, Waits: 30 * time.Second, Files: files, Again: matrix,
		Target:  channel.Target{Account: "default", Conversation: home},
		Thread:  channel.Target{Account: "default", Conversation: group, Thread: "$root"},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: ada, SenderID: ada},
		NextID:  func(n int) string { return fmt.Sprintf("$m%d", n) },
		Cannot:  map[string]string{"FinalAfterGone": "a homeserver takes an edit of a message that was removed, and shows it to nobody"},
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

// TestFault_F_CH_Reconnects: a server that fails in every way is asked again, and nothing that came
// meanwhile is lost or comes out of order.
func TestFault_F_CH_Reconnects(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	got, _, _ := running(t, c)
	until(t, "connecting", connected(c))
	for i, storm := range [][]int{{500}, {502, 503, 504}, {429, 429}, {0, 0}, {500, 0, 429, 500}} {
		s.with(func() { s.storm = storm })
		s.Receive(channel.Inbound{SenderID: ada, MessageID: fmt.Sprint("$s", i), Text: fmt.Sprint(i)})
		hear(t, got, fmt.Sprint(i))
	}
	for i, garbage := range []string{"{", "[]", `{"next_batch":7}`, "\x00", `{"rooms":{"join":{"` + home + `":{"timeline":{"events":[{}]}}}},"next_batch":"`,
		strings.Repeat("[", 100_000), `{"rooms":{"join":[]}}`} {
		s.with(func() { s.garbage = garbage })
		s.Receive(channel.Inbound{SenderID: ada, MessageID: fmt.Sprint("$g", i), Text: fmt.Sprint("g", i)})
		hear(t, got, fmt.Sprint("g", i))
	}
}

// TestFault_F_CH_TenThousandUnread: what came while nobody was connected comes in its order and once.
func TestFault_F_CH_TenThousandUnread(t *testing.T) {
	s := newServer(t)
	kept := &durable{kept: map[string][]byte{}}
	keeps := func(a *channel.Account) { a.Durable = kept }
	s.Receive(channel.Inbound{SenderID: ada, MessageID: "$before", Text: "before anybody was there"})
	c := open(t, account(s.URL, keeps))
	_, _, stop := running(t, c)
	until(t, "connecting", connected(c))
	stop()
	const all = 10_000
	for i := range all {
		s.Receive(channel.Inbound{SenderID: ada, MessageID: fmt.Sprint("$m", i), Text: fmt.Sprint(i)})
	}
	c = open(t, account(s.URL, keeps))
	got, _, stop := running(t, c)
	for i := range all {
		hear(t, got, fmt.Sprint(i))
	}
	s.Receive(channel.Inbound{SenderID: ada, MessageID: "$last", Text: "last"})
	hear(t, got, "last")
	stop()
}

// TestFault_F_CH_LoggedOut: a device that was logged out is replaced where there is a password; with a token
// alone it stops and says so.
func TestFault_F_CH_LoggedOut(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	got, ended, _ := running(t, c)
	until(t, "connecting", connected(c))
	s.with(func() { s.token += 10 })
	s.Receive(channel.Inbound{SenderID: ada, MessageID: "$1", Text: "after the logout"})
	select {
	case err := <-ended:
		if !errors.Is(err, channel.ErrAuth) {
			t.Fatal(err)
		}
		c = open(t, account(s.URL, nil)) // as the gateway does when a person begins it again
		got, _, _ = running(t, c)
		until(t, "connecting", connected(c))
		s.Receive(channel.Inbound{SenderID: ada, MessageID: "$2", Text: "after the logout"})
	case <-time.After(5 * time.Second):
	}
	hear(t, got, "after the logout")
	c = open(t, account(s.URL, func(a *channel.Account) { a.Secrets = map[string]string{matrix.KeyToken: "canary"} }))
	_, ended, _ = running(t, c)
	select {
	case err := <-ended:
		if !errors.Is(err, channel.ErrAuth) || strings.Contains(err.Error(), "canary") {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("it did not stop")
	}
}

// TestFault_F_CH_SentOnce: a message that is sent again with its key is there once.
func TestFault_F_CH_SentOnce(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	running(t, c)
	until(t, "connecting", connected(c))
	s.Script(loopback.Fault{Kind: loopback.Lost, On: loopback.OpSend})
	m := channel.Message{To: channel.Target{Conversation: home}, Text: "once", Key: "k"}
	if _, err := c.Send(t.Context(), m); !errors.Is(err, channel.ErrUncertain) {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := s.Messages(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestSec_A_CH_Invitations: only those whose invitations are followed bring it anywhere.
func TestSec_A_CH_Invitations(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	running(t, c)
	until(t, "connecting", connected(c))
	invite := func(by string) object {
		e := state("m.room.member", us, object{"membership": "invite"})
		e["sender"] = by
		return object{"invite_state": object{"events": []object{e}}}
	}
	s.with(func() {
		s.invites = object{"!evil:test.local": invite("@eve:test.local"), "!good:test.local": invite(ada)}
	})
	joined := func() string { s.mu.Lock(); defer s.mu.Unlock(); return strings.Join(s.joined, " ") }
	until(t, "following", func() bool { return joined() != "" })
	until(t, "telling", func() bool { return strings.Contains(c.Status().Problem, "@eve:test.local") })
	if got := joined(); got != "!good:test.local" {
		t.Errorf("it went to %s", got)
	}
}

// TestSec_A_CH_Forged: nobody changes what others said, and in an encrypted room nothing counts that the
// server could have written itself.
func TestSec_A_CH_Forged(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	got, _, _ := running(t, c)
	until(t, "connecting", connected(c))
	s.Receive(channel.Inbound{SenderID: ada, MessageID: "$1", Text: "one"})
	hear(t, got, "one")
	edit := func(by, id string) {
		s.arrive(by, id, event, object{"msgtype": "m.text", "body": "* changed", "m.new_content": object{"msgtype": "m.text", "body": "changed"},
			"m.relates_to": object{"rel_type": "m.replace", "event_id": "$1"}})
	}
	edit("@eve:test.local", "$2")
	edit(ada, "$3")
	if in := hear(t, got, "changed"); in.SenderID != ada || !in.Edited || in.MessageID != "$1" {
		t.Errorf("%+v", in)
	}
	s.arrive(us, "$4", event, object{"msgtype": "m.text", "body": "our own"})
	s.arrive("eve", "$5", event, object{"msgtype": "m.text", "body": "nobody"})
	s.arrive(ada, "$6", "m.room.encrypted", object{"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x", "session_id": "y"})
	s.arrive(ada, "$7", event, object{"msgtype": "m.text", "body": "two"})
	hear(t, got, "two")
	s.add(state("m.room.encryption", "", object{"algorithm": "m.megolm.v1.aes-sha2"}))
	s.arrive(ada, "$8", event, object{"msgtype": "m.text", "body": "written by the server"})
	s.with(func() { s.storm = []int{500} })
	until(t, "reading it", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.storm) == 0 })
	select {
	case in := <-got:
		t.Errorf("%+v", in)
	case <-time.After(100 * time.Millisecond):
	}
}

// TestEntry: what was said before it came into a room is not for it.
func TestEntry(t *testing.T) {
	for name, unsigned := range map[string]object{"first": nil, "invited": {"prev_content": object{"membership": "invite"}}} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			c := open(t, account(s.URL, nil))
			got, _, _ := running(t, c)
			until(t, "connecting", connected(c))
			came := state("m.room.member", us, object{"membership": "join"})
			came["room_id"] = home
			if unsigned != nil {
				came["unsigned"] = unsigned
			}
			s.with(func() {
				s.events = append(s.events,
					object{"type": event, "sender": ada, "event_id": "$1", "content": object{"msgtype": "m.text", "body": "before"}, "room_id": home},
					came,
					object{"type": event, "sender": ada, "event_id": "$2", "content": object{"msgtype": "m.text", "body": "after"}, "room_id": home})
			})
			hear(t, got, "after")
		})
	}
}

// TestInbound: what an event says.
func TestInbound(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	got, _, _ := running(t, c)
	until(t, "connecting", connected(c))
	for i, tc := range []struct {
		content object
		want    string
	}{
		{object{"msgtype": "m.text", "body": "hearth: /status"}, "hearth: /status | /status | true"},
		{object{"msgtype": "m.text", "body": "the hearth\u202e is warm"}, "the hearth\u202e is warm |  | true"},
		{object{"msgtype": "m.text", "body": "hearthstone"}, "hearthstone |  | false"},
		{object{"msgtype": "m.text", "body": "you", "m.mentions": object{"user_ids": []string{us}}}, "you |  | true"},
		{object{"msgtype": "m.emote", "body": "waves"}, "* ada waves |  | false"},
		{object{"msgtype": "m.text", "body": "> <@x:y> quoted\n\nown", "format": "org.matrix.custom.html",
			"formatted_body": "<mx-reply>q</mx-reply>own",
			"m.relates_to":   object{"m.in_reply_to": object{"event_id": "$c0"}}}, "own |  | false | hearth: /status"},
		{object{"msgtype": "m.image", "body": "cat.jpg", "url": "mxc://test.local/x", "info": object{"mimetype": "image/jpeg", "size": 7}},
			" |  | false | cat.jpg image/jpeg 7"},
		{object{"msgtype": "m.text", "body": strings.Repeat("x", 200_000)}, strings.Repeat("x", 128<<10) + " |  | false"},
	} {
		s.arrive(ada, fmt.Sprint("$c", i), event, tc.content)
		select {
		case in := <-got:
			said := fmt.Sprint(in.Text, " | ", in.Command, " | ", in.Mentioned)
			if in.ReplyToText != "" {
				said += " | " + in.ReplyToText
			}
			for _, m := range in.Media {
				said += fmt.Sprint(" | ", m.Name, " ", m.MIME, " ", m.Size)
			}
			if said != tc.want || in.Conversation != ada || in.Chat != channel.Direct {
				t.Errorf("%d: %.300q\nwant %.300q", i, said, tc.want)
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("%d did not come", i)
		}
	}
}

// TestSec_A_CH_Injection: no text becomes HTML of its own, and no name another's request.
func TestSec_A_CH_Injection(t *testing.T) {
	for _, text := range []string{"<script>x</script>", "[x](javascript:alert(1))", "**a** <img src=x onerror=y>", "![x](data:text/html,y)"} {
		if html := client.HTML(text); strings.Contains(html, "<script") || strings.Contains(html, "<img src=x") ||
			strings.Contains(html, "href=\"javascript:") {
			t.Errorf("%q: %s", text, html)
		}
	}
	s := newServer(t)
	c := open(t, account(s.URL, nil))
	running(t, c)
	until(t, "connecting", connected(c))
	for _, to := range []string{"", "!", "@eve:test.local", "@", "!a b", "home", "../../x", "!home:test.local\n"} {
		if err := say(t, c, to, "x"); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if n := len(s.Messages()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

// FuzzHTML: whatever a model writes can be sent, and is not longer than an event may be.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{"", "**a**", "<b>", "\x00", "`", "| a |\n|---|\n| b |", strings.Repeat("&", 7_000), "~~x~~", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 7_000 {
			return
		}
		n, body := client.Size(s)
		if n > 45_000 || !utf8.ValidString(body) {
			t.Errorf("%d bytes", n)
		}
	})
}

func TestAddressed(t *testing.T) {
	for text, want := range map[string]string{
		"hearth: /status": "/status true", "@Hearth, what": "what true", us + " hi": "hi true", "the hearth is warm": " true",
		"hearthstone": " false", "": " false",
	} {
		command, mentioned := client.Addressed(text, us, "hearth")
		if got := fmt.Sprint(command, " ", mentioned); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestKind(t *testing.T) {
	right := account("https://matrix.example.org", nil)
	k := matrix.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{home}, []string{ada, ""})
	for _, bad := range []channel.Account{
		account("http://matrix.example.org", nil), account("matrix.example.org", nil), account("", nil),
		account("https://x", func(a *channel.Account) { a.Secrets = nil }),
		account("https://x", func(a *channel.Account) { a.Texts[matrix.KeyUser] = "hearth" }),
	} {
		if err := matrix.Check(bad); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}
