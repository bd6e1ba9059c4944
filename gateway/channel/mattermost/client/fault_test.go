package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/mattermosttest"
)

// TestFault_F_CH_Missed: what was posted while nobody listened is read later, in its
// order and once, over breaks, gaps, restarts and thousands of posts.
func TestFault_F_CH_Missed(t *testing.T) {
	w := newWorld(t)
	w.Say(w.ada, w.dm, "before our time", nil)
	got, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Repeat(w.Say(w.ada, w.dm, "one", nil))
	w.Silently(w.ada, w.town, "two")
	w.Say(w.ada, w.dm, "three", nil) // its number shows that one was left out
	w.Refuse(503, 502, 500)
	w.Drop()
	clienttest.Until(t, "noticing", func() bool { return w.Connected() == 0 })
	w.Say(w.ada, w.dm, "four", nil)
	w.Say(w.ada, w.town, "five", nil)
	for _, want := range []string{"one", "two", "three", "four", "five"} {
		if in := clienttest.Next(t, got); in.Text != want {
			t.Fatalf("%q came, not %q", in.Text, want)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	bob := w.AddUser("bob", false)
	w.Say(bob, w.Direct(bob), "somebody new", nil)
	const many = 450 // pages of 200
	for i := range many {
		w.Say(w.ada, w.town, fmt.Sprint("n", i), nil)
	}
	got, _ = clienttest.Started(t, w.open(t))
	var texts []string
	for len(texts) == 0 || texts[len(texts)-1] != fmt.Sprint("n", many-1) {
		texts = append(texts, clienttest.Next(t, got).Text)
	}
	all := strings.Join(texts, " ")
	if strings.Contains(all, "before our time") || !strings.Contains(all, "somebody new n0 n1 n2 ") || len(texts) != many+1 {
		t.Errorf("%d came: %.300s", len(texts), all)
	}
}

// TestFault_F_CH_Frames: what cannot be read is left out, and what is too long ends
// the connection, not the client.
func TestFault_F_CH_Frames(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	for _, frame := range []string{`{"event":"posted","data":{"post":"{"}}`, `{"event":`, `null`, `{"status":"OK","seq_reply":1}`,
		`{"event":"posted","data":{"post":7}}`,
		`{"event":"posted","data":{"post":"{\"id\":\"x\",\"user_id\":\"../../x\"}"}}`} {
		w.Raw([]byte(frame))
	}
	w.Say(w.ada, w.dm, "after all", nil)
	if in := clienttest.Next(t, got); in.Text != "after all" {
		t.Errorf("%+v", in)
	}
	dials := w.Dials()
	w.Raw([]byte(`{"event":"` + strings.Repeat("x", 3<<20) + `"}`))
	clienttest.Until(t, "connecting again", func() bool { return w.Dials() > dials && connected(w.c)() })
	w.Say(w.ada, w.dm, strings.Repeat("漢", mattermosttest.MostText), nil)
	if in := clienttest.Next(t, got); len(in.Text) != 3*mattermosttest.MostText {
		t.Errorf("%d bytes of a long post came", len(in.Text))
	}
}

// TestFault_F_CH_Revoked: a token that is worth nothing ends it with words that say
// what to do, at the start and in the middle.
func TestFault_F_CH_Revoked(t *testing.T) {
	w := newWorld(t)
	_, stop := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Revoke()
	clienttest.Until(t, "giving up", func() bool { return w.c.Status().State == channel.Stopped })
	if err := stop(); !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "botToken") || strings.Contains(err.Error(), token) {
		t.Error(err)
	}
	if _, err := w.c.Send(t.Context(), channel.Message{To: w.direct(), Text: "x"}); !errors.Is(err, channel.ErrAuth) {
		t.Error(err)
	}
}

// TestFault_F_CH_NoServer: an address where something else is says so.
func TestFault_F_CH_NoServer(t *testing.T) {
	w := newWorld(t)
	w.Fail("GET /users/me", mattermosttest.Fault{Status: 404}, mattermosttest.Fault{Status: 429, Reset: time.Second})
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
	kicked := w.AddChannel("P", "private", w.ada)
	w.Kick(kicked)
	none, nobody := mattermosttest.Fault{}, strings.Repeat("z", 26)
	for name, tc := range map[string]struct {
		fault mattermosttest.Fault
		to    channel.Target
		kind  error // nil: passing
		says  string
		seen  int
	}{
		"proxy":     {mattermosttest.Fault{Status: 502}, w.group(), channel.ErrUncertain, "", 0},
		"gateway":   {mattermosttest.Fault{Status: 504}, w.group(), channel.ErrUncertain, "", 0},
		"overload":  {mattermosttest.Fault{Status: 503}, w.group(), nil, "503", 0},
		"cut":       {mattermosttest.Fault{CutBefore: true}, w.group(), channel.ErrUncertain, "", 0},
		"cut after": {mattermosttest.Fault{CutAfter: true}, w.group(), channel.ErrUncertain, "", 1},
		"moved":     {mattermosttest.Fault{Status: 301}, w.group(), channel.ErrRefused, "baseUrl", 0},
		"off":       {mattermosttest.Fault{Status: 501, ID: "x", Words: "off"}, w.group(), channel.ErrRefused, "administrator", 0},
		"kicked":    {none, channel.Target{Conversation: kicked.ID}, channel.ErrRefused, "add it to the team and to the channel", 0},
		"nobody":    {none, channel.Target{Conversation: "@" + nobody}, channel.ErrRefused, "Invalid user", 0},
		"thread":    {none, channel.Target{Conversation: w.town.ID, Thread: nobody}, channel.ErrRefused, "RootId", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.fault != none {
				w.Fail("POST /posts", tc.fault)
			}
			before := len(w.Sent())
			_, err := w.c.Send(t.Context(), channel.Message{To: tc.to, Text: "x", Key: name})
			final := errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrAuth)
			if err == nil || tc.kind != nil && !errors.Is(err, tc.kind) || tc.kind == nil && final || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v", err)
			}
			if n := len(w.Sent()) - before; n != tc.seen {
				t.Errorf("%d posts are seen", n)
			}
		})
	}
}

