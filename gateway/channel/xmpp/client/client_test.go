package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp/client"
)

func account(port string, change func(*channel.Account)) channel.Account {
	a := channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Secrets: map[string]string{xmpp.KeyPassword: "secret"},
		Texts: map[string]string{
			xmpp.KeyAddress: "hearth@test.local", xmpp.KeyHost: "127.0.0.1", xmpp.KeyPort: port, xmpp.KeyTLS: "false",
		},
	}
	if change != nil {
		change(&a)
	}
	return a
}

func open(t *testing.T, a channel.Account) *client.Client {
	t.Helper()
	c, err := client.New(a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// during runs a client until a context ends.
func during(ctx context.Context, c *client.Client) (got <-chan channel.Inbound, ended <-chan error) {
	in, end := make(chan channel.Inbound, 16), make(chan error, 1)
	go func() {
		end <- c.Run(ctx, func(ctx context.Context, m channel.Inbound) error {
			select {
			case in <- m:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		close(end)
	}()
	return in, end
}

// running runs a client until the test ends, and hands over what comes.
func running(t *testing.T, c *client.Client) (got <-chan channel.Inbound, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	got, over := during(ctx, c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		end <- <-over
	}()
	t.Cleanup(func() { cancel(); <-done })
	return got, end
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what, "did not happen")
		}
	}
}

func say(t *testing.T, c channel.Channel, to, text string) error {
	_, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: text})
	return err
}

func connected(c *client.Client) func() bool {
	return func() bool { return c.Status().State == channel.Receiving }
}

type durable struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (d *durable) Get(_ context.Context, key string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[key], nil
}

func (d *durable) Put(_ context.Context, key string, value []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[key] = value
	return nil
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	s, kept := newServer(t), &durable{kept: map[string][]byte{}}
	xmpp := func() channel.Channel {
		return open(t, account(s.port(), func(a *channel.Account) { a.Durable = kept }))
	}
	const files = "this server keeps none; TestFiles sends and fetches them on a real one"
	return &channeltest.Setup{
		Channel: xmpp(), Net: s, Connected: true, Waits: 30 * time.Second, Again: xmpp,
		Target:  channel.Target{Account: "default", Conversation: "ada@test.local"},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "ada@test.local", SenderID: "ada@test.local"},
		Skip: map[loopback.Kind]string{
			loopback.Limited: "a server says no time", loopback.Auth: "it is told when the connection is made",
		},
		Cannot: map[string]string{"FileOut": files, "FileOutTooLarge": files, "FileIn": files, "FileInTooLarge": files,
			"FinalAfterGone": "a correction of a message that was retracted is taken, and the other's program shows it or not"},
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

// TestFault_F_CH_ConnectionBreaks: a connection that breaks leaves the message uncertain, and is made
// again.
func TestFault_F_CH_ConnectionBreaks(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.port(), nil))
	running(t, c)
	until(t, "connecting", connected(c))
	for _, kind := range []loopback.Kind{loopback.Lost, loopback.Broken} {
		s.Script(loopback.Fault{Kind: kind})
		if err := say(t, c, "ada@test.local", "x"); !errors.Is(err, channel.ErrUncertain) {
			t.Errorf("%s: %v", kind, err)
		}
		until(t, "noticing it", func() bool { return c.Status().State == channel.Waiting })
		if err := say(t, c, "ada@test.local", "y"); err == nil || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) {
			t.Errorf("%s: a send without a connection: %v", kind, err)
		}
		until(t, "connecting again", connected(c))
	}
	if err := say(t, c, "ada@test.local", "z"); err != nil {
		t.Error(err)
	}
}

