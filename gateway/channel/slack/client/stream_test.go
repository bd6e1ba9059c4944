package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/client"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/slacktest"
)

// thread is a place in a thread of Ada's direct messages.
func (w *world) thread() channel.Target {
	m := w.Silently(w.ada, w.dm, "a question")
	return channel.Target{Account: "default", Conversation: w.dm.ID, Thread: m.TS}
}

func (w *world) draft(t *testing.T, to channel.Target, words string) string {
	t.Helper()
	r, err := w.c.Send(t.Context(), channel.Message{To: to, Text: words, Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.MessageID
}

func (w *world) lastSent() slacktest.Message { all := w.Sent(); return all[len(all)-1] }

func TestStream(t *testing.T) {
	w := newWorld(t)
	to := w.thread()
	id := w.draft(t, to, "**One**\n\n```go\nfunc a() {\n```")
	steps := []string{"**One**\n\n```go\nfunc a() {\n\tb()\n```", "**One**\n\n```go\nfunc a() {\n\tb()\n}\n```\n\ncall <@U1>"}
	for _, s := range steps {
		if err := w.c.Edit(t.Context(), to, id, s); err != nil {
			t.Fatal(err)
		}
	}
	if m := w.lastSent(); m.Added != 2 || !m.Streaming || m.Thread != to.Thread {
		t.Errorf("%+v", m)
	}
	whole := steps[1] + " and ![x](https://example.org/x.png)"
	for range 2 { // once more, as after a lost receipt
		if err := w.c.Finish(t.Context(), to, id, whole); err != nil {
			t.Fatal(err)
		}
		m := w.lastSent()
		if m.TS != id || m.Streaming || strings.Contains(m.Text, "<@U1>") || !strings.Contains(m.Text, "b()") {
			t.Errorf("%+v", m)
		}
	}
	if n := len(w.Sent()); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// What a stream cannot show is edited.
func TestStreamThatIsEdited(t *testing.T) {
	w := newWorld(t)
	to := w.thread()
	id := w.draft(t, to, "it is four")
	if err := w.c.Edit(t.Context(), to, id, "it is **five**"); err != nil {
		t.Fatal(err)
	}
	if m := w.lastSent(); m.Streaming || m.Text != "it is *five*" {
		t.Errorf("%+v", m)
	}
	if err := w.c.Finish(t.Context(), to, id, "it is **five** indeed"); err != nil {
		t.Fatal(err)
	}
	if m := w.lastSent(); m.Text != "it is *five* indeed" {
		t.Errorf("%+v", m)
	}
	id = w.draft(t, to, "gone soon")
	if err := w.c.Delete(t.Context(), to, id); err != nil || len(w.Sent()) != 1 {
		t.Errorf("%v, %d messages", err, len(w.Sent()))
	}
}

// Where Slack has no streams, or wants to know for whom one is, messages are edited.
func TestStreamsAreNotEverywhere(t *testing.T) {
	w := newWorld(t)
	plain := func(why string, to channel.Target, words string) {
		t.Helper()
		id := w.draft(t, to, words)
		if m := w.lastSent(); m.Streamed {
			t.Errorf("%s: %+v", why, m)
		}
		if err := w.c.Finish(t.Context(), to, id, words+" and more"); err != nil || w.lastSent().Text != words+" and more" {
			t.Errorf("%s: %v, %+v", why, err, w.lastSent())
		}
	}
	plain("without a thread", channel.Target{Account: "default", Conversation: w.dm.ID}, "a")
	town := channel.Target{Account: "default", Conversation: w.town.ID, Thread: w.Silently(w.ada, w.town, "q").TS}
	plain("for nobody known", town, "b")
	plain("a line about a tool", w.thread(), "• looking")
	w.Fail("chat.startStream", slacktest.Fault{Status: 429})
	plain("too often", w.thread(), "c")
	w.Switch(false, true)
	plain("not in this workspace", w.thread(), "d")
	w.Switch(true, true)
	plain("refused a moment ago", w.thread(), "e")
}

// In a channel a stream is for who asked last in the thread.
func TestStreamInAChannel(t *testing.T) {
	w := newWorld(t)
	in, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "a connection", connected(w.c))
	root := w.Say(w.ada, w.town, "<@"+w.Bot.ID+"> hello", nil)
	clienttest.Next(t, in)
	w.Say(w.ada, w.town, "<@"+w.Bot.ID+"> more", func(m *slacktest.Message) { m.Thread = root.TS })
	asked := clienttest.Next(t, in)
	to := channel.Target{Account: "default", Conversation: w.town.ID, Thread: asked.Thread}
	w.draft(t, to, "here")
	if m := w.lastSent(); !m.Streamed || m.Thread != root.TS {
		t.Errorf("%+v", m)
	}
}

// Too many requests are said as such and nothing is lost; a lost answer is mended.
func TestFaultsOfStreams(t *testing.T) {
	w := newWorld(t)
	w.Limit()
	to := w.thread()
	id := w.draft(t, to, "1")
	words, waited := "1", 0
	for i := range 120 {
		next := words + " " + strings.Repeat("x", i%3+1)
		var limit *channel.RateLimit
		switch err := w.c.Edit(t.Context(), to, id, next); {
		case errors.As(err, &limit):
			waited++
		case err != nil:
			t.Fatal(err)
		default:
			words = next
		}
	}
	if m := w.lastSent(); waited != 20 || m.Text != words {
		t.Errorf("waited %d times, %q", waited, m.Text)
	}
	other := w.thread()
	id = w.draft(t, other, "one")
	w.Fail("chat.stopStream", slacktest.Fault{CutAfter: true})
	if err := w.c.Finish(t.Context(), other, id, "one two"); err == nil || errors.Is(err, channel.ErrUncertain) {
		t.Fatalf("%v", err)
	}
	if err := w.c.Finish(t.Context(), other, id, "one two"); err != nil {
		t.Fatal(err)
	}
	if m := w.lastSent(); m.Text != "one two" || m.Streaming {
		t.Errorf("%+v", m)
	}
	third := w.thread()
	id = w.draft(t, third, "begun")
	again, err := client.New(account(w.Server, w.keep))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Finish(t.Context(), third, id, "begun before"); err != nil {
		t.Fatal(err)
	}
	if m := w.lastSent(); m.Text != "begun before" || m.Streaming {
		t.Errorf("after a restart: %+v", m)
	}
	w.Fail("chat.startStream", slacktest.Fault{CutAfter: true})
	_, err = w.c.Send(t.Context(), channel.Message{To: w.thread(), Text: "x", Draft: true})
	if !errors.Is(err, channel.ErrUncertain) {
		t.Errorf("%v", err)
	}
}

func TestAssistantView(t *testing.T) {
	s := slacktest.New(botToken, appToken, append(slack.Scopes(), "assistant:write"))
	t.Cleanup(s.Close)
	w := &world{Server: s, ada: s.AddUser("ada", false), keep: &clienttest.Kept{}}
	w.dm, w.town = s.Direct(w.ada), s.AddChannel("town")
	w.c = w.open(t)
	in, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "a connection", connected(w.c))
	root := w.OpenThread(w.ada)
	w.Say(w.ada, w.dm, "plan my  week\nplease", func(m *slacktest.Message) { m.Thread = root.TS })
	asked := clienttest.Next(t, in)
	if asked.Thread != root.TS || asked.Chat != channel.Direct {
		t.Fatalf("%+v", asked)
	}
	to := channel.Target{Account: "default", Conversation: w.dm.ID, Thread: root.TS}
	if err := w.c.Typing(t.Context(), to); err != nil {
		t.Error(err)
	}
	if err := w.c.Typing(t.Context(), channel.Target{Account: "default", Conversation: w.dm.ID}); err != nil {
		t.Error(err)
	}
	if got := strings.Join(w.Views(), "; "); got != "prompts: 3; title: plan my week please; status: is thinking…" {
		t.Error(got)
	}
	w.Switch(true, false)
	for range 2 {
		if err := w.c.Typing(t.Context(), to); err != nil {
			t.Error(err)
		}
	}
}
