package client_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk/client"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk/nextcloudtalktest"
)

const (
	secret   = "0123456789abcdef0123456789abcdef0123456789abcdef"
	personal = "n3xtc10ud"
	group    = "gr0upr00m"
)

func account(s *nextcloudtalktest.Server, store channel.Durable) channel.Account {
	return channel.Account{
		ID: "default", Now: time.Now, Durable: store,
		Texts:   map[string]string{nextcloudtalk.KeyBase: s.URL() + "/", nextcloudtalk.KeyUser: nextcloudtalktest.User},
		Secrets: map[string]string{nextcloudtalk.KeySecret: secret, nextcloudtalk.KeyPassword: nextcloudtalktest.Password},
	}
}

// world is a server with two conversations, and our client.
type world struct {
	*nextcloudtalktest.Server
	c *client.Client
}

func newWorld(t *testing.T, change func(*channel.Account)) *world {
	t.Helper()
	w := &world{Server: nextcloudtalktest.New(t.Context(), secret, channel.CallPath(nextcloudtalk.ID, "default"))}
	t.Cleanup(w.Close)
	w.AddRoom(personal, 1)
	w.AddRoom(group, 2)
	a := account(w.Server, &clienttest.Kept{})
	if change != nil {
		change(&a)
	}
	var err error
	if w.c, err = client.New(a); err != nil {
		t.Fatal(err)
	}
	w.Calls(w.c)
	return w
}

