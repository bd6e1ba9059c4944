package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/slacktest"
)

// TestFault_F_CH_Missed: what was written while nobody listened is told of again or
// read later, in its order and once, over moves, breaks, restarts and hundreds of
// messages.
func TestFault_F_CH_Missed(t *testing.T) {
	w := newWorld(t)
	w.Silently(w.ada, w.dm, "before our time")
	got, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Say(w.ada, w.dm, "m0", nil)
	w.Again()
	w.Raw(`{"type":"disconnect","reason":"warning"}`)
	clienttest.Until(t, "being moved", func() bool { dials, n := w.Counts(); return dials == 2 && n == 1 && connected(w.c)() })
	w.Say(w.ada, w.town, "m1", nil)
	w.Fail("apps.connections.open", slacktest.Fault{Status: 503}, slacktest.Fault{Error: "internal_error"})
	w.Drop()
	clienttest.Until(t, "noticing", func() bool { _, n := w.Counts(); return n == 0 })
	w.Silently(w.ada, w.dm, "m2")
	w.Say(w.ada, w.town, "m3", nil) // by the history, and told of again
	for n := range 4 {
		if in := clienttest.Next(t, got); in.Text != fmt.Sprint("m", n) {
			t.Fatalf("%q came, not m%d", in.Text, n)
		}
	}
	clienttest.Until(t, "acknowledging everything", func() bool { return w.Unacked() == 0 && connected(w.c)() })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	const many = 230 // pages of 200
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

// TestFault_F_CH_AckAfterTaken: an event is acknowledged when its message was taken,
// and not before, however often it is told of.
func TestFault_F_CH_AckAfterTaken(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	offered, take, ended := make(chan channel.Inbound, 10), make(chan bool), make(chan error, 1)
	go func() {
		ended <- w.c.Run(ctx, func(ctx context.Context, in channel.Inbound) error {
			offered <- in
			select {
			case <-take:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	defer func() { cancel(); <-ended }()
	clienttest.Until(t, "connecting", connected(w.c))
	m := w.Say(w.ada, w.dm, "one", nil)
	clienttest.Next(t, offered)
	w.Again()
	w.Raw(`{"type":"slash_commands","envelope_id":"x","payload":{}}`)
	if w.Acked(m.TS) {
		t.Error("it was acknowledged before it was taken")
	}
	take <- true
	clienttest.Until(t, "acknowledging", func() bool { return w.Acked(m.TS) && w.Unacked() == 0 })
	if len(offered) > 0 {
		t.Errorf("it was offered again: %+v", <-offered)
	}
}

// TestFault_F_CH_ForEver: what no new connection would change ends it, in words that
// say what to do.
func TestFault_F_CH_ForEver(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(w *world)
		kind    error
		says    string
	}{
		"token":       {func(w *world) { w.Revoke() }, channel.ErrAuth, "channels.slack.botToken"},
		"socket mode": {func(w *world) { w.Raw(`{"type":"disconnect","reason":"link_disabled"}`) }, channel.ErrRefused, "Socket Mode"},
		"app scope": {func(w *world) { w.Fail("apps.connections.open", slacktest.Fault{Error: "missing_scope"}); w.Drop() }, channel.ErrRefused,
			"missing_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, stop := clienttest.Started(t, w.c)
			clienttest.Until(t, "connecting", connected(w.c))
			tc.happens(w)
			clienttest.Until(t, "giving up", func() bool { return w.c.Status().State == channel.Stopped })
			if err := stop(); !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), botToken) {
				t.Error(err)
			}
		})
	}
}

// TestFault_F_CH_Scopes: what the token may not do is said by its name.
func TestFault_F_CH_Scopes(t *testing.T) {
	w := newWorld(t)
	w.Unscope("users:read")
	w.Unscope("chat:write")
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	if p := w.c.Status().Problem; !strings.Contains(p, "chat:write, users:read") {
		t.Errorf("the status says %q", p)
	}
	w.Say(w.ada, w.dm, "hello", nil)
	if in := clienttest.Next(t, got); in.SenderName != w.ada.ID || in.Text != "hello" {
		t.Errorf("%+v", in)
	}
	_, err := w.c.Send(t.Context(), channel.Message{To: w.group(), Text: "x"})
	if !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "chat:write") {
		t.Error(err)
	}
}

// TestFault_F_CH_Frames: what cannot be read is left out, and what is too long ends
// the connection, not the client.
func TestFault_F_CH_Frames(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	for _, f := range []string{`{"type":"events_api","envelope_id":"x","payload":7}`, `{"type":`, `null`, `{"type":7}`,
		`{"type":"events_api","payload":{"event":{"type":"message","channel":"../x","user":"U","ts":"1"}}}`,
		`{"type":"events_api","payload":{"event":{"type":"message","subtype":"message_changed"}}}`} {
		w.Raw(f)
	}
	w.Say(w.ada, w.dm, strings.Repeat("漢", slacktest.MostText), nil)
	if in := clienttest.Next(t, got); len(in.Text) != 3*slacktest.MostText {
		t.Errorf("%d bytes of a long message came", len(in.Text))
	}
	dials, _ := w.Counts()
	w.Raw(`{"type":"` + strings.Repeat("x", 5<<20) + `"}`)
	clienttest.Until(t, "connecting again", func() bool { now, _ := w.Counts(); return now > dials && connected(w.c)() })
}

// TestFault_F_CH_Sending: each way in which sending fails, and what is told of it.
func TestFault_F_CH_Sending(t *testing.T) {
	w := newWorld(t)
	shut, closed := w.AddChannel("shut"), w.AddChannel("closed")
	w.Kick(shut)
	w.Archive(closed)
	none := slacktest.Fault{}
	for name, tc := range map[string]struct {
		fault slacktest.Fault
		to    channel.Target
		kind  error // nil: passing
		says  string
		seen  int
	}{
		"door":      {slacktest.Fault{Status: 502}, w.group(), channel.ErrUncertain, "", 0},
		"inside":    {slacktest.Fault{Error: "internal_error"}, w.group(), channel.ErrUncertain, "", 0},
		"overload":  {slacktest.Fault{Status: 503}, w.group(), nil, "503", 0},
		"cut":       {slacktest.Fault{CutBefore: true}, w.group(), channel.ErrUncertain, "", 0},
		"cut after": {slacktest.Fault{CutAfter: true}, w.group(), channel.ErrUncertain, "", 1},
		"kicked":    {none, channel.Target{Conversation: shut.ID}, channel.ErrRefused, "/invite", 0},
		"archived":  {none, channel.Target{Conversation: closed.ID}, channel.ErrRefused, "archived", 0},
		"nowhere":   {none, channel.Target{Conversation: "C9999999999"}, channel.ErrRefused, "channel_not_found", 0},
		"words":     {none, channel.Target{Conversation: "general"}, channel.ErrRefused, "no conversation", 0},
		"thread":    {none, channel.Target{Conversation: w.town.ID, Thread: "1700000000.000001"}, channel.ErrRefused, "thread_not_found", 0},
		"person":    {none, channel.Target{Conversation: w.ada.ID}, nil, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.fault != none {
				w.Fail("chat.postMessage", tc.fault)
			}
			before := len(w.Sent())
			_, err := w.c.Send(t.Context(), channel.Message{To: tc.to, Text: "x", Key: name})
			final := errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrAuth)
			if (err == nil) != (name == "person") || tc.kind != nil && !errors.Is(err, tc.kind) || tc.kind == nil && final ||
				err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v", err)
			}
			if n := len(w.Sent()) - before; n != tc.seen {
				t.Errorf("%d messages are seen", n)
			}
		})
	}
}
