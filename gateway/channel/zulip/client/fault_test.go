package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/zuliptest"
)

// TestFault_F_CH_Missed: what was written while nobody listened is read later, in its
// order and once, over lost queues, broken connections, restarts and pages of messages.
func TestFault_F_CH_Missed(t *testing.T) {
	w := newWorld(t)
	w.Say(w.ada, w.dm, "before our time", nil)
	got, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "polling", func() bool { return w.Polls() == 1 })
	w.Repeat(w.Say(w.ada, w.dm, "one", nil))
	w.Silently(w.ada, w.plans(), "two")
	w.DropQueues()
	clienttest.Until(t, "another queue", func() bool { return w.Queues() == 2 && w.Polls() == 1 })
	w.Fail("POST /register", zuliptest.Fault{Status: 502}, zuliptest.Fault{CutBefore: true})
	w.Fail("GET /events", zuliptest.Fault{Status: 502})
	w.Silently(w.ada, w.dm, "three")
	w.CutPolls() // a GET without an answer is made again at once, and meets the fault
	clienttest.Until(t, "noticing", func() bool { return w.c.Status().State == channel.Waiting })
	w.Say(w.ada, w.dm, "four", nil)
	w.Say(w.ada, w.plans(), "five", nil)
	for _, want := range []string{"one", "two", "three", "four", "five"} {
		if in := clienttest.Next(t, got); in.Text != want {
			t.Fatalf("%q came, not %q", in.Text, want)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	const many = 250 // pages of 100
	for i := range many {
		w.Say(w.ada, w.plans(), fmt.Sprint("n", i), nil)
	}
	got, _ = clienttest.Started(t, w.open(t))
	var texts []string
	for len(texts) == 0 || texts[len(texts)-1] != fmt.Sprint("n", many-1) {
		texts = append(texts, clienttest.Next(t, got).Text)
	}
	all := strings.Join(texts, " ")
	if !strings.HasPrefix(all, "n0 n1 n2 ") || len(texts) != many {
		t.Errorf("%d came: %.300s", len(texts), all)
	}
}

// TestFault_F_CH_Events: what cannot be read is left out, and does not stop what can.
func TestFault_F_CH_Events(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "polling", func() bool { return w.Polls() == 1 })
	for _, ev := range []map[string]any{
		{"type": "heartbeat"}, {"type": 7}, {"type": "message"}, {"type": "message", "message": "x"},
		{"type": "message", "message": map[string]any{"id": -1, "type": "private", "sender_id": 1}},
		{"type": "message", "message": map[string]any{"id": 1 << 40, "type": "private", "sender_id": 1, "display_recipient": "x"}},
		{"type": "update_message", "message_id": 1 << 40, "content": "x", "rendering_only": false},
		{"type": "message", "flags": 3},
	} {
		w.Raw(ev)
	}
	w.Say(w.ada, w.dm, "after all", nil)
	if in := clienttest.Next(t, got); in.Text != "after all" {
		t.Errorf("%+v", in)
	}
	if n := w.Queues(); n != 1 {
		t.Errorf("%d queues were made", n)
	}
	// Nothing but what has no number: another queue is made, and nothing is lost.
	clienttest.Until(t, "polling again", func() bool { return w.Polls() == 1 })
	w.Raw(map[string]any{"type": "message", "id": "x"})
	clienttest.Until(t, "another queue", func() bool { return w.Queues() == 2 })
	w.Say(w.ada, w.dm, strings.Repeat("漢", zuliptest.MostText), nil)
	if in := clienttest.Next(t, got); len(in.Text) != 3*zuliptest.MostText {
		t.Errorf("%d bytes of a long message came", len(in.Text))
	}
}

// TestFault_F_CH_Revoked: a key that is worth nothing ends it with words that say what
// to do.
func TestFault_F_CH_Revoked(t *testing.T) {
	w := newWorld(t)
	_, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Revoke()
	clienttest.Until(t, "giving up", func() bool { return w.c.Status().State == channel.Stopped })
	err := stop()
	if !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "zulip.apiKey") || strings.Contains(err.Error(), key) {
		t.Error(err)
	}
	if _, err := w.c.Send(t.Context(), channel.Message{To: w.direct(), Text: "x"}); !errors.Is(err, channel.ErrAuth) {
		t.Error(err)
	}
}

// TestFault_F_CH_NoServer: an address where something else is says so.
func TestFault_F_CH_NoServer(t *testing.T) {
	w := newWorld(t)
	w.Fail("GET /users/me", zuliptest.Fault{Status: 404}, zuliptest.Fault{Status: 429, Reset: time.Second})
	clienttest.Started(t, w.c)
	clienttest.Until(t, "a word about it", func() bool {
		s := w.c.Status()
		return s.State == channel.Waiting && strings.Contains(s.Problem, "404")
	})
	clienttest.Until(t, "connecting after all", connected(w.c))
}