func direct() channel.Target {
	return channel.Target{Account: "default", Conversation: nextcloudtalk.PersonSign + personal}
}

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		w.Fail(map[loopback.Kind]nextcloudtalktest.Fault{
			loopback.Passing: {Status: 500},
			loopback.Limited: {Status: 429, Reset: f.After},
			loopback.Refused: {Status: 404},
			loopback.Auth:    {Status: 401},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind])
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) {
	w.Say(nextcloudtalktest.Said{Token: personal, ID: in.MessageID, Actor: "users/ada", Name: "Ada", Text: in.Text})
}

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, m := range w.Sent() {
		out = append(out, loopback.Message{ID: m.ReferenceID, To: direct(), Text: m.Text})
	}
	return out
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	w, kept := newWorld(t, nil), &clienttest.Kept{}
	open := func() channel.Channel {
		c, err := client.New(account(w.Server, kept))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: direct(), Again: open,
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: direct().Conversation, SenderID: "ada"},
		NextID:  func(n int) string { return []string{"", "1567", "1568", "1569", "1570"}[n] },
		Cannot: map[string]string{"SendWithoutConnection": "a message is a request of its own",
			"Reactions":            "a bot is told no number of its own messages; TestReactions puts them on people's",
			"NothingIsLostBetween": "Nextcloud sends a message once, whether it was taken or not"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Texts: map[string]string{nextcloudtalk.KeyBase: "https://cloud.example.org"},
		Secrets: map[string]string{nextcloudtalk.KeySecret: secret}}
	k := nextcloudtalk.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{group}, []string{"@" + personal})
	for _, wrong := range []map[string]string{
		{}, {nextcloudtalk.KeyBase: "cloud.example.org"}, {nextcloudtalk.KeyBase: "https://x", nextcloudtalk.KeyUser: "ada"},
	} {
		right.Texts = wrong
		if err := nextcloudtalk.Check(right); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

func running(t *testing.T, w *world) <-chan channel.Inbound {
	t.Helper()
	return clienttest.Running(t, w.c)
}

// TestReceive: what people write comes with what the server says of it.
func TestReceive(t *testing.T) {
	w := newWorld(t, nil)
	got := running(t, w)
	w.Say(nextcloudtalktest.Said{Token: group, ID: "7", Actor: "users/ada", Name: "Ada", Text: "{mention-user1}: see {file} and {no}",
		ReplyTo: "before", Parameters: map[string]any{"mention-user1": map[string]any{"type": "user", "id": "bob", "name": "Bob"},
			"file": map[string]any{"type": "file", "name": "plan.pdf", "link": "https://cloud.test/f/9"}}})
	in := clienttest.Next(t, got)
	if in.Text != "@Bob: see plan.pdf (https://cloud.test/f/9) and {no}" || in.Chat != channel.Group || in.Conversation != group ||
		in.SenderID != "ada" || in.SenderName != "Ada" || in.Mentioned || in.ReplyToText != "before" || in.Label != "town" || in.SenderIsBot {
		t.Errorf("%+v", in)
	}
	for id, tc := range map[string]struct{ text, command string }{
		"11": {"@Hearth stop", "stop"}, "12": {"@hearth: stop", "stop"}, "13": {"stop @HEARTH", "stop"}, "14": {"what says @Hearth to it", ""},
		"15": {"@Hearthstone is a game", "no"}, "16": {"ask@hearth", ""},
	} {
		w.Say(nextcloudtalktest.Said{Token: group, ID: id, Actor: "users/ada", Name: "Ada", Text: tc.text})
		in := clienttest.Next(t, got)
		if in.Mentioned != (tc.command != "no") || in.Mentioned && tc.command != "" && in.Command != tc.command {
			t.Errorf("%q: %+v", tc.text, in)
		}
	}
	w.Say(nextcloudtalktest.Said{Token: group, ID: "20", Actor: "users/ada", Name: "Ada", Text: "joined", Kind: "user_added"})
	w.Say(nextcloudtalktest.Said{Token: personal, ID: "21", Actor: "bots/bot-1", Name: "Other", Text: "beep"})
	if in := clienttest.Next(t, got); in.Text != "beep" || !in.SenderIsBot || in.Chat != channel.Direct {
		t.Errorf("%+v", in)
	}
	if n := w.Asked(); n != 2 {
		t.Errorf("the kinds of two conversations were asked for %d times", n)
	}
}

// TestWithoutAccount: every conversation is a group.
func TestWithoutAccount(t *testing.T) {
	w := newWorld(t, func(a *channel.Account) {
		delete(a.Texts, nextcloudtalk.KeyUser)
		delete(a.Secrets, nextcloudtalk.KeyPassword)
	})
	got := running(t, w)
	w.Say(nextcloudtalktest.Said{Token: personal, ID: "7", Actor: "users/ada", Name: "Ada", Text: "hi"})
	if in := clienttest.Next(t, got); in.Chat != channel.Group || in.Conversation != personal || w.Asked() != 0 {
		t.Errorf("%+v", in)
	}
}

func TestReactions(t *testing.T) {
	w := newWorld(t, nil)
	got := running(t, w)
	w.Say(nextcloudtalktest.Said{Token: personal, ID: "77", Actor: "users/ada", Name: "Ada", Text: "hi"})
	clienttest.Next(t, got)
	for _, sign := range []string{"👀", "👍", "👍", ""} {
		var want []string
		if sign != "" {
			want = []string{sign}
		}
		if err := w.c.React(t.Context(), direct(), "77", sign); err != nil || !slices.Equal(w.Reactions(personal, "77"), want) {
			t.Errorf("%q: %q, %v", sign, w.Reactions(personal, "77"), err)
		}
	}
	if err := w.c.React(t.Context(), direct(), "ref-0", "👍"); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("%v", err)
	}
	answer := channel.Message{To: channel.Target{Conversation: direct().Conversation, ReplyTo: "77"}, Text: "yes"}
	if _, err := w.c.Send(t.Context(), answer); err != nil || w.Sent()[0].ReplyTo != 77 {
		t.Errorf("%+v %v", w.Sent(), err)
	}
}