// TestFault_F_CH_TenThousandUnread: what came while nobody was connected comes in its order and once,
// without being in memory at once, though the connection breaks in between.
func TestFault_F_CH_TenThousandUnread(t *testing.T) {
	s := newServer(t)
	kept := &durable{kept: map[string][]byte{}}
	c := open(t, account(s.port(), func(a *channel.Account) { a.Durable = kept }))
	ctx, cancel := context.WithCancel(t.Context())
	_, done := during(ctx, c)
	until(t, "connecting", connected(c))
	cancel()
	<-done
	s.mu.Lock()
	s.present = false
	s.mu.Unlock()
	const all = 10_000
	for i := range all {
		s.arrive(arrived{id: "m" + number(i), from: "ada@test.local/phone", text: number(i)})
	}
	c = open(t, account(s.port(), func(a *channel.Account) { a.Durable = kept }))
	got, _ := running(t, c)
	for i := range all {
		select {
		case in := <-got:
			if in.Text != number(i) {
				t.Fatalf("%q came instead of %d", in.Text, i)
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("%d did not come", i)
		}
		if n := c.Waiting(); n > 250 {
			t.Fatalf("%d wait in memory", n)
		}
		if i == all/2 {
			s.cut()
		}
	}
}

// TestFault_F_CH_Frames: what no server may send ends the connection, and another one is made.
func TestFault_F_CH_Frames(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.port(), nil))
	c.Hurry()
	got, _ := running(t, c)
	logins := func() int { s.mu.Lock(); defer s.mu.Unlock(); return s.logins }
	for i, frame := range []string{
		"<message from='ada@test.local/x'><body>half", "<message></iq>", "<!DOCTYPE x [<!ENTITY a 'b'>]>", "no element<a/>",
		"<message from='ada@test.local/x'><body>" + strings.Repeat("x", 3<<20), "</stream:stream>", "<stream:error><conflict " +
			"xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>", strings.Repeat("<a>", 1<<20), "\x00\xff<a/>",
	} {
		until(t, "connecting", connected(c))
		until(t, "our presence", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.present })
		before := logins()
		s.line(frame)
		if i == 0 {
			s.cut()
		}
		until(t, fmt.Sprintf("another connection after %.40q", frame), func() bool { return logins() > before })
	}
	until(t, "connecting", connected(c))
	until(t, "our presence", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.present })
	s.Receive(channel.Inbound{MessageID: "last", SenderID: "ada@test.local", Text: "last"})
	hear(t, got, "last")
}

// TestFault_F_CH_Duplicates: a message that comes twice is taken once.
func TestFault_F_CH_Duplicates(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.port(), nil))
	got, _ := running(t, c)
	until(t, "connecting", connected(c))
	until(t, "our presence", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.present })
	for _, id := range []string{"one", "one", "two", "one", "two", "three"} {
		s.Receive(channel.Inbound{MessageID: id, SenderID: "ada@test.local", Text: id})
	}
	for _, want := range []string{"one", "two", "three"} {
		hear(t, got, want)
	}
}

// TestFault_F_CH_PasswordChanged: an account whose password was changed says so and stops.
func TestFault_F_CH_PasswordChanged(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.port(), nil))
	_, ended := running(t, c)
	until(t, "connecting", connected(c))
	s.mu.Lock()
	s.password = "another"
	s.mu.Unlock()
	s.cut()
	select {
	case err := <-ended:
		if !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "password") {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("it did not stop")
	}
}

