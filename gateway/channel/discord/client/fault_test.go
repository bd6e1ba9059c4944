package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/discord/discordtest"
)

// TestFault_F_CH_Sessions: a session goes on over every break that Discord lets it,
// and begins anew after the others; nothing is missed and nothing comes twice.
func TestFault_F_CH_Sessions(t *testing.T) {
	w := newWorld(t)
	w.Say(w.ada, w.dm, "before our time", nil)
	w.Say(w.ada, w.town, "before our time", nil)
	got, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Again(w.Say(w.ada, w.dm, "m0", nil))
	if in := clienttest.Next(t, got); in.Text != "m0" {
		t.Fatalf("%+v", in)
	}
	said := 0
	for _, tc := range []struct {
		name string
		ends func()
		anew bool
	}{
		{"a break", w.Drop, false},
		{"connect again", func() { w.Op(7, nil) }, false},
		{"an invalid session that goes on", func() { w.Op(9, true) }, false},
		{"an unknown failure", func() { w.CloseWith(4000) }, false},
		{"an invalid session", func() { w.Op(9, false) }, true},
		{"a long break", func() { w.Drop(); w.Forget() }, true},
		{"a session that timed out", func() { w.CloseWith(4009); w.Forget() }, true},
	} {
		_, begun, resumed := w.Counts()
		tc.ends()
		said += 2
		w.Say(w.ada, w.town, fmt.Sprint("m", said-1), nil)
		w.Say(w.ada, w.dm, fmt.Sprint("m", said), nil)
		for _, want := range []int{said - 1, said} {
			if in := clienttest.Next(t, got); in.Text != fmt.Sprint("m", want) {
				t.Fatalf("%s: %q came, not m%d", tc.name, in.Text, want)
			}
		}
		clienttest.Until(t, "receiving again after "+tc.name, func() bool {
			_, nowBegun, nowResumed := w.Counts()
			return connected(w.c)() && (tc.anew && nowBegun > begun || !tc.anew && nowResumed > resumed && nowBegun == begun)
		})
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	clienttest.Until(t, "being gone", func() bool { return w.Connected() == 0 })
	const many = 230 // pages of 100
	for i := range many {
		w.Silently(w.ada, w.town, fmt.Sprint("n", i))
	}
	w.Silently(w.ada, w.dm, "and here")
	got, _ = clienttest.Started(t, w.open(t))
	var texts []string
	for len(texts) == 0 || texts[len(texts)-1] != "and here" {
		texts = append(texts, clienttest.Next(t, got).Text)
	}
	if len(texts) != many+1 || texts[0] != "n0" || texts[many-1] != fmt.Sprint("n", many-1) {
		t.Errorf("%d came: %.300s", len(texts), strings.Join(texts, " "))
	}
}

// TestFault_F_CH_NewPerson: what somebody unknown wrote while we were away comes with
// their next message: Discord tells of their channel only then.
func TestFault_F_CH_NewPerson(t *testing.T) {
	w := newWorld(t)
	got, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Say(w.ada, w.town, "hello", nil)
	clienttest.Next(t, got)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	bob := w.AddUser("bob", false)
	w.Silently(bob, w.Direct(bob), "anybody there?")
	c := w.open(t)
	got, _ = clienttest.Started(t, c)
	clienttest.Until(t, "connecting", connected(c))
	w.Say(bob, w.Direct(bob), "hello?", nil)
	for _, want := range []string{"anybody there?", "hello?"} {
		if in := clienttest.Next(t, got); in.Text != want {
			t.Errorf("%q came, not %q", in.Text, want)
		}
	}
}

// TestFault_F_CH_Heartbeats: they are sent in time, and a connection that answers none
// is made again.
func TestFault_F_CH_Heartbeats(t *testing.T) {
	w := newWorld(t)
	w.Beat(200*time.Millisecond, true)
	clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting again", func() bool { dials, _, resumed := w.Counts(); return dials > 1 && resumed > 0 })
	w.Beat(200*time.Millisecond, false)
	clienttest.Until(t, "connecting", connected(w.c))
}

// TestFault_F_CH_ForEver: what no new connection would change ends it, in words that
// say what to do.
func TestFault_F_CH_ForEver(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(w *world)
		kind    error
		says    string
	}{
		"intents":  {func(w *world) { w.Disallow(1 << 15) }, channel.ErrRefused, "Message Content Intent"},
		"token":    {func(w *world) { w.Revoke() }, channel.ErrAuth, "Reset Token"},
		"sharding": {func(w *world) { w.CloseWith(4011) }, channel.ErrRefused, "too many servers"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if name == "intents" {
				tc.happens(w)
			}
			_, stop := clienttest.Started(t, w.c)
			if name != "intents" {
				clienttest.Until(t, "connecting", connected(w.c))
				tc.happens(w)
			}
			clienttest.Until(t, "giving up", func() bool { s := w.c.Status(); return s.State == channel.Stopped && !s.Since.IsZero() })
			if err := stop(); !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), token) {
				t.Error(err)
			}
		})
	}
}