// TestSec_A_CH_NextcloudForged: nothing but what the server signed is taken, and that
// once.
func TestSec_A_CH_NextcloudForged(t *testing.T) {
	w := newWorld(t, nil)
	got := running(t, w)
	body := w.Body(nextcloudtalktest.Said{Token: personal, ID: "5", Actor: "users/ada", Name: "Ada", Text: "signed"})
	signed := w.Sign(body)
	change := func(f func(*channel.Call)) channel.Call {
		c := signed
		c.Header = signed.Header.Clone()
		f(&c)
		return c
	}
	for name, call := range map[string]channel.Call{
		"another body":   change(func(c *channel.Call) { c.Body = []byte(strings.Replace(string(body), "signed", "forged", 1)) }),
		"no signature":   change(func(c *channel.Call) { c.Header.Del("X-Nextcloud-Talk-Signature") }),
		"two signatures": change(func(c *channel.Call) { c.Header.Add("X-Nextcloud-Talk-Signature", "00") }),
		"short chance":   change(func(c *channel.Call) { c.Header.Set("X-Nextcloud-Talk-Random", "abc") }),
		"other chance":   change(func(c *channel.Call) { c.Header.Set("X-Nextcloud-Talk-Random", strings.Repeat("0", 64)) }),
		"cut signature": change(func(c *channel.Call) {
			c.Header.Set("X-Nextcloud-Talk-Signature", c.Header.Get("X-Nextcloud-Talk-Signature")[:32])
		}),
	} {
		if a, err := w.Once(call); err != nil || a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", name, a.Status, err)
		}
	}
	for range 3 { // a replay is the same message, which was taken
		if a, err := w.Once(signed); err != nil || a.Status != http.StatusOK {
			t.Errorf("%d %v", a.Status, err)
		}
	}
	if in := clienttest.Next(t, got); in.Text != "signed" {
		t.Errorf("%+v", in)
	}
	for _, body := range []string{"", "{", "[]", `{"type":"Create"}`, `{"object":7}`} {
		if a, err := w.Once(w.Sign([]byte(body))); err != nil || a.Status >= 500 {
			t.Errorf("%q: %d %v", body, a.Status, err)
		}
	}
	select {
	case in := <-got:
		t.Errorf("%+v came", in)
	default:
	}
}

// TestFault_F_CH_NextcloudAnswers: what the server says means what the contract says.
func TestFault_F_CH_NextcloudAnswers(t *testing.T) {
	w := newWorld(t, nil)
	send := func() error {
		_, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "x"})
		return err
	}
	for _, tc := range []struct {
		fault nextcloudtalktest.Fault
		want  error
	}{
		{nextcloudtalktest.Fault{Status: 502, Page: true}, channel.ErrUncertain},
		{nextcloudtalktest.Fault{Status: 504, Page: true}, channel.ErrUncertain},
		{nextcloudtalktest.Fault{Status: 413}, channel.ErrRefused},
		{nextcloudtalktest.Fault{CutAfter: true}, channel.ErrUncertain},
	} {
		w.Fail(tc.fault)
		if err := send(); !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v", tc.fault, err)
		}
	}
	var limit *channel.RateLimit
	if w.Fail(nextcloudtalktest.Fault{Status: 429}); !errors.As(send(), &limit) || limit.After != time.Second {
		t.Errorf("%+v", limit)
	}
	for _, m := range []channel.Message{
		{To: channel.Target{Conversation: "../x"}, Text: "x"}, {To: direct()}, {To: direct(), Text: strings.Repeat("x", 32_001)},
		{To: direct(), Text: "x", Media: []channel.Media{{URL: "x"}}},
	} {
		if _, err := w.c.Send(t.Context(), m); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%+.100v: %v", m, err)
		}
	}
	// A wrong app password ends it, with what to do.
	bad := newWorld(t, func(a *channel.Account) { a.Secrets[nextcloudtalk.KeyPassword] = "wrong" })
	err := bad.c.Run(t.Context(), func(context.Context, channel.Inbound) error { return nil })
	if !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "apiPassword") {
		t.Errorf("%v", err)
	}
}
