package conformance

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// receiving runs the channel and returns what comes in. stop waits until Run
// has returned and reports its error.
func receiving(t T, s *Setup, refuse int) (got <-chan channel.Inbound, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := make(chan channel.Inbound, 64)
	ended := make(chan error, 1)
	var left atomic.Int64
	left.Store(int64(refuse))
	ch := s.Channel
	go func() {
		ended <- ch.Run(ctx, func(ctx context.Context, in channel.Inbound) error {
			select {
			case out <- in:
			case <-ctx.Done(): // nobody listens any more
				return ctx.Err()
			}
			if left.Add(-1) >= 0 {
				return errors.New("the store is full")
			}
			return nil
		})
	}()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(s.wait()): // the test's own context has ended in its clean-up
			t.Fatalf("Run did not return after its context ended")
			return nil
		}
	}
	t.Cleanup(func() { _ = stop() })
	if s.Connected {
		s.connected(t)
	}
	return out, stop
}

// connected waits until the channel says that it receives.
func (s *Setup) connected(t T) {
	t.Helper()
	r, ok := s.Channel.(channel.Reporter)
	if !ok {
		t.Fatalf("a channel that sends only while it runs says when it does: it is a Reporter")
	}
	ctx := bounded(t, s)
	for r.Status().State != channel.Receiving {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("it does not receive: %+v", r.Status())
		}
	}
}

func next(t T, s *Setup, got <-chan channel.Inbound) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		return in
	case <-bounded(t, s).Done():
		t.Fatalf("nothing came in")
		return channel.Inbound{}
	}
}

func (s *Setup) write(n int, text string) {
	in := s.Inbound
	in.MessageID, in.Text = s.id(n), text
	s.Net.Receive(in)
}

func testRunStops(t T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "hello")
	next(t, s, got)
	if err := stop(); err != nil {
		t.Errorf("Run returned %v after its context ended, want nil", err)
	}
}

func testInbound(t T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "one")
	s.write(2, "two")
	for i, want := range []string{"one", "two"} {
		in := next(t, s, got)
		if in.Text != want || in.MessageID != s.id(i+1) || in.Channel != s.Channel.ID() || in.Account != s.Channel.Account() {
			t.Errorf("message %d is %+v", i+1, in)
		}
		if in.Conversation == "" || in.SenderID == "" || in.Chat == "" {
			t.Errorf("message %d does not say where from: %+v", i+1, in)
		}
	}
	s.write(3, "three") // when it comes, the network knows that two was taken
	next(t, s, got)
	if !s.Net.Taken(s.id(1)) || !s.Net.Taken(s.id(2)) {
		t.Errorf("the network was not told that the messages were taken")
	}
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
}

func testRedelivery(t T, s *Setup) {
	got, stop := receiving(t, s, 1)
	s.write(1, "one")
	first, again := next(t, s, got), next(t, s, got)
	if first.MessageID != again.MessageID || again.Text != "one" {
		t.Errorf("a message that was not accepted came again as %+v, first %+v", again, first)
	}
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
}

func testSendWhileReceiving(t T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "one")
	next(t, s, got)
	if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "answer"}); err != nil {
		t.Errorf("%v", err)
	}
	s.write(2, "two")
	next(t, s, got)
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
}

// again is the channel after a restart.
func (s *Setup) again() {
	if s.Again != nil {
		s.Channel = s.Again()
		s.calls()
	}
}

// testRunAgain: Run ends and begins again. What was taken before the last message
// does not come again; that one may, with its id, when the end came before the
// network was told.
func testRunAgain(t T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "before")
	next(t, s, got)
	s.write(2, "just before")
	next(t, s, got)
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
	s.again()
	got, stop = receiving(t, s, 0)
	s.write(3, "after")
	in := next(t, s, got)
	if in.MessageID == s.id(2) && in.Text == "just before" {
		in = next(t, s, got)
	}
	if in.MessageID != s.id(3) || in.Text != "after" {
		t.Errorf("after the restart came %+v, want message %s", in, s.id(3))
	}
	if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "answer"}); err != nil {
		t.Errorf("a send after the restart: %v", err)
	}
	wantTexts(t, s, "answer")
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
}

// testBetween: what was refused before the end, and what was written while it did
// not run, comes after it.
func testBetween(t T, s *Setup) {
	got, stop := receiving(t, s, 1<<30)
	s.write(1, "refused")
	next(t, s, got)
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
	s.write(2, "meanwhile")
	s.again()
	got, stop = receiving(t, s, 0)
	for i, want := range []string{"refused", "meanwhile"} {
		if in := next(t, s, got); in.Text != want || in.MessageID != s.id(i+1) {
			t.Errorf("message %d after the restart is %+v, want %s: %q", i+1, in, s.id(i+1), want)
		}
	}
	s.write(3, "last")
	if in := next(t, s, got); in.Text != "last" {
		t.Errorf("after everything came %+v", in)
	}
	if err := stop(); err != nil {
		t.Errorf("%v", err)
	}
}

// testForged: a call without the network's proof is answered with a status from 400 to
// 499, and leaves nothing.
func testForged(t T, s *Setup) {
	called, _ := channel.AsCalled(s.Channel)
	path := channel.CallPath(s.Channel.ID(), s.Channel.Account())
	header := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + "eyJhbGciOiJub25lIn0.e30."}}
	for name, c := range map[string]channel.Call{
		"nothing":          {Method: http.MethodPost, Path: path},
		"JSON":             {Method: http.MethodPost, Path: path, Header: header, Body: []byte(`{"type":"message","text":"forged"}`)},
		"what is no JSON":  {Method: http.MethodPost, Path: path, Header: header, Body: []byte("\x00\xff{{{{")},
		"a GET":            {Method: http.MethodGet, Path: path, Query: "a=b&%zz"},
		"a method by hand": {Method: "BREW", Path: path},
	} {
		a, err := called.Call(bounded(t, s), c)
		if err != nil || a.Status < 400 || a.Status > 499 {
			t.Errorf("a call with %s, and without proof, is answered with %d, %v", name, a.Status, err)
		}
	}
	s.write(1, "after the forged ones")
	if in := next(t, s, s.got); in.Text != "after the forged ones" {
		t.Errorf("a call without proof came in: %+v", in)
	}
}
