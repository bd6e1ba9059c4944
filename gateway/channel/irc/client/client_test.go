package client_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	"github.com/hearth-assistant/hearth/gateway/channel/irc/client"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

func account(s *server, change func(*channel.Account)) channel.Account {
	a := channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Secrets: map[string]string{},
		Texts: map[string]string{irc.KeyHost: "127.0.0.1", irc.KeyPort: s.port(), irc.KeyTLS: "false"},
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

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	s := newServer(t)
	irc := func() channel.Channel { return open(t, account(s, nil)) }
	return &channeltest.Setup{
		Channel: irc(), Net: s, Connected: true, Waits: 30 * time.Second, Again: irc,
		Target:  channel.Target{Account: "default", Conversation: "ada"},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "ada", SenderID: "ada"},
		Skip: map[loopback.Kind]string{
			loopback.Passing: "a server refuses a line or ends the connection", loopback.Limited: "a server says no time",
			loopback.Auth: "it is told when the connection is made",
		},
		Cannot: map[string]string{"NothingIsLostBetween": "a server keeps nothing for who is away"},
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

// running runs a client, and hands over what comes.
func running(t *testing.T, c *client.Client) (got <-chan channel.Inbound, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, end := make(chan channel.Inbound, 16), make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		end <- c.Run(ctx, func(_ context.Context, m channel.Inbound) error { in <- m; return nil })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return in, end
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

// TestFault_F_CH_ConnectionBreaks: a connection that breaks leaves the message uncertain, and is made
// again.
func TestFault_F_CH_ConnectionBreaks(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s, func(a *channel.Account) { a.Texts[irc.KeyChannels] = "#one\n#two" }))
	running(t, c)
	until(t, "connecting", connected(c))
	for _, kind := range []loopback.Kind{loopback.Lost, loopback.Broken} {
		s.Script(loopback.Fault{Kind: kind})
		s.goAway(true)
		if err := say(t, c, "ada", "x"); !errors.Is(err, channel.ErrUncertain) {
			t.Errorf("%s: %v", kind, err)
		}
		until(t, "noticing it", func() bool { return c.Status().State == channel.Waiting })
		if err := say(t, c, "ada", "y"); err == nil || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) {
			t.Errorf("%s: a send without a connection: %v", kind, err)
		}
		s.goAway(false)
		until(t, "connecting again", connected(c))
	}
	if err := say(t, c, "ada", "z"); err != nil {
		t.Error(err)
	}
	until(t, "joining", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.joined["#one"] && s.joined["#two"] })
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s, nil))
	got, _ := running(t, c)
	until(t, "connecting", connected(c))
	next := func() channel.Inbound {
		t.Helper()
		select {
		case in := <-got:
			return in
		case <-time.After(30 * time.Second):
			t.Fatal("nothing came")
			return channel.Inbound{}
		}
	}
	for line, want := range map[string]string{
		":Ada!u@h PRIVMSG hearth :hi \x0304,01red\x03 \x02bold\x0f": "direct | ada | ada!u@h | hi red bold | | ",
		"@account=Ada :other!u@h PRIVMSG hearth :me":                "direct | other | ada | me | | ",
		":ada!u@h PRIVMSG #Home :hearth: /status":                   "group | #home | ada!u@h | hearth: /status | /status | mentioned",
		":ada!u@h PRIVMSG #home :the hearth is warm":                "group | #home | ada!u@h | the hearth is warm | | mentioned",
		":ada!u@h PRIVMSG #home :hearthstone":                       "group | #home | ada!u@h | hearthstone | | ",
		":ada!u@h PRIVMSG #home :\x01ACTION waves\x01":              "group | #home | ada!u@h | * ada waves | | ",
	} {
		s.line("%s\r\n", line)
		in := next()
		if in.MessageID == "" || in.At.IsZero() || in.Channel != irc.ID || in.Account != "default" {
			t.Errorf("%q: %+v", line, in)
		}
		if got := parts(in); got != want {
			t.Errorf("%q:\n got %s\nwant %s", line, got, want)
		}
	}
	s.line(":ada!u@h PRIVMSG hearth :\x01VERSION\x01\r\n:hearth!u@h PRIVMSG hearth :own\r\n:ada!u@h PRIVMSG hearth :last\r\n")
	if in := next(); in.Text != "last" {
		t.Errorf("%+v came", in)
	}
}

