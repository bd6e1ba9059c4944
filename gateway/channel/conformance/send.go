package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

func testIdentity(t T, s *Setup) {
	if s.Channel.ID() == "" || strings.ContainsAny(s.Channel.ID(), ": /") || s.Channel.Account() == "" {
		t.Errorf("id %q, account %q: both are needed, and the id is part of session keys", s.Channel.ID(), s.Channel.Account())
	}
	if l := s.Channel.Limits(); l.Text < 0 || l.Lines < 0 {
		t.Errorf("limits %+v", l)
	}
}

// testAbilities: what the limits promise is there, and the other way round.
func testAbilities(t T, s *Setup) {
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
	if _, chooses := channel.AsChooser(s.Channel); chooses != (l.Choices > 0) {
		t.Errorf("it is a Chooser: %v; its limits say %d choices", chooses, l.Choices)
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

func testSend(t T, s *Setup) {
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
func testLimit(t T, s *Setup) {
	l := s.Channel.Limits()
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
func testHardText(t T, s *Setup) {
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

// testFault: one kind of failure means what the contract says, and the next send
// succeeds.
func testFault(t T, s *Setup, kind loopback.Kind) {
	before := len(s.Net.Messages())
	f := loopback.Fault{On: loopback.OpSend, Kind: kind}
	if kind == loopback.Limited {
		f.After = 3 * time.Second
	}
	s.Net.Script(f)
	begun := time.Now()
	_, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "x"})
	if !means(err, kind) {
		t.Errorf("the network played %q, and the error is: %v", kind, err)
	}
	if took := time.Since(begun); kind == loopback.Limited && took >= f.After {
		t.Errorf("the send took %v: the channel waited itself", took)
	}
	if got := len(s.Net.Messages()) - before; got != 0 {
		t.Errorf("%d messages are seen, want none; a channel does not try again by itself", got)
	}
	s.sendAgain(t, "after that")
}

// means reports whether an error says what the network played.
func means(err error, kind loopback.Kind) bool {
	var limit *channel.RateLimit
	switch kind {
	case loopback.Limited:
		return errors.As(err, &limit) && limit.After == 3*time.Second
	case loopback.Refused:
		return errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth)
	case loopback.Auth:
		return errors.Is(err, channel.ErrAuth)
	case loopback.Lost:
		return errors.Is(err, channel.ErrUncertain)
	}
	return passes(err)
}

// passes reports whether an error is one after which the message is sent again.
func passes(err error) bool {
	return err != nil && !errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth) && !errors.Is(err, channel.ErrUncertain)
}

// sendAgain sends, again as long as the failure passes: a connection may have to be
// made anew.
func (s *Setup) sendAgain(t T, text string) {
	t.Helper()
	ctx := bounded(t, s)
	for {
		_, err := s.Channel.Send(ctx, channel.Message{To: s.Target, Text: text})
		if err == nil {
			return
		}
		if !passes(err) || ctx.Err() != nil {
			t.Fatalf("the send after it: %v", err)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// testUncertain: what was sent and not confirmed may have arrived. It is told as
// that, seen once, and stays so when the connection is there again. What is sent into
// the end of the connection may be uncertain too.
func testUncertain(t T, s *Setup) {
	s.Net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Lost})
	_, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "perhaps", Key: "k"})
	if !means(err, loopback.Lost) {
		t.Errorf("the connection broke after the message, and the error is: %v", err)
	}
	ctx, text := bounded(t, s), ""
	for n := 1; ; n++ {
		text = fmt.Sprint("surely ", n)
		_, err := s.Channel.Send(ctx, channel.Message{To: s.Target, Text: text, Key: text})
		if err == nil {
			break
		}
		if !passes(err) && !means(err, loopback.Lost) || ctx.Err() != nil {
			t.Fatalf("the send after it: %v", err)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	seen := map[string]int{}
	for _, m := range s.Net.Messages() {
		if seen[m.Text]++; seen[m.Text] > 1 {
			t.Errorf("%q is seen %d times", m.Text, seen[m.Text])
		}
	}
	if seen["perhaps"] != 1 || seen[text] != 1 {
		t.Errorf("people see %v, want %q and %q", seen, "perhaps", text)
	}
}

// testUnconnected: without a connection nothing is sent, and that passes.
func testUnconnected(t T, s *Setup) {
	_, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "early"})
	if !passes(err) {
		t.Errorf("a send before it is connected: %v", err)
	}
	if n := len(s.Net.Messages()); n != 0 {
		t.Errorf("%d messages are seen", n)
	}
}

func testCancelled(t T, s *Setup) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Channel.Send(ctx, channel.Message{To: s.Target, Text: "never"}); err == nil {
		t.Errorf("a cancelled send succeeded")
	}
	if n := len(s.Net.Messages()); n != 0 {
		t.Errorf("%d messages are seen", n)
	}
}

func testParallel(t T, s *Setup) {
	ctx := bounded(t, s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := s.Channel.Send(ctx, channel.Message{To: s.Target, Text: fmt.Sprint("p", i)}); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	if n := len(s.Net.Messages()); n != 8 {
		t.Errorf("%d messages are seen, want 8", n)
	}
}

func wantTexts(t T, s *Setup, want ...string) {
	t.Helper()
	got := s.texts()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("people see %.200q, want %.200q", got, want)
	}
}
