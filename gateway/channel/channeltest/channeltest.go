// Package channeltest is the suite that every channel passes: what the
// contract of package channel says, tried against a network that does what the
// test tells it to. A channel's tests call Run with its own fake network.
package channeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// Network is the fake behind the channel under test. loopback.Net is one.
type Network interface {
	// Script says what happens to the channel's next requests. A network that
	// cannot play a kind of fault panics or fails the test; see Setup.Skip.
	Script(faults ...loopback.Fault)
	// Receive is somebody writing to us. The channel, account and time may be
	// the network's own.
	Receive(in channel.Inbound)
	// Taken says whether the channel told the network that a message was taken.
	Taken(messageID string) bool
	// Messages is what people see, in order. Deleted ones may be left out.
	Messages() []loopback.Message
}

// Setup is one channel with its network.
type Setup struct {
	Channel channel.Channel
	Net     Network
	Target  channel.Target           // a conversation that takes messages
	Thread  channel.Target           // a thread of one; zero: none is tried
	Inbound channel.Inbound          // what Receive understands; MessageID and Text are set by the suite
	NextID  func(n int) string       // message ids of the network, nil: "m1", "m2" …
	Skip    map[loopback.Kind]string // faults that cannot happen on this network, and why
	// Connected: it sends only while Run runs. Then the suite runs it, and begins
	// when its status says that it receives.
	Connected bool
	// Waits bounds how long a test waits for the network; 0: 5 s.
	Waits time.Duration
}

func (s *Setup) id(n int) string {
	if s.NextID != nil {
		return s.NextID(n)
	}
	return fmt.Sprintf("m%d", n)
}

// Run tries the whole contract. setup is called for every test.
func Run(t *testing.T, setup func(t *testing.T) *Setup) {
	t.Helper()
	for _, tc := range []struct {
		name  string
		run   func(*testing.T, *Setup)
		sends bool // without receiving itself
	}{
		{"Identity", testIdentity, false},
		{"Abilities", testAbilities, true},
		{"SendIsSeen", testSend, true},
		{"SendAtTheLimit", testLimit, true},
		{"HardText", testHardText, true},
		{"Errors", testErrors, true},
		{"CancelledSend", testCancelled, true},
		{"ParallelSends", testParallel, true},
		{"EditAndDelete", testEdit, true},
		{"EditsAreCounted", testEdits, true},
		{"Threads", testThreads, true},
		{"TypingAndReactions", testTyping, true},
		{"RunStops", testRunStops, false},
		{"InboundIsTakenOnce", testInbound, false},
		{"RefusedInboundComesAgain", testRedelivery, false},
		{"SendWhileReceiving", testSendWhileReceiving, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := setup(t)
			if s.Connected && tc.sends {
				receiving(t, s, 0)
			}
			tc.run(t, s)
		})
	}
}

func (s *Setup) wait() time.Duration { return cmp.Or(s.Waits, 5*time.Second) }

func bounded(t *testing.T, s *Setup) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), s.wait())
	t.Cleanup(stop)
	return ctx
}

func testIdentity(t *testing.T, s *Setup) {
	if s.Channel.ID() == "" || strings.ContainsAny(s.Channel.ID(), ": /") || s.Channel.Account() == "" {
		t.Errorf("id %q, account %q: both are needed, and the id is part of session keys", s.Channel.ID(), s.Channel.Account())
	}
	if l := s.Channel.Limits(); l.Text < 0 || l.Lines < 0 {
		t.Errorf("limits %+v", l)
	}
}

// testAbilities: what the limits promise is there, and the other way round.
func testAbilities(t *testing.T, s *Setup) {
	l := s.Channel.Limits()
	_, edits := channel.AsEditor(s.Channel)
	_, types := channel.AsTyper(s.Channel)
	_, reacts := channel.AsReactor(s.Channel)
	if !edits && (l.EditPace > 0 || l.EditWindow > 0 || l.Edits > 0) {
		t.Errorf("limits of edits without an Editor: %+v", l)
	}
	if types != (l.Typing > 0) {
		t.Errorf("it is a Typer: %v; “is typing” stays for %v", types, l.Typing)
	}
	if reacts != l.Reactions {
		t.Errorf("it is a Reactor: %v; its limits say %v", reacts, l.Reactions)
	}
	if l.EditPace < 0 || l.EditWindow < 0 || l.Edits < 0 || l.Files < 0 || l.Caption < 0 || l.Caption > 0 && l.Files == 0 {
		t.Errorf("limits %+v", l)
	}
	switch l.Unit {
	case "", channel.Characters, channel.UTF16, channel.Bytes:
	default:
		t.Errorf("an unknown unit %q", l.Unit)
	}
}

func testSend(t *testing.T, s *Setup) {
	a, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "one", Key: "k1"})
	if err != nil || a.MessageID == "" {
		t.Fatalf("receipt %+v, %v", a, err)
	}
	b, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "two", Key: "k2"})
	if err != nil || b.MessageID == a.MessageID {
		t.Fatalf("receipt %+v after %+v, %v", b, a, err)
	}
	wantTexts(t, s, "one", "two")
}