// TestFault_F_CH_OnceByKey: a message that a person lets go out again right after its
// answer was lost is there once.
func TestFault_F_CH_OnceByKey(t *testing.T) {
	w := newWorld(t)
	w.Fail("POST /posts", mattermosttest.Fault{CutAfter: true})
	m := channel.Message{To: w.group(), Text: "x", Key: "k"}
	if _, err := w.c.Send(t.Context(), m); !errors.Is(err, channel.ErrUncertain) {
		t.Fatal(err)
	}
	r, err := w.c.Send(t.Context(), m)
	if sent := w.Sent(); err != nil || len(sent) != 1 || sent[0].ID != r.MessageID {
		t.Errorf("%v, %+v", err, sent)
	}
}

// TestSec_A_CH_MentionsAreDefused: no text of a model calls anybody.
func TestSec_A_CH_MentionsAreDefused(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"@channel @all, @here! (@ada) _@all a.@all": "@\u200bchannel @\u200ball, @\u200bhere! (@\u200bada) _@\u200ball a.@\u200ball",
		"ada@example.org":             "ada@example.org",
		"`@all` and @all":             "`@all` and @\u200ball",
		"`unclosed @all":              "`unclosed @\u200ball",
		"```py\n@property\n```\n@all": "```py\n@property\n```\n@\u200ball",
		"    @all":                    "    @\u200ball",
		"\\`@all\\`":                  "\\`@\u200ball\\`",
	} {
		r, err := w.c.Send(t.Context(), channel.Message{To: w.group(), Text: text})
		if err != nil {
			t.Fatal(err)
		}
		sent := w.Sent()
		if got := sent[len(sent)-1].Message; got != want {
			t.Errorf("%q went out as %q", text, got)
		}
		if err := w.c.Edit(t.Context(), w.group(), r.MessageID, text+" "); err != nil {
			t.Fatal(err)
		}
		sent = w.Sent()
		if got := sent[len(sent)-1].Message; got != want+" " {
			t.Errorf("%q was edited to %q", text, got)
		}
	}
}
