package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

func testEdit(t T, s *Setup) {
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "draft"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if e, ok := channel.AsEditor(s.Channel); ok {
		if err := e.Edit(bounded(t, s), s.Target, r.MessageID, "final"); err != nil {
			t.Fatalf("%v", err)
		}
		wantTexts(t, s, "final")
		if err := e.Edit(bounded(t, s), s.Target, r.MessageID, "final"); err != nil {
			t.Errorf("an edit that changes nothing: %v", err)
		}
		s.Net.Script(loopback.Fault{On: loopback.OpEdit, Kind: loopback.Refused})
		if err := e.Edit(bounded(t, s), s.Target, r.MessageID, "other"); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("a refused edit: %v", err)
		}
		if err := e.Edit(bounded(t, s), s.Target, "987654321", "x"); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("an edit of no message: %v", err)
		}
	}
	if d, ok := channel.AsDeleter(s.Channel); ok {
		if err := d.Delete(bounded(t, s), s.Target, r.MessageID); err != nil {
			t.Fatalf("%v", err)
		}
		wantTexts(t, s)
	}
}

// testEdits: a network that counts edits takes as many as its limits say.
func testEdits(t T, s *Setup) {
	l := s.Channel.Limits()
	e, _ := channel.AsEditor(s.Channel)
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "draft"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for n := range l.Edits {
		if err := e.Edit(bounded(t, s), s.Target, r.MessageID, fmt.Sprint("edit ", n)); err != nil {
			t.Fatalf("edit %d of %d: %v", n+1, l.Edits, err)
		}
	}
	if err := e.Edit(bounded(t, s), s.Target, r.MessageID, "one more"); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("edit %d of %d: %v", l.Edits+1, l.Edits, err)
	}
}

// testThreadOut: a message for a thread goes there.
func testThreadOut(t T, s *Setup) {
	s.hasThread(t)
	if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Thread, Text: "in the thread"}); err != nil {
		t.Fatalf("%v", err)
	}
	for _, m := range s.Net.Messages() {
		if m.Text == "in the thread" && m.To.Thread == s.Thread.Thread && m.To.Conversation == s.Thread.Conversation {
			return
		}
	}
	t.Errorf("no such message is in thread %q of %q: people see %+v", s.Thread.Thread, s.Thread.Conversation, s.Net.Messages())
}

// testThreadIn: a message in a thread says which, in the words that an answer needs.
func testThreadIn(t T, s *Setup) {
	s.hasThread(t)
	in := s.Inbound
	in.Chat, in.Conversation, in.Thread = channel.Group, s.Thread.Conversation, s.Thread.Thread
	in.MessageID, in.Text = s.id(1), "from the thread"
	s.Net.Receive(in)
	if got := next(t, s, s.got); got.Thread != s.Thread.Thread || got.Conversation != s.Thread.Conversation || got.Chat == channel.Direct {
		t.Errorf("a message in thread %q of %q is %+v", s.Thread.Thread, s.Thread.Conversation, got)
	}
}

// hasThread: a channel with threads is tried with one.
func (s *Setup) hasThread(t T) {
	t.Helper()
	if s.Thread.Thread == "" {
		t.Fatalf("its limits speak of threads: set Setup.Thread to one, or say in Setup.Cannot why there is none")
	}
}

func testTyping(t T, s *Setup) {
	typer, _ := channel.AsTyper(s.Channel)
	if err := typer.Typing(bounded(t, s), s.Target); err != nil {
		t.Errorf("%v", err)
	}
}

// testReactions: people see the emoji, one at a time, and see it go.
func testReactions(t T, s *Setup) {
	r, _ := channel.AsReactor(s.Channel)
	m, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "react"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, emoji := range []string{"👍", "❤", ""} {
		if err := r.React(bounded(t, s), s.Target, m.MessageID, emoji); err != nil {
			t.Errorf("%q: %v", emoji, err)
		}
		var want []string
		if emoji != "" {
			want = []string{emoji}
		}
		got := s.Net.Messages()
		if len(got) != 1 || !slices.Equal(got[0].Reactions, want) {
			t.Errorf("after the reaction %q people see %+v", emoji, got)
		}
	}
}