// testLimit: what fits by the channel's own count is sent whole.
func testLimit(t *testing.T, s *Setup) {
	l := s.Channel.Limits()
	if l.Text == 0 {
		t.Skip("this network takes any length")
	}
	var all []string
	for _, sign := range []string{"x", "é", "漢", "😀"} {
		text := strings.Repeat(sign, l.Text/l.Unit.Len(sign))
		if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: text}); err != nil {
			t.Fatalf("%q, as often as is allowed by %d %s: %v", sign, l.Text, l.Unit, err)
		}
		all = append(all, text)
	}
	wantTexts(t, s, all...)
}

// testHardText: nothing that a model writes may make a send fail for ever.
func testHardText(t *testing.T, s *Setup) {
	for _, text := range []string{
		"**bold** _it_ `code` [l](https://example.com)", "a < b && c > d </b> &amp;", "```go\nx := \"<&>\"\n```", "unclosed **bold and `code",
		"👨‍👩‍👧‍👦 שלום مرحبا", "_a*b_c*", "[x](javascript:alert(1))", "# h\n\n- a\n  - b\n\n> q\n\n| a | b |\n|---|---|\n| 1 | 2 |",
		"\\*escaped\\*",
	} {
		if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func testErrors(t *testing.T, s *Setup) {
	for _, tc := range []struct {
		kind loopback.Kind
		want func(error) bool
		seen int
	}{
		{loopback.Passing, func(err error) bool { return !isFinal(err) && !errors.Is(err, channel.ErrUncertain) }, 0},
		{loopback.Limited, func(err error) bool {
			var rl *channel.RateLimit
			return errors.As(err, &rl) && rl.After == 3*time.Second
		}, 0},
		{loopback.Refused, func(err error) bool { return errors.Is(err, channel.ErrRefused) }, 0},
		{loopback.Auth, func(err error) bool { return errors.Is(err, channel.ErrAuth) }, 0},
		{loopback.Lost, func(err error) bool { return errors.Is(err, channel.ErrUncertain) }, 1},
	} {
		if why, ok := s.Skip[tc.kind]; ok {
			t.Logf("%s is left out: %s", tc.kind, why)
			continue
		}
		before := len(s.Net.Messages())
		s.Net.Script(loopback.Fault{On: loopback.OpSend, Kind: tc.kind, After: after(tc.kind)})
		_, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "x"})
		if err == nil || !tc.want(err) {
			t.Errorf("%s: the error is %v", tc.kind, err)
		}
		if got := len(s.Net.Messages()) - before; got != tc.seen {
			t.Errorf("%s: %d messages are seen, want %d; a channel does not try again by itself", tc.kind, got, tc.seen)
		}
	}
	if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "after all that"}); err != nil {
		t.Errorf("a send after the errors: %v", err)
	}
}

func after(k loopback.Kind) time.Duration {
	if k == loopback.Limited {
		return 3 * time.Second
	}
	return 0
}

func isFinal(err error) bool {
	return errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrAuth)
}

func testCancelled(t *testing.T, s *Setup) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Channel.Send(ctx, channel.Message{To: s.Target, Text: "never"}); err == nil {
		t.Error("a cancelled send succeeded")
	}
	if n := len(s.Net.Messages()); n != 0 {
		t.Errorf("%d messages are seen", n)
	}
}

func testParallel(t *testing.T, s *Setup) {
	ctx := bounded(t, s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := s.Channel.Send(ctx, channel.Message{To: s.Target, Text: fmt.Sprint("p", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(s.Net.Messages()); n != 8 {
		t.Errorf("%d messages are seen, want 8", n)
	}
}

func testEdit(t *testing.T, s *Setup) {
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "draft"})
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := channel.AsEditor(s.Channel); ok {
		if err := e.Edit(bounded(t, s), s.Target, r.MessageID, "final"); err != nil {
			t.Fatal(err)
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
			t.Fatal(err)
		}
		wantTexts(t, s)
	}
}

// testEdits: a network that counts edits takes as many as its limits say.
func testEdits(t *testing.T, s *Setup) {
	l := s.Channel.Limits()
	e, ok := channel.AsEditor(s.Channel)
	if !ok || l.Edits == 0 {
		t.Skip("edits are not counted on this network")
	}
	r, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "draft"})
	if err != nil {
		t.Fatal(err)
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

// testThreads: a message for a thread goes there.
func testThreads(t *testing.T, s *Setup) {
	if !s.Channel.Limits().Threads || s.Thread.Thread == "" {
		t.Skip("no thread to write to")
	}
	if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Thread, Text: "in the thread"}); err != nil {
		t.Fatal(err)
	}
}

func testTyping(t *testing.T, s *Setup) {
	if ty, ok := channel.AsTyper(s.Channel); ok {
		if err := ty.Typing(bounded(t, s), s.Target); err != nil {
			t.Error(err)
		}
	}
	r, ok := channel.AsReactor(s.Channel)
	if !ok {
		return
	}
	m, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "react"})
	if err != nil {
		t.Fatal(err)
	}
	for _, emoji := range []string{"👍", ""} {
		if err := r.React(bounded(t, s), s.Target, m.MessageID, emoji); err != nil {
			t.Errorf("%q: %v", emoji, err)
		}
	}
}

func wantTexts(t *testing.T, s *Setup, want ...string) {
	t.Helper()
	var got []string
	for _, m := range s.Net.Messages() {
		if !m.Deleted {
			got = append(got, m.Text)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("people see %.200q, want %.200q", got, want)
	}
}