// TestSec_A_CH_Forged: nobody but the account's own server puts words into the mouths of others.
func TestSec_A_CH_Forged(t *testing.T) {
	c := open(t, account("1", inRoom))
	for _, stanza := range []string{
		// an archive that is not ours, and one that nobody asked
		`<message xmlns="jabber:client" from="eve@test.local"><result xmlns="urn:xmpp:mam:2" queryid="x" id="1"><forwarded xmlns="urn:xmpp:forward:0">` +
			`<message xmlns="jabber:client" from="ada@test.local/x" type="chat"><body>do it</body></message></forwarded></result></message>`,
		`<message xmlns="jabber:client"><result xmlns="urn:xmpp:mam:2" queryid="" id="1"><forwarded xmlns="urn:xmpp:forward:0">` +
			`<message xmlns="jabber:client" from="ada@test.local/x" type="chat"><body>do it</body></message></forwarded></result></message>`,
		// a copy that nobody asked for
		`<message xmlns="jabber:client" from="eve@test.local"><received xmlns="urn:xmpp:carbons:2"><forwarded xmlns="urn:xmpp:forward:0">` +
			`<message xmlns="jabber:client" from="ada@test.local/x" type="chat"><body>do it</body></message></forwarded></received></message>`,
		// whispers in a room, rooms that we are not in, our own words
		`<message xmlns="jabber:client" from="home@rooms.test.local/ada" type="chat"><body>do it</body></message>`,
		`<message xmlns="jabber:client" from="other@rooms.test.local/ada" type="groupchat"><body>do it</body></message>`,
		`<message xmlns="jabber:client" from="hearth@test.local/x" type="chat"><body>do it</body></message>`,
		`<message xmlns="jabber:client" from="home@rooms.test.local" type="groupchat"><body>do it</body></message>`,
		`<message xmlns="jabber:client" from="test.local" type="chat"><body>do it</body></message>`,
		`<message xmlns="jabber:client" type="chat"><body>do it</body></message>`,
		// another's message cannot be changed
		`<message xmlns="jabber:client" from="home@rooms.test.local/eve" type="groupchat"><body>do it</body>` +
			`<replace xmlns="urn:xmpp:message-correct:0" id="of-ada"/></message>`,
	} {
		if in, ok := c.ReadStanza([]byte(stanza)); ok {
			t.Errorf("%s\n was taken for %+v", stanza, in)
		}
	}
	in, ok := c.ReadStanza([]byte(`<message xmlns="jabber:client" from="home@rooms.test.local/ada@test.local" type="groupchat">` +
		`<body>x</body></message>`))
	if !ok || in.SenderID != "home@rooms.test.local/ada@test.local" { // a name is no address
		t.Errorf("%+v", in)
	}
}

// TestInbound: what a message says.
func TestInbound(t *testing.T) {
	c := open(t, account("1", inRoom))
	const direct = `<message xmlns="jabber:client" from="ada@test.local/phone" type="chat" id="m1">`
	for _, tc := range []struct{ stanza, text, quoted, media string }{
		{direct + `<body>plain &lt;b&gt;</body></message>`, "plain <b>", "", ""},
		{direct +
			"<body>&gt; wörds\n&gt; two\nyes</body><reply xmlns='urn:xmpp:reply:0' id='x'/>" +
			"<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='0' end='14'/></fallback></message>", "yes", "wörds\ntwo", ""},
		{direct + "<body>&gt; a\nyes</body><reply xmlns='urn:xmpp:reply:0' id='x'/>" +
			"<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='-3' end='99999'/></fallback></message>", "> a\nyes", "", ""},
		{direct + `<body>https://files.example.org/x/cat%20one.jpg</body>` +
			`<x xmlns="jabber:x:oob"><url>https://files.example.org/x/cat%20one.jpg</url></x></message>`, "", "", "cat one.jpg image/jpeg"},
		{direct + `<body>look</body><x xmlns="jabber:x:oob"><url>file:///etc/passwd</url></x></message>`, "look", "", ""},
	} {
		in, ok := c.ReadStanza([]byte(tc.stanza))
		media := ""
		for _, m := range in.Media {
			media += m.Name + " " + m.MIME
		}
		if !ok || in.Text != tc.text || in.ReplyToText != tc.quoted || media != tc.media || in.SenderID != "ada@test.local" ||
			in.MessageID != "m1" {
			t.Errorf("%s\n%+v", tc.stanza, in)
		}
	}
	for _, silent := range []string{
		direct + `<composing xmlns="http://jabber.org/protocol/chatstates"/></message>`, direct + `<body> </body></message>`,
		direct + `<body>x</body><retract xmlns="urn:xmpp:message-retract:1" id="m0"/></message>`,
		direct + `<reactions xmlns="urn:xmpp:reactions:0" id="m0"><reaction>👍</reaction></reactions></message>`,
	} {
		if in, ok := c.ReadStanza([]byte(silent)); ok {
			t.Errorf("%s\n%+v", silent, in)
		}
	}
	in, _ := c.ReadStanza([]byte(direct + `<body>I sent you an OMEMO encrypted message</body>` +
		`<encrypted xmlns="eu.siacs.conversations.axolotl"/></message>`))
	if in.Text == "" || !strings.Contains(c.Status().Problem, "OMEMO") {
		t.Errorf("%+v %+v", in, c.Status())
	}
}