// TestFault_F_CH_Frames: what cannot be read is left out, and what is too long ends
// the connection, not the client.
func TestFault_F_CH_Frames(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	for _, f := range []string{`{"op":0,"t":"MESSAGE_CREATE","d":7}`, `{"op":`, `null`, `{"op":"x"}`, `{"op":99}`,
		`{"op":0,"t":"MESSAGE_CREATE","d":{"id":"../x","author":{"id":"y"}}}`, `{"op":0,"t":"GUILD_CREATE","d":[]}`} {
		w.Raw(f)
	}
	w.Say(w.ada, w.dm, "after all", nil)
	if in := clienttest.Next(t, got); in.Text != "after all" {
		t.Errorf("%+v", in)
	}
	dials, _, _ := w.Counts()
	w.Raw(`{"t":"` + strings.Repeat("x", 33<<20) + `"}`)
	clienttest.Until(t, "connecting again", func() bool { now, _, _ := w.Counts(); return now > dials && connected(w.c)() })
}

// TestFault_F_CH_Buckets: what Discord lets us ask is asked, and the rest waits here,
// not there.
func TestFault_F_CH_Buckets(t *testing.T) {
	w := newWorld(t)
	w.Buckets(3, 400*time.Millisecond)
	sent, waited := 0, 0
	for sent < 8 {
		_, err := w.c.Send(t.Context(), channel.Message{To: w.group(), Text: fmt.Sprint("p", sent)})
		var limit *channel.RateLimit
		switch {
		case err == nil:
			sent++
		case errors.As(err, &limit) && limit.After <= 400*time.Millisecond:
			waited++
			<-time.After(limit.After)
		default:
			t.Fatal(err)
		}
	}
	if waited < 2 || w.Limited() != 0 || len(w.Sent()) != 8 {
		t.Errorf("it waited %d times; Discord refused %d requests; %d messages", waited, w.Limited(), len(w.Sent()))
	}
	w.Buckets(0, 0)
	w.Fail("POST /channels/{id}/typing", discordtest.Fault{Status: 429, After: 300 * time.Millisecond, Global: true})
	for _, err := range []error{w.c.Typing(t.Context(), w.direct()), w.c.Typing(t.Context(), w.group())} {
		var limit *channel.RateLimit
		if !errors.As(err, &limit) {
			t.Errorf("a limit of all: %v", err)
		}
	}
}

// TestFault_F_CH_Sending: each way in which sending fails, and what is told of it.
func TestFault_F_CH_Sending(t *testing.T) {
	w := newWorld(t)
	shut, unseen := w.AddChannel("shut", nil), w.AddChannel("unseen", nil)
	w.Deny(shut, 50013)
	w.Deny(unseen, 50001)
	none := discordtest.Fault{}
	for name, tc := range map[string]struct {
		fault discordtest.Fault
		to    string
		kind  error // nil: passing
		says  string
		seen  int
	}{
		"door":      {discordtest.Fault{Status: 502}, w.town.ID, channel.ErrUncertain, "", 0},
		"overload":  {discordtest.Fault{Status: 503}, w.town.ID, nil, "503", 0},
		"cut":       {discordtest.Fault{CutBefore: true}, w.town.ID, channel.ErrUncertain, "", 0},
		"cut after": {discordtest.Fault{CutAfter: true}, w.town.ID, channel.ErrUncertain, "", 1},
		"no dm":     {discordtest.Fault{Status: 403, Code: 50007, Words: "x"}, "@" + w.ada.ID, channel.ErrRefused, "direct messages", 0},
		"token": {discordtest.Fault{Status: 401, Words: "401: Unauthorized"}, w.town.ID, channel.ErrAuth,
			"with 401 Unauthorized. The token", 0},
		"permissions": {none, shut.ID, channel.ErrRefused, "Send Messages in Threads", 0},
		"unseen":      {none, unseen.ID, channel.ErrRefused, "View Channel", 0},
		"nowhere":     {none, "123456789012345678", channel.ErrRefused, "10003", 0},
		"nobody":      {none, "@123456789012345678", channel.ErrRefused, "50035", 0},
		"words":       {none, "../../users/@me", channel.ErrRefused, "no channel or person", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.fault != none {
				w.Fail("POST /channels/{id}/messages", tc.fault)
			}
			before := len(w.Sent())
			_, err := w.c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: tc.to}, Text: "x", Key: name})
			final := errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrAuth)
			if err == nil || tc.kind != nil && !errors.Is(err, tc.kind) || tc.kind == nil && final || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v", err)
			}
			if n := len(w.Sent()) - before; n != tc.seen {
				t.Errorf("%d messages are seen", n)
			}
		})
	}
}

// TestFault_F_CH_OnceByKey: a message that a person lets go out again right after its
// answer was lost is there once.
func TestFault_F_CH_OnceByKey(t *testing.T) {
	w := newWorld(t)
	w.Fail("POST /channels/{id}/messages", discordtest.Fault{CutAfter: true})
	m := channel.Message{To: w.group(), Text: "x", Key: "k"}
	if _, err := w.c.Send(t.Context(), m); !errors.Is(err, channel.ErrUncertain) {
		t.Fatal(err)
	}
	r, err := w.c.Send(t.Context(), m)
	if sent := w.Sent(); err != nil || len(sent) != 1 || sent[0].ID != r.MessageID {
		t.Errorf("%v, %+v", err, sent)
	}
}