func parts(in channel.Inbound) string {
	mentioned := map[bool]string{true: "mentioned"}[in.Mentioned]
	all := []string{string(in.Chat), in.Conversation, in.SenderID, in.Text, in.Command, mentioned}
	return strings.ReplaceAll(strings.Join(all, " | "), "|  |", "| |")
}

// TestNames: a mask is shown as the server sent it, and kept as masks are compared; the
// one who is answered is who wrote, also where the server tells "[" from "{".
func TestNames(t *testing.T) {
	for mapping, conversation := range map[string]string{"rfc1459": "ada{", "ascii": "ada[", "": "ada{"} {
		s := newServer(t)
		c := open(t, account(s, nil))
		got, _ := running(t, c)
		until(t, "connecting", connected(c))
		if mapping != "" {
			s.line(":irc.test 005 hearth CASEMAPPING=%s :are supported by this server\r\n", mapping)
		}
		s.line(":Ada[!~Ada@h PRIVMSG hearth :hi\r\n")
		select {
		case in := <-got:
			if in.SenderID != "ada{!^ada@h" || in.SenderShown != "Ada[!~Ada@h" || in.Conversation != conversation {
				t.Errorf("%q: %+v", mapping, in)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("nothing came")
		}
	}
}

// TestSec_A_CH_Injection: no text and no name becomes a command of its own.
func TestSec_A_CH_Injection(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s, nil))
	running(t, c)
	until(t, "connecting", connected(c))
	if err := say(t, c, "ada", "a\r\nQUIT :x\r\n\x00JOIN #evil"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"ada\r\nQUIT", "a,b", "a b", ":x", ""} {
		if err := say(t, c, to, "x"); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", to, err)
		}
	}
	var said []string
	for _, m := range s.Messages() {
		said = append(said, m.Text)
	}
	if strings.Join(said, "|") != "a|QUIT :x|JOIN #evil" || len(s.joined) > 0 || c.Status().State != channel.Receiving {
		t.Errorf("said %q, joined %v", said, s.joined)
	}
}

// TestLong: a text that is longer than a line is cut between words.
func TestLong(t *testing.T) {
	s := newServer(t)
	c := open(t, account(s, nil))
	running(t, c)
	until(t, "connecting", connected(c))
	text := strings.TrimSpace(strings.Repeat("wörds ", 150))
	if err := say(t, c, "ada", text); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range s.Messages() {
		said = append(said, m.Text)
	}
	if len(said) != 3 || strings.Join(said, " ") != text {
		t.Errorf("%d lines: %q", len(said), said)
	}
}

func TestWrongPassword(t *testing.T) {
	s := newServer(t)
	s.password = "right"
	c := open(t, account(s, func(a *channel.Account) { a.Secrets[irc.KeyPassword] = "wrong" }))
	_, ended := running(t, c)
	select {
	case err := <-ended:
		if !errors.Is(err, channel.ErrAuth) || strings.Contains(err.Error(), "wrong") {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("it did not give up")
	}
}

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Texts: map[string]string{irc.KeyHost: "irc.example.org"}, Secrets: map[string]string{}}
	k := irc.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { // what hearth-channels does with it
		a.Now = time.Now
		return client.New(a)
	}
	channeltest.Kind(t, k, right, []string{"#home", "&local", "+x", "!y"}, []string{"ada", ""})
	for _, bad := range []channel.Account{
		{Texts: map[string]string{irc.KeyHost: "h", irc.KeyLogin: "me"}},
		{Texts: map[string]string{irc.KeyHost: "h", irc.KeyLogin: "me", irc.KeyTLS: "false"}, Secrets: map[string]string{irc.KeyLoginPW: "pw"}},
	} {
		if err := irc.Check(bad); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}