func TestAddressed(t *testing.T) {
	for text, want := range map[string]string{
		"hearth: /status": "/status true", "@Hearth, what": "what true", "the hearth is warm": " true", "hearthstone": " false", "": " false",
		"HEARTH": " true", "my-hearth": " false", "ÄHEARTH": " false", "hearth's": "'s true",
	} {
		command, mentioned := client.Addressed(text, "hearth")
		if got := fmt.Sprint(command, " ", mentioned); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzMessage: whatever comes is read or not, and says where it is from.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		`<message xmlns="jabber:client" from="a@b/c" type="chat" id="1"><body>x</body></message>`,
		`<message xmlns="jabber:client" from="home@rooms.test.local/a" type="groupchat"><body>hearth: x</body>` +
			`<replace xmlns="urn:xmpp:message-correct:0" id="1"/></message>`,
		"<message xmlns='jabber:client' from='a@b'><body>&gt; a\nb</body><reply xmlns='urn:xmpp:reply:0' id='x'/>" +
			"<fallback xmlns='urn:xmpp:fallback:0' " +
			"for='urn:xmpp:reply:0'><body start='0' end='4'/></fallback><x xmlns='jabber:x:oob'><url>https://a/b</url></x></message>",
		`<message xmlns="jabber:client"><result xmlns="urn:xmpp:mam:2"><forwarded xmlns="urn:xmpp:forward:0"/></result></message>`,
		`<message xmlns="jabber:client" type="error" from="a@b" id="hearth-1"/>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := open(t, account("1", inRoom))
		in, ok := c.ReadStanza(b)
		if !ok {
			return
		}
		if in.Conversation == "" || in.SenderID == "" || in.MessageID == "" || in.Text == "" && len(in.Media) == 0 ||
			!utf8.ValidString(in.Text) ||
			(in.Chat == channel.Group) != strings.HasPrefix(in.Conversation, "#") {
			t.Errorf("%+v", in)
		}
	})
}

// TestSec_A_CH_Injection: no text and no name becomes an element of its own.
func TestSec_A_CH_Injection(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s.port(), nil))
	running(t, c)
	until(t, "connecting", connected(c))
	text := "a</body></message><presence type='unavailable'/> ]]> &#0; \u202e \x00\x01"
	if err := say(t, c, "ada@test.local", text); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"ada@test.local' type='x", "ada", "a b@c", "", "#", "#x@y", "ada@test.local/phone", "a@b@c"} {
		if err := say(t, c, to, "x"); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if got := s.Messages(); len(got) != 1 || got[0].Text != "a</body></message><presence type='unavailable'/> ]]> &#0; \u202e" {
		t.Errorf("said %+v", got)
	}
}

func TestKind(t *testing.T) {
	right := account("5222", func(a *channel.Account) { a.Texts = map[string]string{xmpp.KeyAddress: "hearth@example.org"} })
	k := xmpp.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{"#home@rooms.example.org"}, []string{"ada@example.org", ""})
	for _, bad := range []channel.Account{
		{Texts: map[string]string{xmpp.KeyAddress: "a@b"}}, {Secrets: map[string]string{xmpp.KeyPassword: "x"}},
		account("1", func(a *channel.Account) { a.Texts[xmpp.KeyHost] = "192.0.2.1" }),
		account("1", func(a *channel.Account) { delete(a.Texts, xmpp.KeyHost) }),
		account("1", func(a *channel.Account) { a.Texts[xmpp.KeyAddress] = "a@b/resource" }),
	} {
		if err := xmpp.Check(bad); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}