// TestFault_F_CH_Sending: each way in which sending fails, and what is told of it.
func TestFault_F_CH_Sending(t *testing.T) {
	w := newWorld(t)
	left := w.AddStream("private", true)
	w.Unsubscribe(left)
	none := zuliptest.Fault{}
	at := func(conversation, thread string) channel.Target {
		return channel.Target{Conversation: conversation, Thread: thread}
	}
	for name, tc := range map[string]struct {
		fault zuliptest.Fault
		to    channel.Target
		kind  error // nil: passing
		says  string
		seen  int
	}{
		"proxy":       {zuliptest.Fault{Status: 502}, w.group(), channel.ErrUncertain, "", 0},
		"gateway":     {zuliptest.Fault{Status: 504}, w.group(), channel.ErrUncertain, "", 0},
		"overload":    {zuliptest.Fault{Status: 503}, w.group(), nil, "503", 0},
		"cut":         {zuliptest.Fault{CutBefore: true}, w.group(), channel.ErrUncertain, "", 0},
		"cut after":   {zuliptest.Fault{CutAfter: true}, w.group(), channel.ErrUncertain, "", 1},
		"moved":       {zuliptest.Fault{Status: 301}, w.group(), channel.ErrRefused, "zulip.site", 0},
		"deactivated": {zuliptest.Fault{Status: 403, Code: "USER_DEACTIVATED", Words: "off"}, w.group(), channel.ErrAuth, "deactivated", 0},
		"left":        {none, at(fmt.Sprint("#", left.ID), "x"), channel.ErrRefused, "Not authorized", 0},
		"no stream":   {none, at("#77777", "x"), channel.ErrRefused, "does not exist", 0},
		"nobody":      {none, at("@77777", ""), channel.ErrRefused, "Invalid user", 0},
		"no number":   {none, at("#town", ""), channel.ErrRefused, "is no conversation", 0},
		"sign":        {none, at("@+7", ""), channel.ErrRefused, "is no conversation", 0},
		"topic":       {none, at(w.group().Conversation, "a\nb"), channel.ErrRefused, "topic", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.fault != none {
				w.Fail("POST /messages", tc.fault)
			}
			before := len(w.Sent())
			_, err := w.c.Send(t.Context(), channel.Message{To: tc.to, Text: "x", Key: name})
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

// TestFault_F_CH_Limited: how long to wait is what the answer says, with a fraction, or
// else its header.
func TestFault_F_CH_Limited(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		fault zuliptest.Fault
		want  time.Duration
	}{
		{zuliptest.Fault{Status: 429, Reset: 2500 * time.Millisecond}, 2500 * time.Millisecond},
		{zuliptest.Fault{Status: 429, Reset: 7 * time.Second, OnlyHeader: true}, 7 * time.Second},
	} {
		w.Fail("POST /messages", tc.fault)
		_, err := w.c.Send(t.Context(), channel.Message{To: w.direct(), Text: "x"})
		var limit *channel.RateLimit
		if !errors.As(err, &limit) || limit.After != tc.want {
			t.Errorf("%v, want %v", err, tc.want)
		}
	}
}

// TestFault_F_CH_NothingIsCut: the server cuts what is too long and says nothing, so
// such a message is refused before it is sent.
func TestFault_F_CH_NothingIsCut(t *testing.T) {
	w := newWorld(t)
	_, err := w.c.Send(t.Context(), channel.Message{To: w.direct(), Text: strings.Repeat("x", zuliptest.MostText+1)})
	if !errors.Is(err, channel.ErrRefused) || len(w.Sent()) != 0 {
		t.Errorf("%v, %+v", err, w.Sent())
	}
	calls := strings.Repeat(" @*x*", zuliptest.MostText/5)
	if _, err := w.c.Send(t.Context(), channel.Message{To: w.direct(), Text: calls}); err != nil {
		t.Fatal(err)
	}
	if got := w.Sent()[0].Content; strings.HasSuffix(got, "truncated]") || len(zuliptest.Pings(got)) != 0 {
		t.Errorf("%.60q … %d calls", got, len(zuliptest.Pings(got)))
	}
}

// TestSec_A_CH_MentionsAreDefused: no text of a model calls anybody.
func TestSec_A_CH_MentionsAreDefused(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"@**all** @*staff*, (@**Ada|7**)":  "@\u200b**all** @\u200b*staff*, (@\u200b**Ada|7**)",
		"@_**Ada** @**channel**":           "@\u200b_**Ada** @\u200b**channel**",
		"ada@example.org, @all, #**town**": "ada@example.org, @all, #**town**",
		"```spoiler x\n@**everyone**\n```": "```spoiler x\n@\u200b**everyone**\n```",
		"@\x00**all**":                     "@\u200b**all**",
	} {
		r, err := w.c.Send(t.Context(), channel.Message{To: w.group(), Text: text})
		if err != nil {
			t.Fatal(err)
		}
		sent := w.Sent()
		if got := sent[len(sent)-1].Content; got != want || len(zuliptest.Pings(got)) != 0 {
			t.Errorf("%q went out as %q", text, got)
		}
		if err := w.c.Edit(t.Context(), w.group(), r.MessageID, text+"!"); err != nil {
			t.Fatal(err)
		}
		sent = w.Sent()
		if got := sent[len(sent)-1].Content; got != want+"!" {
			t.Errorf("%q was edited to %q", text, got)
		}
	}
	if got := zuliptest.Pings("@**all** (@*staff*) @_**Ada**"); strings.Join(got, " ") != "all staff" {
		t.Errorf("the server that this is tried with sees %q", got)
	}
}
